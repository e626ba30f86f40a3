//! Rows of messages and deliveries as values. Must not know which rows are selected, and why.

use domain::team::message::Message;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::engine::column::{optional, parsed};
use crate::error::Result;

/// The columns of a message, which is named `m`.
pub(super) const COLUMNS: &str = "m.id, m.project_id, m.from_agent, m.to_agent, m.content, m.task_id, m.reply_to, m.created_at";

/// A message that counts as read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcknowledgedMessage {
    pub id: i64,
    pub from_agent: String,
}

/// Why a participant gets a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Direct,
    Copy,
    Broadcast,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Copy => "copy",
            Self::Broadcast => "broadcast",
        }
    }
}

/// Reads a message as it was sent. The column `is_delivered` tells whether its recipient, or each of them, was given it.
pub(super) fn message_of(row: &SqliteRow) -> Result<Message> {
    Ok(Message {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        from_agent: row.try_get("from_agent")?,
        to_agent: row.try_get("to_agent")?,
        content: row.try_get("content")?,
        is_cc: false,
        cc_original_to: None,
        cc: Vec::new(),
        task_id: optional(row, "task_id")?,
        reply_to: row.try_get("reply_to")?,
        timestamp: parsed(row, "created_at")?,
        read: row.try_get("is_delivered")?,
    })
}

/// Reads a message as `name` receives it: a copy is addressed to the recipient of the copy and names the original one.
pub(super) fn received_by(name: &str, row: &SqliteRow) -> Result<Message> {
    let message = message_of(row)?;
    if !row.try_get::<bool, _>("is_copy")? {
        return Ok(message);
    }
    Ok(Message { is_cc: true, cc_original_to: Some(message.to_agent), to_agent: name.to_owned(), ..message })
}
