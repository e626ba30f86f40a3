//! Messages between participants, and inboxes. A message has one id, which its recipient and the recipients of copies share.
//!
//! Must not know how messages are stored or delivered.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{ProjectId, TaskId};
use crate::refusal::category::refusals;
use crate::time::Timestamp;

/// The maximum number of messages in one inbox page.
pub const INBOX_PAGE: u32 = 50;
/// The maximum content of an inbox page with more than one message, in bytes. Clients of models cut longer answers.
pub const INBOX_BYTES: usize = 48 * 1024;
/// The maximum number of messages in one history page.
pub const HISTORY_PAGE: u32 = 200;
/// The default number of messages in a history page.
pub const HISTORY_DEFAULT: u32 = 10;

/// A message to one recipient, or a broadcast.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Message {
    /// Increases with each message across all projects.
    pub id: i64,
    pub project_id: ProjectId,
    pub from_agent: String,
    /// A participant, or `all`.
    pub to_agent: String,
    /// The text, unchanged.
    pub content: String,
    /// Whether its reader received it as a copy. The history shows no message as a copy.
    pub is_cc: bool,
    /// The recipient of the message, if it was received as a copy; `to_agent` is then the recipient of the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc_original_to: Option<String>,
    /// The recipients of copies by name. Set for a message that was just sent, and in the history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cc: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<i64>,
    pub timestamp: Timestamp,
    /// Whether it was delivered to its recipient; for a broadcast, to all recipients.
    #[serde(default)]
    pub read: bool,
}

/// The arguments for a new message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// A full or unambiguous short name, `human`, the expert of a zone as `zone/audio` or `zone/src/audio/mix.rs`, several of these separated
    /// by commas, or `all`.
    #[schema(value_type = crate::text_schema::ParticipantName)]
    pub to: String,
    #[schema(value_type = crate::text_schema::Body)]
    pub content: String,
    /// Recipients of copies, in addition to the leads.
    #[serde(default)]
    #[schema(value_type = Vec<crate::text_schema::ParticipantName>)]
    pub cc: Vec<String>,
    /// The default is the task of the message replied to.
    #[serde(default)]
    pub task_id: Option<TaskId>,
    #[serde(default)]
    pub reply_to: Option<i64>,
}

/// A message as delivered to its recipient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InboxMessage {
    #[serde(flatten)]
    pub message: Message,
    /// Whether it was delivered before without an acknowledgement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redelivered: bool,
}

/// A page of an inbox, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Inbox {
    pub messages: Vec<InboxMessage>,
    /// The number of messages after this page.
    pub remaining: u32,
}

/// The undelivered messages of a participant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Unread {
    /// All messages, including copies.
    pub count: u32,
    /// Direct messages and broadcasts. The recipient cannot send while there are any.
    pub blocking_count: u32,
    /// Each sender once, in the order of their first message.
    pub senders: Vec<String>,
    /// Whether a lead or the human is among the senders.
    pub urgent: bool,
}

impl Unread {
    /// Returns the alert before the description of `check_inbox`, if messages are undelivered.
    pub fn alert(&self) -> Option<String> {
        let senders = self.senders.join(", ");
        (self.count > 0).then(|| format!("*** YOU HAVE {} UNREAD MESSAGE(S) from {senders} *** Call check_inbox now!", self.count))
    }
}

events! {
    /// A change of an inbox.
    MessageEvent {
        /// Each copy has its own event.
        Sent "message_sent" { message: i64, from: String, to: String, is_cc: bool }
        /// Messages were delivered to a participant.
        InboxDelivered "inbox_read" { agent: String, messages: u32 }
        /// A person marked a message as read.
        Read "message_read" { message: i64 }
    }
}

refusals! {
    /// Why a message may not be sent.
    MessageRefusal {
        #[error("BLOCKED: You have {count} unread message(s). Call check_inbox first")]
        Unread { count: u32 } => Conflict "unread",
    }
}

impl MessageRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Unread { .. } => "Call check_inbox, read the messages, then send again.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
