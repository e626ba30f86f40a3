//! Claude Code's tools as neutral tool calls and plans. Pure.

use domain::runs::run_event::{PlanEntry, PlanStatus, RunEvent, TextEdit, ToolCall, ToolKind};
use serde_json::Value;

use crate::backend::BOARD_SERVER;

/// The tool that starts a helper.
pub(super) const HELPER_TOOL: &str = "Agent";
/// The tools that change files.
pub(super) const EDIT_TOOLS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
/// The tool that runs shell commands.
pub(super) const SHELL_TOOL: &str = "Bash";
/// The tool that only updates the agent's own plan.
const PLAN_TOOL: &str = "TodoWrite";

/// One use of a tool.
pub(super) fn tool_call(id: String, name: &str, input: &Value) -> ToolCall {
    if let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        return mcp_call(id, server, tool, input);
    }
    let argument = |key: &str| input[key].as_str().unwrap_or("…").to_owned();
    let (kind, title) = match name {
        "Read" => (ToolKind::Read, argument("file_path")),
        "Write" => (ToolKind::Write, argument("file_path")),
        "Edit" | "MultiEdit" => (ToolKind::Edit, argument("file_path")),
        "NotebookEdit" => (ToolKind::Edit, argument("notebook_path")),
        SHELL_TOOL => (ToolKind::Execute, argument("command")),
        "Grep" | "Glob" => (ToolKind::Search, argument("pattern")),
        "WebFetch" => (ToolKind::Fetch, argument("url")),
        "WebSearch" | "ToolSearch" => (ToolKind::Search, argument("query")),
        HELPER_TOOL | "Task" => (ToolKind::Helper, argument("description")),
        _ => (ToolKind::Other, name.to_owned()),
    };
    let touches_a_file = matches!(kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit);
    let locations = if touches_a_file { vec![title.clone()] } else { Vec::new() };
    ToolCall { id, kind, name: name.to_owned(), title, locations, input: input.clone(), edits: edits(name, input) }
}

/// The texts that a tool replaces.
fn edits(name: &str, input: &Value) -> Vec<TextEdit> {
    let edit = |input: &Value, old: &str, new: &str| {
        let text = |key: &str| input[key].as_str().map(str::to_owned);
        Some(TextEdit { old: text(old).unwrap_or_default(), new: text(new)? })
    };
    match name {
        "Edit" => edit(input, "old_string", "new_string").into_iter().collect(),
        "MultiEdit" => input["edits"].as_array().into_iter().flatten().filter_map(|one| edit(one, "old_string", "new_string")).collect(),
        "Write" => edit(input, "", "content").into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The event for one use of a tool.
pub(super) fn tool_event(id: String, name: &str, input: &Value) -> RunEvent {
    if name == PLAN_TOOL { RunEvent::Plan { entries: plan_entries(input) } } else { RunEvent::ToolStarted(tool_call(id, name, input)) }
}

fn mcp_call(id: String, server: &str, tool: &str, input: &Value) -> ToolCall {
    let (kind, title) = if server == BOARD_SERVER {
        (ToolKind::Board, tool.to_owned())
    } else {
        (ToolKind::Other, format!("{} of {server}", tool.replace('_', " ")))
    };
    ToolCall { id, kind, name: tool.to_owned(), title, locations: Vec::new(), input: input.clone(), edits: Vec::new() }
}

fn plan_entries(input: &Value) -> Vec<PlanEntry> {
    let todos = input["todos"].as_array().map_or(&[][..], Vec::as_slice);
    let entry = |todo: &Value| {
        let status = todo["status"].as_str().and_then(|status| status.parse().ok()).unwrap_or(PlanStatus::Pending);
        Some(PlanEntry { content: todo["content"].as_str()?.to_owned(), status })
    };
    todos.iter().filter_map(entry).collect()
}
