//! Imports direct messages and broadcasts, with who has read them. Must not know the other kinds of records.

use std::collections::BTreeSet;

use domain::context::import::ImportKind;
use domain::id::TaskId;
use domain::team::agent::EVERYONE;
use domain::text;
use domain::time::Timestamp;

use super::source::Record;
use super::write::{Target, Written, reference, remember};
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::message::OutgoingMessage;
use crate::team::message::write::{PastDelivery, insert_past};

/// A message with its copies, which are rows of their own in the other database.
pub(super) struct MessageItem {
    from: String,
    to: String,
    content: String,
    task: Option<String>,
    reply_to: Option<String>,
    at: Option<Timestamp>,
    /// The agents that received it, and whether they read it.
    recipients: Vec<(String, bool)>,
    /// The recipients of copies, with the ids of their rows.
    copies: Vec<(String, bool, String)>,
}

impl MessageItem {
    /// `readers` are the agents that read a broadcast, and `agents` all that could.
    ///
    /// # Errors
    /// Why it cannot be imported.
    pub(super) fn of(record: &Record, agents: &[String], readers: &BTreeSet<(String, i64)>) -> Result<Self, String> {
        let (from, to) = (record.text("from_agent").ok_or("it has no sender")?, record.text("to_agent").ok_or("it has no recipient")?);
        let content = record.text("content").unwrap_or_default();
        let recipients = if to == EVERYONE {
            let others = agents.iter().filter(|agent| **agent != from);
            others.map(|agent| (agent.clone(), readers.contains(&(agent.clone(), record.place())))).collect()
        } else {
            vec![(to.clone(), record.flag("read_flag"))]
        };
        Ok(Self {
            content: text::validate_body("message", &content).map_err(|error| error.to_string())?,
            task: record.text("task_id"),
            reply_to: record.text("reply_to"),
            at: record.time("timestamp"),
            from,
            to,
            recipients,
            copies: Vec::new(),
        })
    }

    /// Adds a row that is a copy of this message. Returns whether it is one.
    pub(super) fn add_copy(&mut self, record: &Record) -> bool {
        let is_copy = record.flag("is_cc")
            && record.text("from_agent").as_ref() == Some(&self.from)
            && record.text("cc_original_to").as_ref() == Some(&self.to)
            && record.time("timestamp") == self.at
            && record.text("content").as_ref() == Some(&self.content);
        if let Some(to) = record.text("to_agent").filter(|_| is_copy) {
            self.copies.push((to, record.flag("read_flag"), record.place().to_string()));
        }
        is_copy
    }
}

/// Writes a message with its deliveries. Unread ones wait for their recipients.
pub(super) async fn write(tx: &mut Tx, target: &Target, item: MessageItem) -> Result<Written> {
    let task = reference::<TaskId>(tx, target, ImportKind::Task, item.task.as_deref()).await?;
    let reply_to = reference::<i64>(tx, target, ImportKind::Message, item.reply_to.as_deref()).await?;
    let named = |name: &str| if name == EVERYONE { name.to_owned() } else { target.name(name) };
    let (from, to) = (named(&item.from), named(&item.to));
    let direct = item.recipients.iter().map(|(name, read)| (name, *read, false));
    let copies = item.copies.iter().map(|(name, read, _)| (name, *read, true));
    let deliveries: Vec<PastDelivery> =
        direct.chain(copies).map(|(name, is_read, is_copy)| PastDelivery { recipient: target.name(name), is_copy, is_read }).collect();
    tx.now = item.at.unwrap_or(tx.now).min(tx.now);
    let post = OutgoingMessage { project: &target.project, from: &from, to: &to, content: &item.content, task: task.as_ref(), reply_to };
    let id = insert_past(tx, post, &deliveries).await?.to_string();
    for (_, _, copy) in &item.copies {
        remember(tx, target, ImportKind::Message, copy, &id).await?;
    }
    Ok(match (item.task, task) {
        (Some(original), None) => Written::Changed(id, format!("its task {original} was not imported")),
        _ => Written::As(id),
    })
}
