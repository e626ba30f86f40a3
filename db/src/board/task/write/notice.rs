//! Notices about a task, sent as messages. Must not decide when one is sent.

use domain::board::card::Card;
use domain::text;

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::message::{OutgoingMessage, post};

/// Formats a notice: `[REVIEW] TASK-001: title` and the details.
pub(crate) fn notice_text(tag: &str, card: &Card, details: Option<&str>) -> String {
    let mut content = format!("[{tag}] {}: {}", card.id, card.title);
    if let Some(details) = details {
        content = format!("{content}\n\n{details}");
    }
    content.truncate(content.floor_char_boundary(text::BODY_BYTES));
    content
}

/// Sends a notice about a task, unless sender and recipient are the same.
pub(crate) async fn post_notice(tx: &mut Tx, caller: &Caller, card: &Card, from: &str, to: &str, content: &str) -> Result<()> {
    if from != to {
        post(tx, caller, OutgoingMessage { project: &card.project_id, from, to, content, task: Some(&card.id), reply_to: None }).await?;
    }
    Ok(())
}
