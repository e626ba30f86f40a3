//! Formats cards, comments, agents and messages: short text for a model, and the same as JSON.
//!
//! It must not know which tool shows them.

use domain::board::card::Card;
use domain::board::comment::Comment;
use domain::board::stage::Stage;
use domain::board::status::{HeldBy, Status};
use domain::board::wait_reason::WaitReason;
use domain::team::agent::Agent;
use domain::team::message::Message;
use domain::text::excerpt;
use domain::warroom::context_left::ContextLeft;
use serde_json::{Value, json};

/// The most characters of a comment on a board.
const MAX_EXCERPT: usize = 160;

/// Formats a card with its last comments.
pub(crate) fn lines(card: &Card, comments: &[Comment]) -> String {
    let mut text = line(card, card.status.as_str());
    for comment in comments {
        text += &format!("  {}: {}\n", comment.author(), excerpt(&comment.content, MAX_EXCERPT));
    }
    text
}

/// Formats a card with its status or stage.
pub(crate) fn line(card: &Card, status: &str) -> String {
    let mut text = format!("{} [{status}] {}: {}", card.id, card.phase, card.title);
    if !card.depends_on.is_empty() {
        let names: Vec<&str> = card.depends_on.iter().map(domain::id::TaskId::as_str).collect();
        text += &format!(" · after {}", names.join(", "));
    }
    if let Some(assignee) = &card.contributors.assigned_to {
        text += &format!(" · assigned to {assignee}");
        if let Some(hat) = card.contributors.role_hat {
            text += &format!(" as {hat}");
        }
    }
    if let Some(run) = &card.run {
        text += &format!(" · {} running ({}, attempt {})", run.id, run.phase, run.attempt);
    }
    if card.activity_count > 0 {
        text += &format!(" · activity: {}", card.activity_count);
    }
    if card.comments > 0 {
        text += &format!(" · comments: {}", card.comments);
    }
    text.push('\n');
    if let Some(state) = state(card) {
        text += &format!("  {state}\n");
    }
    text
}

pub(crate) fn data(card: &Card, comments: &[Comment]) -> Value {
    let mut data = json!({
        "id": card.id,
        "title": card.title,
        "phase": card.phase,
        "status": card.status,
        "stage": Stage::of(card),
        "parent_task_id": card.parent_task_id,
        "depends_on": card.depends_on,
        "wait_reason": state(card),
        "run": card.run.as_ref().map(|run| &run.id),
        "comments": card.comments,
        "last_comments": comments.iter().map(|comment| json!({
            "author_role": comment.author(),
            "content": excerpt(&comment.content, MAX_EXCERPT),
        })).collect::<Vec<_>>(),
    });
    // Contributors, updates and goal appear only if they are set.
    if let (Value::Object(data), Ok(Value::Object(hands))) = (&mut data, serde_json::to_value(&card.contributors)) {
        data.extend(hands);
        if card.activity_count > 0 {
            data.insert("activity_count".to_owned(), json!(card.activity_count));
        }
        if let Some(goal) = &card.goal_id {
            data.insert("goal_id".to_owned(), json!(goal));
        }
    }
    data
}

/// Returns why a card waits, or its outcome.
pub(crate) fn state(card: &Card) -> Option<String> {
    if let Some(attention) = &card.attention {
        return Some(format!("needs the human: {}", excerpt(&attention.detail, MAX_EXCERPT)));
    }
    if card.status == Status::Cancelled {
        return card.cancel_reason.map(|reason| format!("cancelled: {reason}"));
    }
    if let Some(known) = card.pull_request.as_ref().filter(|_| card.awaits_pull_request()) {
        return Some(format!("approved at {}, waits until its pull request is merged: {}", short(&known.sha), known.address));
    }
    if card.is_approved() {
        return card.approved_sha.as_ref().map(|sha| format!("approved at {}, waits in the merge queue", short(sha)));
    }
    // Agents cannot press Start, so they get another sentence.
    match card.held_by {
        Some(HeldBy::Plan) => Some("waits until the human starts the plan".to_owned()),
        Some(HeldBy::Takeover) => Some("taken over by the human".to_owned()),
        Some(HeldBy::Human | HeldBy::Stop) => Some("held by the human".to_owned()),
        None => card.wait_reason.as_ref().map(WaitReason::sentence),
    }
}

/// Formats a comment in full.
pub(crate) fn comment(comment: &Comment) -> String {
    format!("[{}] {}: {}\n", comment.author(), comment.created_at, comment.content)
}

/// Shortens a commit id.
pub(crate) fn short(sha: &str) -> &str {
    sha.get(..12).unwrap_or(sha)
}

/// Returns an agent as the others see it.
pub(crate) fn agent(agent: &Agent) -> Value {
    json!({
        "name": agent.name,
        "team": agent.team,
        "roles": agent.roles,
        "class": agent.class,
        "transport": agent.transport,
        "context_left": agent.context_left,
        "description": agent.description,
        "status": agent.status,
        "health": agent.health,
        "connected": agent.connected,
        "current_task": agent.task_id,
        "unread": agent.unread,
        "trusted": agent.trusted,
        "last_seen": agent.last_seen,
    })
}

/// Returns an agent also with the fields that clients of dead-drop read. They cost managed agents tokens that tell them nothing.
pub(crate) fn agent_in_full(known: &Agent) -> Value {
    let mut data = agent(known);
    let roles: Vec<&str> = known.roles.iter().map(|role| role.as_str()).collect();
    data["role"] = json!(roles.join(","));
    data["registered_at"] = json!(known.registered_at);
    data["last_inbox_check"] = json!(known.last_inbox_check);
    data["lead_role"] = json!(known.lead_role);
    data["zone"] = json!(known.zone);
    data["model"] = json!(known.model.as_deref().unwrap_or("unknown"));
    data["context"] = json!(known.context);
    data["context_reported_at"] = json!(known.context_reported_at);
    data
}

/// Words the zones of a task.
pub(crate) fn zones(names: &[String]) -> String {
    format!("{} {}", if names.len() == 1 { "zone" } else { "zones" }, names.join(", "))
}

/// Words the part of its context that an agent has left.
pub(crate) fn context_left(left: &ContextLeft) -> String {
    format!("{} % ({})", left.percent, left.condition)
}

/// Returns a message without fields that its reader knows.
pub(crate) fn message(message: &Message) -> Value {
    let mut data = json!({
        "id": message.id,
        "from_agent": message.from_agent,
        "to_agent": message.to_agent,
        "content": message.content,
        "timestamp": message.timestamp,
    });
    if message.is_cc {
        data["is_cc"] = json!(true);
        data["cc_original_to"] = json!(message.cc_original_to);
    }
    if let Some(task) = &message.task_id {
        data["task_id"] = json!(task);
    }
    if let Some(reply_to) = message.reply_to {
        data["reply_to"] = json!(reply_to);
    }
    data
}
