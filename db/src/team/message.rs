//! Messages between participants. Each copy is a row of its own.

mod delivery;
mod echo;
mod history;
mod inbox;
pub(crate) mod removable;
mod undelivered;

pub(crate) use delivery::close_run_inbox;
pub use history::HistoryQuery;
#[cfg(test)]
pub(crate) use history::sql as history_sql;
pub(crate) use undelivered::notify_senders as tell_undelivered;

use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::EVERYONE;
use domain::team::message::{Message, NewMessage};
use domain::text;
use serde::{Deserialize, Serialize};
use sqlx::Row;

use crate::board::task::in_project;
use crate::board::task::read::optional;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::Roster;
use crate::team::participant;
use crate::team::participant::Participant;

/// The result of sending a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    pub message: Message,
    /// Messages of the sender's last delivery, which now count as read, oldest first.
    pub confirmed: Vec<AcknowledgedMessage>,
}

/// A message that counts as read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcknowledgedMessage {
    pub id: i64,
    pub from_agent: String,
}

/// A validated message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutgoingMessage<'a> {
    pub(crate) project: &'a ProjectId,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) content: &'a str,
    pub(crate) task: Option<&'a TaskId>,
    pub(crate) reply_to: Option<i64>,
}

impl Db {
    /// Sends to one participant, the human or `all`. Every lead that is neither sender nor recipient gets a copy. Sending acknowledges the
    /// sender's last delivery and returns its message ids, because that response may have been lost.
    ///
    /// # Errors
    /// When the sender has unread messages, a recipient is unknown or gone, the content is invalid, or the sender may not reply to the
    /// given message.
    pub async fn send(&self, caller: &Caller, project: &ProjectId, new: NewMessage) -> Result<Sent> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let roster = Roster::load(tx, &project).await?;
                let participant = participant::from_roster(tx, caller, &roster).await?;
                let content = text::validate_body("message", &new.content)?;
                let to = roster.recipient(tx, &participant.name, &new.to).await?;
                if to == participant.name {
                    let hint = "Choose another recipient; put notes that you want to keep into a comment on the task.";
                    return Err(Refusal::invalid("to", "you cannot send a message to yourself", hint).into());
                }
                let mut copies: Vec<String> = Vec::new();
                for name in &new.cc {
                    copies.push(cc_recipient(roster.recipient(tx, &participant.name, name).await?)?);
                }
                // The human sees new messages without checking an inbox, and the runner only reports events.
                let confirmed = match caller {
                    Caller::Person(_) | Caller::Runner => Vec::new(),
                    Caller::Run(_) | Caller::Agent(_) | Caller::Invite(_) => delivery::require_inbox_read(tx, &project, &participant.name).await?,
                };
                let (reply_to, inherited) = match new.reply_to {
                    Some(id) => replied_to(tx, &participant, id).await.map(|(original, task)| (Some(original), task))?,
                    None => (None, None),
                };
                let task = new.task_id.or(inherited);
                if let Some(task) = &task {
                    in_project(tx, &project, task).await?;
                }
                let post = OutgoingMessage { project: &project, from: &participant.name, to: &to, content: &content, task: task.as_ref(), reply_to };
                let message = post_with_copies(tx, caller, &roster, post, copies).await?;
                Ok(Sent { message, confirmed })
            })
        })
        .await
    }
}

/// Rejects `all` as a copy's recipient, because a broadcast already reaches everyone.
fn cc_recipient(to: String) -> Result<String, Refusal> {
    if to == EVERYONE { Err(Refusal::invalid("cc", "\"all\" cannot be a cc recipient", "Send the message to all instead.")) } else { Ok(to) }
}

/// Returns the message that is replied to and its task. The sender must have written or received it. A reply to a copy refers to its
/// original.
async fn replied_to(tx: &mut Tx, participant: &Participant, id: i64) -> Result<(i64, Option<TaskId>)> {
    let row = sqlx::query("SELECT COALESCE(copy_of, id) AS original, from_agent, to_agent, task_id FROM messages WHERE id = $1 AND project_id = $2")
        .bind(id)
        .bind(participant.project.as_str())
        .fetch_optional(&mut tx.connection)
        .await?;
    let row = row.ok_or_else(|| Refusal::not_found("message", id))?;
    let is = |column: &str, name: &str| Ok::<_, sqlx::Error>(row.try_get::<&str, _>(column)? == name);
    if participant.is_lead || is("from_agent", &participant.name)? || is("to_agent", &participant.name)? || is("to_agent", EVERYONE)? {
        return Ok((row.try_get("original")?, optional(&row, "task_id")?));
    }
    Err(Refusal::invalid("reply_to", format!("message {id} was not sent to you"), "Reply to a message from your inbox, or omit reply_to.").into())
}

/// Sends a validated message with a copy to each of `copies` and to every lead. A broadcast needs no copies.
pub(crate) async fn post_with_copies(
    tx: &mut Tx,
    caller: &Caller,
    roster: &Roster,
    post: OutgoingMessage<'_>,
    copies: Vec<String>,
) -> Result<Message> {
    let mut message = self::post(tx, caller, post).await?;
    for name in copies.into_iter().chain(roster.leads().map(str::to_owned)) {
        if post.to == EVERYONE || name == post.to || name == post.from || message.cc.contains(&name) {
            continue;
        }
        insert(tx, caller, OutgoingMessage { to: &name, ..post }, Some(&message)).await?;
        message.cc.push(name);
    }
    Ok(message)
}

/// Sends a validated message without copies. Unread messages do not block notifications.
pub(crate) async fn post(tx: &mut Tx, caller: &Caller, post: OutgoingMessage<'_>) -> Result<Message> {
    insert(tx, caller, post, None).await
}

async fn insert(tx: &mut Tx, caller: &Caller, post: OutgoingMessage<'_>, original: Option<&Message>) -> Result<Message> {
    let cc_original_to = original.map(|original| original.to_agent.as_str());
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO messages (project_id, from_agent, to_agent, content, is_cc, cc_original_to, copy_of, task_id, reply_to, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id",
    )
    .bind(post.project.as_str())
    .bind(post.from)
    .bind(post.to)
    .bind(post.content)
    .bind(original.is_some())
    .bind(cc_original_to)
    .bind(original.map(|original| original.id))
    .bind(post.task.map(TaskId::as_str))
    .bind(post.reply_to)
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    let is_cc = original.is_some();
    let event = Event::MessageSent { message: id, from: post.from.to_owned(), to: post.to.to_owned(), is_cc };
    tx.record_without_card(caller, post.project, post.task, event);
    Ok(Message {
        id,
        project_id: post.project.clone(),
        from_agent: post.from.to_owned(),
        to_agent: post.to.to_owned(),
        content: post.content.to_owned(),
        is_cc,
        cc_original_to: cc_original_to.map(str::to_owned),
        cc: Vec::new(),
        task_id: post.task.cloned(),
        reply_to: post.reply_to,
        timestamp: tx.now,
        read: false,
    })
}
