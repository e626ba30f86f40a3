//! How cards and comments read for a model: few words, one line where one is enough; and the same as JSON.

use domain::comment::Comment;
use domain::stage::Stage;
use domain::task::{Card, HeldBy, Status};
use domain::text::excerpt;
use domain::why::Why;
use serde_json::{Value, json};

/// How much of a comment a board shows, in characters.
const EXCERPT: usize = 160;

/// A card on a board, with its last comments.
pub(crate) fn lines(card: &Card, comments: &[Comment]) -> String {
    let mut text = format!("{} [{}] {}: {}", card.id, card.status, card.phase, card.title);
    if !card.depends_on.is_empty() {
        let names: Vec<&str> = card.depends_on.iter().map(domain::id::TaskId::as_str).collect();
        text += &format!(" · after {}", names.join(", "));
    }
    if let Some(run) = &card.run {
        text += &format!(" · {} at work ({}, attempt {})", run.id, run.phase, run.attempt);
    }
    if card.comments > 0 {
        text += &format!(" · comments: {}", card.comments);
    }
    text.push('\n');
    if let Some(state) = state(card) {
        text += &format!("  {state}\n");
    }
    for comment in comments {
        text += &format!("  {}: {}\n", comment.author_role, excerpt(&comment.content, EXCERPT));
    }
    text
}

pub(crate) fn data(card: &Card, comments: &[Comment]) -> Value {
    json!({
        "id": card.id,
        "title": card.title,
        "phase": card.phase,
        "status": card.status,
        "stage": Stage::of(card),
        "parent_task_id": card.parent_task_id,
        "depends_on": card.depends_on,
        "why": state(card),
        "run": card.run.as_ref().map(|run| &run.id),
        "comments": card.comments,
        "last_comments": comments.iter().map(|comment| json!({
            "author_role": comment.author_role,
            "content": excerpt(&comment.content, EXCERPT),
        })).collect::<Vec<_>>(),
    })
}

/// Why a card stands still, or what became of it.
pub(crate) fn state(card: &Card) -> Option<String> {
    if let Some(attention) = &card.attention {
        return Some(format!("needs the person: {}", excerpt(&attention.detail, EXCERPT)));
    }
    if card.status == Status::Cancelled {
        return card.cancel_reason.map(|reason| format!("given up: {reason}"));
    }
    if card.is_approved() {
        return card.approved_sha.as_ref().map(|sha| format!("approved at {}, waits to be merged", short(sha)));
    }
    // The card's own sentence speaks to the person.
    match card.held_by {
        Some(HeldBy::Plan) => Some("waits until the person starts the plan".to_owned()),
        Some(HeldBy::Human | HeldBy::Stop) => Some("held by the person".to_owned()),
        None => card.why.as_ref().map(Why::sentence),
    }
}

/// A comment of a thread, in full.
pub(crate) fn comment(comment: &Comment) -> String {
    format!("[{}] {}: {}\n", comment.author_role, comment.created_at, comment.content)
}

/// As much of a commit id as a reader needs.
pub(crate) fn short(sha: &str) -> &str {
    sha.get(..12).unwrap_or(sha)
}
