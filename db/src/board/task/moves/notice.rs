//! Who is told that an assigned task moved: the leads when its assignee moved it, the assignee when somebody else did.
//!
//! What the runner's own agents do among themselves is told by the board alone.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::transition::Mover;
use domain::team::agent::HUMAN;
use domain::text;

use super::Change;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::Roster;
use crate::team::message::{OutgoingMessage, post};

/// Tells those whom a move concerns. Nobody's unread messages keep it from being said.
pub(super) async fn notify_move(tx: &mut Tx, caller: &Caller, task: &Task, change: &Change) -> Result<()> {
    let card = &task.card;
    let (Some(assignee), Some(from)) = (card.contributors.assigned_to.as_deref(), caller.name()) else { return Ok(()) };
    let Some(word) = notice_tag(card, change) else { return Ok(()) };
    // What came of it says more than the reason "failed", or than nothing.
    let hands_in = change.who == Mover::Assignee && change.to != Status::InProgress;
    let said = change.reason.as_deref().filter(|_| !hands_in || change.cancel.is_none());
    let content = notice_text(word, card, said.or(task.result.as_deref().filter(|_| hands_in)));
    if change.who != Mover::Assignee {
        return post_notice(tx, caller, card, &from, assignee, &content).await;
    }
    let roster = Roster::load(tx, &card.project_id).await?;
    for lead in roster.leads() {
        post_notice(tx, caller, card, &from, lead, &content).await?;
    }
    let decides = matches!(change.to, Status::InReview | Status::Cancelled);
    if decides && !roster.has_external_lead() {
        post_notice(tx, caller, card, &from, HUMAN, &content).await?;
    }
    Ok(())
}

/// What a move of an assigned task is called in a message.
fn notice_tag(card: &Card, change: &Change) -> Option<&'static str> {
    Some(match (card.status, change.to) {
        (Status::InReview, Status::Done) if change.who == Mover::Runner => "MERGED",
        (Status::InReview, Status::InReview) | (Status::InProgress | Status::InReview, Status::Done) => "APPROVED",
        (Status::InReview | Status::Done, Status::InProgress) => "REWORK",
        (Status::Done, Status::Done) => "VERIFIED",
        (_, Status::InProgress) => "STARTED",
        (_, Status::InReview) => "REVIEW",
        (_, Status::Cancelled) => "GIVEN UP",
        (Status::InProgress, Status::Backlog) => "PUT BACK",
        // Giving it out again says so itself.
        (_, Status::Backlog | Status::Done) => return None,
    })
}

/// `[REVIEW] TASK-001: title`, and what there is to say about it.
pub(crate) fn notice_text(word: &str, card: &Card, more: Option<&str>) -> String {
    let mut words = format!("[{word}] {}: {}", card.id, card.title);
    if let Some(more) = more {
        words = format!("{words}\n\n{more}");
    }
    words.truncate(words.floor_char_boundary(text::BODY_BYTES));
    words
}

/// Writes to `to` about a task, unless it would be talking to oneself.
pub(crate) async fn post_notice(tx: &mut Tx, caller: &Caller, card: &Card, from: &str, to: &str, content: &str) -> Result<()> {
    if from != to {
        post(tx, caller, OutgoingMessage { project: &card.project_id, from, to, content, task: Some(&card.id), reply_to: None }).await?;
    }
    Ok(())
}
