//! Context sessions: places in which the agents of a project share what they found. On the wire they are called sessions.
//!
//! Must not know how messages are stored. A message in a session is no inbox message, and blocks nobody.

pub mod visibility;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::context::metadata::Metadata;
use crate::context::session::visibility::Visibility;
use crate::event::kinds::events;
use crate::id::{InvalidId, ProjectId, RunId, TaskId};
use crate::refusal::category::refusals;
use crate::refusal::general::GeneralRefusal;
use crate::schema::string_schema;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The maximum length of a message, in characters.
pub const MAX_CONTENT: usize = 100_000;
/// The default number of messages in one answer, and the number that a session shows.
pub const DEFAULT_MESSAGES: u32 = 50;
/// The maximum number of messages in one answer.
pub const MAX_MESSAGES: u32 = 1_000;
/// The maximum number of messages that an answer skips. A cursor goes further.
pub const MAX_OFFSET: u32 = 10_000;
/// The maximum number of sessions in one list.
pub const MAX_SESSIONS: u32 = 200;

/// The id of a context session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContextSessionId(String);

const EXAMPLE_ID: &str = "session_0123456789abcdef";

string_schema!(ContextSessionId, "ContextSessionId", "Id of a context session.", EXAMPLE_ID, pattern = "^[a-zA-Z0-9_-]{8,64}$");

impl ContextSessionId {
    /// Creates an id from random bits.
    pub fn new(random: u64) -> Self {
        Self(format!("session_{random:016x}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContextSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ContextSessionId {
    type Err = InvalidId;

    fn from_str(given: &str) -> Result<Self, InvalidId> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if (8..=64).contains(&given.len()) && given.bytes().all(is_allowed) {
            return Ok(Self(given.to_owned()));
        }
        Err(InvalidId { given: given.chars().take(60).collect(), kind: "a session", example: EXAMPLE_ID })
    }
}

impl TryFrom<String> for ContextSessionId {
    type Error = InvalidId;

    fn try_from(given: String) -> Result<Self, InvalidId> {
        given.parse()
    }
}

impl From<ContextSessionId> for String {
    fn from(id: ContextSessionId) -> String {
        id.0
    }
}

vocabulary! {
    /// The purpose that a session has by itself.
    SessionKind, "kind of session" {
        /// The project's blackboard, which every project has.
        Project = "project",
        /// The session of a plan.
        Plan = "plan",
        /// Created by a participant.
        Shared = "shared",
    }
}

/// A context session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextSession {
    pub id: ContextSessionId,
    /// Its project. A session of a person can have none.
    pub project_id: Option<ProjectId>,
    pub kind: SessionKind,
    /// The planning task of a plan's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub purpose: String,
    #[schema(value_type = Object)]
    pub metadata: Metadata,
    pub created_by: String,
    pub created_at: Timestamp,
    /// When it was created or closed, or got its last public message.
    pub updated_at: Timestamp,
    /// False once it is closed. It can still be read.
    pub is_active: bool,
}

/// A message in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionMessage {
    /// Increases with each message across all sessions.
    pub id: i64,
    pub session_id: ContextSessionId,
    /// The sender's name as a participant.
    pub sender: String,
    /// The kind of a managed agent, `agent` or `human`.
    pub sender_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    pub content: String,
    pub visibility: Visibility,
    #[schema(value_type = Object)]
    pub metadata: Metadata,
    pub timestamp: Timestamp,
    pub parent_message_id: Option<i64>,
}

/// Returns the text of a message that a search compares: the sender, the content, and the plain values of the metadata, unless it is left out.
pub fn searchable_text(sender: &str, content: &str, metadata: Option<&Metadata>) -> String {
    let mut text = format!("{sender} {content}");
    for value in metadata.into_iter().flat_map(Metadata::values) {
        match value {
            Value::String(word) => text += &format!(" {word}"),
            Value::Number(_) | Value::Bool(_) => text += &format!(" {value}"),
            Value::Null | Value::Array(_) | Value::Object(_) => {}
        }
    }
    text
}

/// A message that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionHit {
    pub message: SessionMessage,
    /// From 0 to 100: the better one of how well the message contains the query, and of how well it has its words.
    pub score: f64,
}

/// A part of the messages of a session that a reader may read, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionMessages {
    pub messages: Vec<SessionMessage>,
    /// The number of messages that the reader may read with the same filter.
    pub total_count: u64,
    pub has_more: bool,
}

/// The arguments for a new session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContextSession {
    #[schema(value_type = crate::text_schema::Title)]
    pub purpose: String,
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Metadata,
}

/// The arguments for a new message in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSessionMessage {
    pub content: String,
    /// Public if missing.
    #[serde(default)]
    pub visibility: Option<Visibility>,
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Metadata,
    /// A message in the same session.
    #[serde(default)]
    pub parent_message_id: Option<i64>,
}

/// Returns the content of a message unchanged.
///
/// # Errors
/// It is blank, has more than [`MAX_CONTENT`] characters, or contains U+0000.
pub fn validate_content(given: &str) -> Result<&str, GeneralRefusal> {
    if given.trim().is_empty() {
        return Err(GeneralRefusal::invalid("content", "it is empty", "Write at least one character."));
    }
    let length = if given.len() > MAX_CONTENT { given.chars().count() } else { 0 };
    if length > MAX_CONTENT {
        let problem = format!("it has {length} characters, more than the {MAX_CONTENT} allowed");
        return Err(GeneralRefusal::invalid("content", problem, "Shorten it, or split it into several messages."));
    }
    if given.contains('\0') {
        return Err(GeneralRefusal::invalid("content", "it contains a NUL character", "Remove the character U+0000."));
    }
    Ok(given)
}

/// Returns how many items an answer has.
///
/// # Errors
/// More than `max` are requested, or none.
pub fn validate_limit(given: Option<u32>, default: u32, max: u32) -> Result<u32, GeneralRefusal> {
    match given {
        None => Ok(default),
        Some(limit) if (1..=max).contains(&limit) => Ok(limit),
        Some(limit) => Err(GeneralRefusal::invalid("limit", format!("{limit} is not between 1 and {max}"), format!("Give 1 to {max}."))),
    }
}

events! {
    /// A change of a context session. It never contains what was written.
    SessionEvent {
        Created "session_created" { session: ContextSessionId }
        Closed "session_closed" { session: ContextSessionId }
        MessageAdded "session_message_added" { session: ContextSessionId, message: i64, visibility: Visibility }
        /// The owner read private messages of others.
        PrivateRead "session_private_read" { session: ContextSessionId, messages: u32 }
    }
}

refusals! {
    /// Why a participant may not change a session.
    SessionRefusal {
        #[error("the session {session} is closed")]
        Closed { session: ContextSessionId } => Conflict "session-closed",
        #[error("the session {session} belongs to its project or plan, and stays open")]
        StaysOpen { session: ContextSessionId } => Conflict "session-stays-open",
        #[error("the session {session} was created by {creator}")]
        NotYours { session: ContextSessionId, creator: String } => Forbidden "session-not-yours",
        #[error("admin_only messages require the admin permission")]
        AdminOnly => Forbidden "admin-only",
    }
}

impl SessionRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Closed { .. } => "Read it with get_messages, and write into another one: list_sessions shows them.".to_owned(),
            Self::StaysOpen { .. } => "Close only sessions that were created with create_session.".to_owned(),
            Self::NotYours { .. } => "Leave it to its creator, a lead or the human.".to_owned(),
            Self::AdminOnly => "Use public, private or agent_only. Only the owner of the board has the admin permission.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
