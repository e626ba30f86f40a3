//! Messages: what agents and the person write to each other, and what an inbox holds.
//!
//! A carbon copy is a row of its own; a broadcast is one row that each agent reads for itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{ProjectId, TaskId};
use crate::time::Timestamp;

/// The most messages that one look into an inbox gives; the rest follows with the next.
pub const INBOX_PAGE: u32 = 50;
/// How many bytes of content one look gives, as soon as it gives more than one message: what is longer is cut by the clients of models.
pub const INBOX_BYTES: usize = 48 * 1024;
/// The most messages that one page of history gives.
pub const HISTORY_PAGE: u32 = 200;
/// How many messages of history are given unless a number is named.
pub const HISTORY_DEFAULT: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Counts up within the whole store; with a later message it is higher.
    pub id: i64,
    pub project_id: ProjectId,
    pub from_agent: String,
    /// A name, or `all`.
    pub to_agent: String,
    /// As it was written, to the byte.
    pub content: String,
    /// Whether this row is a carbon copy.
    pub is_cc: bool,
    /// Of a carbon copy: to whom the message went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc_original_to: Option<String>,
    /// Who got a carbon copy. Known of a message that was just sent, and in the history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cc: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<i64>,
    pub timestamp: Timestamp,
    /// Whether its recipient was given it. Of a broadcast, each agent has an answer of its own: here it says whether everybody was.
    #[serde(default)]
    pub read: bool,
}

/// What somebody wants to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// A name, short where that is clear, `human`, or `all`.
    #[schema(value_type = crate::schema::ParticipantName)]
    pub to: String,
    #[schema(value_type = crate::schema::Body)]
    pub content: String,
    /// Names that get a copy, beside the leads.
    #[serde(default)]
    #[schema(value_type = Vec<crate::schema::ParticipantName>)]
    pub cc: Vec<String>,
    /// That of the message replied to when missing.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    #[serde(default)]
    pub reply_to: Option<i64>,
}

/// A message as its recipient is given it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InboxMessage {
    #[serde(flatten)]
    pub message: Message,
    /// Whether it was given before, in an answer that nobody confirmed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redelivered: bool,
}

/// What an agent is given when it looks into its inbox, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Inbox {
    pub messages: Vec<InboxMessage>,
    /// How many more wait for the next look.
    pub remaining: u32,
}

/// Who has written something that an agent has not been given yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Unread {
    /// All of them, carbon copies included.
    pub count: u32,
    /// Direct messages and broadcasts: while there are any, their reader may not send.
    pub blocking_count: u32,
    /// Each sender once, the first to write first.
    pub senders: Vec<String>,
    /// Whether a lead or the person is among the senders.
    pub urgent: bool,
}

impl Unread {
    /// What stands before the description of `check_inbox` while there is something to read.
    pub fn alert(&self) -> Option<String> {
        let senders = self.senders.join(", ");
        (self.count > 0).then(|| format!("*** YOU HAVE {} UNREAD MESSAGE(S) from {senders} *** Call check_inbox now!", self.count))
    }
}

#[cfg(test)]
mod tests;
