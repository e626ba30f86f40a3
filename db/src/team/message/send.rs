//! Sending: who gets a message, and what keeps a participant from sending.

use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::EVERYONE;
use domain::team::message::{Message, MessageRefusal, NewMessage};
use domain::text;
use domain::warroom::trigger::{Trigger, TriggerTarget, TriggerText};
use serde::{Deserialize, Serialize};
use sqlx::Row;

use super::post::post_with_copies;
use super::recipient::Recipient;
use super::row::AcknowledgedMessage;
use super::write::{Arrived, OutgoingMessage};
use super::{post, read, recipient, write};
use crate::board::task::row::in_project;
use crate::caller::Caller;
use crate::engine::column::optional;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::roster::Roster;
use crate::team::participant::row as participant;
use crate::team::participant::row::Participant;
use crate::warroom::battle_plan::row as battle_plans;
use crate::warroom::context_left::row::require_fresh_report;
use crate::warroom::knowledge::row as knowledge;
use crate::warroom::lead::row::party;
use crate::warroom::oracle::row as questions;
use crate::warroom::oracle::write as oracle;
use crate::warroom::trigger::write::{self as trigger, Order};

/// The result of sending a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The message, to the first recipient.
    pub message: Message,
    /// The same to each further recipient.
    #[serde(default)]
    pub further: Vec<Message>,
    /// Messages of the sender's last delivery, which now count as read, oldest first.
    pub confirmed: Vec<AcknowledgedMessage>,
    /// The order that the message gave.
    pub trigger: Option<Trigger>,
}

impl Db {
    /// Sends to a participant, the human, the expert of a zone (`zone/NAME`, or `zone/PATH` for that of a file), several of them separated by
    /// commas, or `all`. Every lead that is neither sender nor recipient gets a copy. Sending acknowledges the sender's last delivery and
    /// returns its message ids, because that response may have been lost.
    ///
    /// # Errors
    /// When the sender has unread messages, its report about its context is too old, it is a lead without a battle plan and names a task to
    /// others than leads, a recipient is unknown or gone, the content is invalid, or the sender may not reply to the given message.
    pub async fn send(&self, caller: &Caller, project: &ProjectId, new: NewMessage) -> Result<Sent> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let roster = Roster::load(tx, &project).await?;
                let participant = participant::from_roster(tx, caller, &roster).await?;
                let content = text::validate_body("message", &new.content)?;
                let recipients = match answered_asker(tx, caller, &new).await? {
                    Some(asker) => vec![Recipient { name: asker, by_zone: false }],
                    None => recipient::resolve(tx, &roster, &participant.name, &new.to).await?,
                };
                let by_zone: Vec<String> = recipients.iter().filter(|one| one.by_zone).map(|one| one.name.clone()).collect();
                let mut further: Vec<String> = recipients.into_iter().map(|one| one.name).collect();
                let to = further.remove(0);
                let mut copies: Vec<String> = Vec::new();
                for name in &new.cc {
                    copies.push(cc_recipient(roster.mailbox(tx, &participant.name, name).await?)?);
                }
                let confirmed = require_may_write(tx, caller, &participant).await?;
                // Only a message that names a task itself assigns work; an answer about one does not.
                let instructed: Vec<&String> = copies.iter().chain([&to]).chain(&further).filter(|name| roster.is_instructed(name)).collect();
                if new.task_id.is_some() && !instructed.is_empty() {
                    let action = "sending task assignments";
                    battle_plans::require(&mut tx.connection, caller, &participant, action).await?;
                    // The expert of another zone decides itself what becomes of the task.
                    for name in instructed.into_iter().filter(|name| !by_zone.contains(name)) {
                        party::require(&mut tx.connection, &participant, name, action).await?;
                    }
                }
                if !further.is_empty() && TriggerText::of(&content).is_some() {
                    return Err(Refusal::invalid("to", "an order is for one agent or all", "Send it to each agent, or to all.").into());
                }
                let order = order_of(tx, &roster, &participant, &content, &to).await?;
                if let Some((word, agent)) = order.as_ref().and_then(Order::agent) {
                    party::require(&mut tx.connection, &participant, agent, &format!("the order {word}")).await?;
                }
                let inherited = match new.reply_to {
                    Some(id) => task_of_original(tx, &participant, id).await?,
                    None => None,
                };
                let task = new.task_id.or(inherited);
                if let Some(task) = &task {
                    in_project(tx, &project, task).await?;
                }
                let (task, reply_to) = (task.as_ref(), new.reply_to);
                let content = order.as_ref().map_or(content.clone(), |order| order.text(&content));
                let post = OutgoingMessage { project: &project, from: &participant.name, to: &to, content: &content, task, reply_to };
                copies.retain(|name| !further.contains(name));
                let message = post_with_copies(tx, caller, &roster, post, copies).await?;
                let mut same = Vec::with_capacity(further.len());
                for to in further.iter().filter(|name| !message.cc.contains(name)) {
                    same.push(post::post(tx, caller, OutgoingMessage { to, ..post }).await?);
                }
                if let (Caller::Person(_), Some(answered)) = (caller, reply_to) {
                    write::mark_answered(tx, answered, &to).await?;
                }
                oracle::answered(tx, caller, &message).await?;
                trigger::answered(tx, caller, &project, &participant.name).await?;
                let trigger = match order {
                    Some(order) => Some(trigger::give(tx, caller, &project, &participant.name, order).await?),
                    None => None,
                };
                Ok(Sent { message, further: same, confirmed, trigger })
            })
        })
        .await
    }
}

