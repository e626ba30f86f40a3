//! Shared context as pages show it: the thread of a session, and what a search found in it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::context::session::SessionMessage;
use crate::context::session::visibility::Visibility;
use crate::likeness::Highlight;
use crate::time::Timestamp;

/// Whether agents of a project use shared context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextUse {
    /// Someone wrote a message into a session.
    pub messages: bool,
    /// An agent keeps a value.
    pub memory: bool,
}

/// A part of the messages of a session that the reader may read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionThread {
    /// Oldest first.
    pub messages: Vec<SessionMessage>,
    /// The messages that these answer, unless they are among them or hidden from the reader.
    pub answered: Vec<QuotedMessage>,
    /// The number of messages that the reader may read.
    pub total_count: u64,
    /// The value of `before` for the previous part, or none before the first message.
    pub earlier: Option<i64>,
    /// The value of `after` for the next part, or none after the newest message.
    pub later: Option<i64>,
}

/// The beginning of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuotedMessage {
    pub id: i64,
    pub sender: String,
    pub excerpt: String,
}

/// A message of a session that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundMessage {
    pub id: i64,
    pub sender: String,
    pub visibility: Visibility,
    pub at: Timestamp,
    /// The part of the message in which most words stand, on one line.
    pub excerpt: String,
    /// The words of the excerpt that match.
    pub highlights: Vec<Highlight>,
    /// From 0 to 100.
    pub score: f64,
}
