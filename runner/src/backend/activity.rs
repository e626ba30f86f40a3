//! What an agent does right now, in one line for a person who glances at its card.
//!
//! Pure. The lines are for reading only: nothing may be decided by them.

use serde_json::Value;

use super::stream::RunLine;

/// The longest line, in characters.
pub const LENGTH: usize = 120;

/// Our own tools carry this prefix in the agent's output.
const OWN_TOOLS: &str = "mcp__vibe-relay__";

/// A sentence without its subject ("runs cargo test"), or `None` for what a person need not see. Paths inside `checkout`, the
/// agent's own folder, are shortened.
pub fn activity(line: &RunLine, checkout: &str) -> Option<String> {
    let sentence = match line {
        RunLine::Init(init) => format!("starts with {}", init.model),
        RunLine::Text { text } if text.trim().is_empty() => return None,
        RunLine::Text { text } => format!("says: {text}"),
        RunLine::Thinking { .. } => "thinks".to_owned(),
        RunLine::ToolUse { name, input, .. } => tool(name, input, checkout),
        RunLine::ToolResult { is_error: true, text, .. } => format!("meets an error: {text}"),
        RunLine::Result(result) if result.is_error => {
            format!("fails: {}", result.text.as_deref().or(result.errors.first().map(String::as_str)).unwrap_or(&result.subtype))
        }
        RunLine::Result(_) => "ends its turn".to_owned(),
        RunLine::RateLimit { status, .. } if status == "rejected" => "is stopped by a rate limit".to_owned(),
        RunLine::ApiRetry { attempt, max, error_status, error, .. } => {
            let status = error_status.map(|status| format!("{status} ")).unwrap_or_default();
            format!("waits for the model's service ({status}{error}), try {attempt} of {max}")
        }
        RunLine::ApiError { text, .. } => format!("cannot reach the model: {text}"),
        RunLine::ToolResult { .. }
        | RunLine::RateLimit { .. }
        | RunLine::UserReplay { .. }
        | RunLine::Usage { .. }
        | RunLine::Other { .. }
        | RunLine::Foreign { .. } => return None,
    };
    Some(one_line(&sentence))
}

fn tool(name: &str, input: &Value, checkout: &str) -> String {
    if let Some(own) = name.strip_prefix(OWN_TOOLS) {
        return own_tool(own, input, checkout);
    }
    let argument = |key: &str| shorten(input[key].as_str().unwrap_or("…"), checkout);
    match name {
        "Read" => format!("reads {}", argument("file_path")),
        "Write" => format!("writes {}", argument("file_path")),
        "Edit" | "MultiEdit" => format!("edits {}", argument("file_path")),
        "NotebookEdit" => format!("edits {}", argument("notebook_path")),
        "Bash" => format!("runs {}", argument("command")),
        "Grep" => format!("searches for {}", argument("pattern")),
        "Glob" => format!("looks for files {}", argument("pattern")),
        "WebFetch" => format!("fetches {}", argument("url")),
        "WebSearch" => format!("searches the web for {}", argument("query")),
        "Agent" | "Task" => format!("starts a helper: {}", argument("description")),
        "TodoWrite" => "updates its list".to_owned(),
        "ToolSearch" => "looks for a tool".to_owned(),
        _ => match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            Some((server, tool)) => format!("uses {} of {server}", tool.replace('_', " ")),
            None => format!("uses {name}"),
        },
    }
}

fn own_tool(name: &str, input: &Value, checkout: &str) -> String {
    let text = |key: &str| input[key].as_str().unwrap_or("…");
    match name {
        "get_board" => "looks at the board".to_owned(),
        "get_task" => format!("reads {}", text("task_id")),
        "get_my_tasks" => "looks up its tasks".to_owned(),
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

/// Without the agent's folder, and without the change into it that it puts before its commands.
fn shorten(argument: &str, checkout: &str) -> String {
    if checkout.is_empty() {
        return argument.to_owned();
    }
    let argument = argument.strip_prefix("cd ").and_then(|rest| rest.strip_prefix(checkout)?.strip_prefix(" && ")).unwrap_or(argument);
    argument.replace(&format!("{checkout}/"), "")
}

/// White space and control characters become single spaces; what is past [`LENGTH`] becomes an ellipsis.
fn one_line(text: &str) -> String {
    // A whole file may be behind this; more than this much of it is never shown.
    let start: String = text.chars().take(LENGTH * 8).collect();
    let words = start.split(|character: char| character.is_whitespace() || character.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LENGTH {
        return line;
    }
    let kept: String = line.chars().take(LENGTH - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests;