/// The recipient of an answer of a managed oracle. An asker that has left by now leaves the answer to those who ask the same later.
async fn answered_asker(tx: &mut Tx, caller: &Caller, new: &NewMessage) -> Result<Option<String>> {
    let (Caller::Run(run), Some(id)) = (caller, new.reply_to) else { return Ok(None) };
    let question = questions::read(&mut tx.connection, id).await?;
    let own = question.filter(|question| question.task_id.as_ref() == Some(&run.task_id) && question.answer.is_none());
    Ok(own.map(|question| question.asker).filter(|asker| asker == new.to.trim()))
}

/// Refuses a sender with undelivered messages or an old report about its context, and an oracle with unread knowledge. Returns the messages of
/// its last delivery, which now count as read.
pub(crate) async fn require_may_write(tx: &mut Tx, caller: &Caller, participant: &Participant) -> Result<Vec<AcknowledgedMessage>> {
    // The human sees new messages without checking an inbox, and the runner only reports events.
    let confirmed = match caller {
        Caller::Person(_) | Caller::Runner => Vec::new(),
        Caller::Run(_) | Caller::Agent(_) | Caller::Invite(_) => require_inbox_read(tx, &participant.project, &participant.name).await?,
    };
    require_fresh_report(tx, caller).await?;
    knowledge::require_read(tx, caller).await?;
    Ok(confirmed)
}

/// The order at the beginning of a message, with its agent found by name.
async fn order_of(tx: &mut Tx, roster: &Roster, sender: &Participant, content: &str, to: &str) -> Result<Option<Order>> {
    let Some(text) = TriggerText::of(content) else { return Ok(None) };
    let named = text.target.filter(|_| matches!(text.word.target(), TriggerTarget::Agent | TriggerTarget::AgentAndSubject));
    let agent = match named.or(Some(to).filter(|to| *to != EVERYONE)) {
        // An agent that is not a lead may not even learn which agents exist.
        Some(name) if sender.is_lead => Some(roster.mailbox(tx, &sender.name, name).await?),
        _ => None,
    };
    Order::read(sender, content, to, agent.as_deref())
}

/// Rejects `all` as a copy's recipient, because a broadcast already reaches everyone.
fn cc_recipient(to: String) -> Result<String, Refusal> {
    if to == EVERYONE { Err(Refusal::invalid("cc", "\"all\" cannot be a cc recipient", "Send the message to all instead.")) } else { Ok(to) }
}

/// Refuses a sender with undelivered direct messages or broadcasts; copies do not block. Marks the sender's last response as read and
/// returns its messages. The acknowledgement covers that response only, because an earlier one may have been lost without being repeated.
/// The end of a run settles the messages in its conversation.
async fn require_inbox_read(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<Vec<AcknowledgedMessage>> {
    let waiting = read::blocking(&mut tx.connection, project, name).await?;
    if waiting.count > 0 {
        return Err(MessageRefusal::Unread { count: waiting.count }.into());
    }
    match waiting.last_response {
        None => Ok(Vec::new()),
        since => write::mark_read(tx, project, name, Arrived { up_to: i64::MAX, since, conversation: false }).await,
    }
}

/// Returns the task of the message that is replied to. The sender must have written or received it.
async fn task_of_original(tx: &mut Tx, participant: &Participant, id: i64) -> Result<Option<TaskId>> {
    let row = sqlx::query(
        "WITH own (name) AS (SELECT $3 UNION ALL SELECT former FROM former_names WHERE project_id = $2 AND name = $3)
         SELECT m.task_id, m.to_agent = 'all' OR m.from_agent IN (SELECT name FROM own)
            OR EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.recipient IN (SELECT name FROM own)) AS is_known
         FROM messages m WHERE m.id = $1 AND m.project_id = $2",
    )
    .bind(id)
    .bind(participant.project.as_str())
    .bind(&participant.name)
    .fetch_optional(&mut tx.connection)
    .await?;
    let row = row.ok_or_else(|| Refusal::not_found("message", id))?;
    if participant.is_lead || row.try_get("is_known")? {
        return optional(&row, "task_id");
    }
    Err(Refusal::invalid("reply_to", format!("message {id} was not sent to you"), "Reply to a message from your inbox, or omit reply_to.").into())
}
