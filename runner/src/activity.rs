//! The current activity of an agent, in one line for a person who glances at its card.
//!
//! Pure. The lines are for reading only, so nothing may be decided by them.

use domain::runs::run_event::{RateLimitState, RunEvent, StopReason, ToolCall, ToolKind};
use serde_json::Value;

/// The longest line, in characters.
pub(crate) const MAX_CHARS: usize = 120;

/// A sentence without its subject ("runs cargo test"); `None` for events that a person does not have to see. Paths inside `checkout`, the
/// agent's own folder, are shortened.
pub(crate) fn activity(event: &RunEvent, checkout: &str) -> Option<String> {
    let sentence = match event {
        RunEvent::SessionStarted(session) => format!("starts with {}", session.model),
        RunEvent::Text { text } if text.trim().is_empty() => return None,
        RunEvent::Text { text } => format!("says: {text}"),
        RunEvent::Thinking { .. } => "thinks".to_owned(),
        RunEvent::ToolStarted(call) => tool(call, checkout),
        RunEvent::ToolEnded { ok: false, output, .. } => format!("meets an error: {output}"),
        RunEvent::Plan { .. } => "updates its list".to_owned(),
        RunEvent::Failed(error) => format!("fails: {}", error.message),
        RunEvent::TurnEnded { reason } => turn_end(*reason)?.to_owned(),
        RunEvent::RateLimit { state: RateLimitState::Rejected, .. } => "is stopped by a rate limit".to_owned(),
        RunEvent::Retrying { attempt, limit, status, message, .. } => {
            let status = status.map(|status| format!("{status} ")).unwrap_or_default();
            let limit = limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
            format!("waits for the model's service ({status}{message}), attempt {attempt}{limit}")
        }
        RunEvent::PermissionAsked { call, .. } => format!("asks for permission to use {}", call.name),
        RunEvent::TurnStarted {}
        | RunEvent::MessageAccepted { .. }
        | RunEvent::InterruptTaken { .. }
        | RunEvent::PermissionClosed { .. }
        | RunEvent::ToolEnded { ok: true, .. }
        | RunEvent::Usage(_)
        | RunEvent::Request(_)
        | RunEvent::Context { .. }
        | RunEvent::RateLimit { .. }
        | RunEvent::Other { .. } => return None,
    };
    Some(one_line(&sentence))
}

/// The words for the end of a turn; `None` after an error, which has its own words.
pub(crate) fn turn_end(reason: StopReason) -> Option<&'static str> {
    match reason {
        StopReason::EndTurn => Some("ends its turn"),
        StopReason::MaxTokens => Some("reaches the limit of its answer"),
        StopReason::MaxTurnRequests => Some("reaches its limit of requests"),
        StopReason::Budget => Some("reaches its budget"),
        StopReason::Refusal => Some("refuses to continue"),
        StopReason::Cancelled => Some("was interrupted"),
        StopReason::Failed => None,
    }
}

fn tool(call: &ToolCall, checkout: &str) -> String {
    let title = || shorten(&call.title, checkout);
    match call.kind {
        ToolKind::Board => board_tool(&call.name, &call.input, checkout),
        ToolKind::Read => format!("reads {}", title()),
        ToolKind::Write => format!("writes {}", title()),
        ToolKind::Edit => format!("edits {}", title()),
        ToolKind::Delete => format!("deletes {}", title()),
        ToolKind::Move => format!("moves {}", title()),
        ToolKind::Search => format!("searches for {}", title()),
        ToolKind::Execute => format!("runs {}", title()),
        ToolKind::Think => "thinks".to_owned(),
        ToolKind::Fetch => format!("fetches {}", title()),
        ToolKind::Helper => format!("starts a helper: {}", title()),
        ToolKind::SwitchMode | ToolKind::Other => format!("uses {}", title()),
    }
}

fn board_tool(name: &str, input: &Value, checkout: &str) -> String {
    let text = |key: &str| input[key].as_str().unwrap_or("…");
    match name {
        "get_board" => "looks at the board".to_owned(),
        "get_task" => format!("reads {}", text("task_id")),
        "get_my_tasks" => "lists its tasks".to_owned(),
        "create_subtasks" => match input["tasks"].as_array().map(Vec::as_slice) {
            Some([task]) => format!("creates a task: {}", task["title"].as_str().unwrap_or("…")),
            tasks => format!("creates {} tasks", tasks.map_or(0, <[Value]>::len)),
        },
        "create_task" => format!("creates a task: {}", text("title")),
        "complete_task" => "completes its task".to_owned(),
        "add_comment" => format!("comments: {}", text("content")),
        "update_task_status" => match text("status") {
            "in_review" => "moves the card to review".to_owned(),
            "in_progress" => "sends the card back".to_owned(),
            "done" => "moves the card to done".to_owned(),
            status => format!("moves the card to {}", status.replace('_', " ")),
        },
        "ask_human" => format!("asks: {}", text("question")),
        "check_inbox" => "reads its inbox".to_owned(),
        "send" => format!("writes to {}: {}", text("to_agent"), text("message")),
        "declare_contract" => format!("declares the contract {}", text("name")),
        "claim_file" => format!("claims {}", shorten(text("path"), checkout)),
        "release_file" => format!("releases {}", shorten(text("path"), checkout)),
        _ => format!("uses {}", name.replace('_', " ")),
    }
}

/// Removes the agent's folder, and the change into that folder at the start of a command.
fn shorten(argument: &str, checkout: &str) -> String {
    if checkout.is_empty() {
        return argument.to_owned();
    }
    let argument = argument.strip_prefix("cd ").and_then(|rest| rest.strip_prefix(checkout)?.strip_prefix(" && ")).unwrap_or(argument);
    argument.replace(&format!("{checkout}/"), "")
}

/// Replaces white space and control characters by single spaces, and text past [`MAX_CHARS`] by an ellipsis.
fn one_line(text: &str) -> String {
    // The text may be a whole file, of which only the start is shown.
    let start: String = text.chars().take(MAX_CHARS * 8).collect();
    let words = start.split(|character: char| character.is_whitespace() || character.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_CHARS {
        return line;
    }
    let kept: String = line.chars().take(MAX_CHARS - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests;
