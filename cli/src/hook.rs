//! `vibe-relay hook`: called by Claude Code when an agent starts a helper, edits a file, runs a shell command or shortens its conversation,
//! and when a helper ends. The board may refuse the start and the edit. Must not know how many helpers are allowed, or who holds a file.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use ::mcp::CallError;
use domain::prompt::{Prompt, Prompts};
use runner::backend::hook::{BoardAccess, HookInput, Report, announces_summary, summary_file};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::{logging, output};

/// How long to wait for the board. The agent waits meanwhile.
#[derive(Debug, Clone, Copy)]
struct HookTimeouts {
    /// Time before a start is refused, and again to cancel a start that may have been counted.
    start: Duration,
    /// Time to report an end. An unreported helper counts until the run ends.
    end: Duration,
}

/// Claude Code's own limit for a hook is longer.
const TIMEOUTS: HookTimeouts = HookTimeouts { start: Duration::from_secs(5), end: Duration::from_secs(12) };

/// Reads the hook input from standard input, reports it to the board, and prints a refusal if the board refuses.
///
/// # Errors
/// When the run's configuration or the hook input cannot be read. Claude Code then blocks a start.
pub(crate) async fn run(mcp_config: &Path) -> Result<(), CliError> {
    // Standard output holds only the answer.
    logging::start("warn");
    let mut given = String::new();
    std::io::stdin().read_to_string(&mut given).map_err(CliError::io("read the hook input"))?;
    if announces_summary(&given) {
        output::line(summary(mcp_config)?.trim_end());
        return Ok(());
    }
    let text = std::fs::read_to_string(mcp_config).map_err(CliError::io(format!("read {}", mcp_config.display())))?;
    let access = BoardAccess::read(&text).map_err(|source| CliError::InvalidHookInput { what: mcp_config.display().to_string(), source })?;
    let occasion = HookInput::read(&given).map_err(|source| CliError::InvalidHookInput { what: "standard input".to_owned(), source })?;
    let response = match occasion.edits(&|path| Path::new(path).is_dir()) {
        Some(files) => edit_response(&access, &occasion, files, TIMEOUTS.start).await,
        None => hook_response(&access, &occasion, TIMEOUTS).await,
    };
    if let Some(response) = response {
        output::line(response);
    }
    Ok(())
}

/// The text that tells the agent how to shorten its conversation.
fn summary(mcp_config: &Path) -> Result<String, CliError> {
    let file = summary_file(mcp_config);
    match std::fs::read_to_string(&file) {
        // A run that an earlier version started has no such file.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Prompts::default().text(Prompt::Compact).to_owned()),
        text => text.map_err(CliError::io(format!("read {}", file.display()))),
    }
}

/// The answer about changes of files: nothing if the agent may make them and there is nothing to say. Without the board, no edit is safe. A
/// command runs all the same, because agents go on while the server restarts; its files are compared when the work is submitted.
async fn edit_response(access: &BoardAccess, occasion: &HookInput, files: Vec<(String, String)>, timeout: Duration) -> Option<Value> {
    let mut warnings = Vec::new();
    for (path, call_id) in files {
        match ::mcp::call_tool(&access.database, &access.token, "claim_file", json!({"file_path": path}), &call_id, timeout).await {
            Ok(warning) => warnings.extend(Some(warning).filter(|warning| !warning.trim().is_empty())),
            Err(CallError::NoAnswer(_)) if occasion.is_command() => break,
            Err(error) => return occasion.refusal(&error.to_string()),
        }
    }
    (!warnings.is_empty()).then(|| occasion.note(&warnings.join("\n")))
}

/// The answer for Claude Code, if it needs one.
async fn hook_response(access: &BoardAccess, occasion: &HookInput, timeouts: HookTimeouts) -> Option<Value> {
    let report = occasion.report()?;
    let withdrawal = occasion.cancel_report();
    let error = report_to_board(access, report, if withdrawal.is_some() { timeouts.start } else { timeouts.end }).await.err()?;
    match (&error, withdrawal) {
        // The start may have been counted, but no helper starts.
        (CallError::NoAnswer(_), Some(withdrawal)) => {
            if let Err(error) = report_to_board(access, withdrawal, timeouts.start).await {
                tracing::warn!(%error, "the start of a helper was refused but may have been counted");
            }
        }
        (CallError::Refused(_), Some(_)) => {}
        (_, None) => tracing::warn!(%error, "the end of a helper was not counted"),
    }
    occasion.refusal(&error.to_string())
}

async fn report_to_board(access: &BoardAccess, report: Report, timeout: Duration) -> Result<String, CallError> {
    let Report { status, task_description, result, tool_use_id, call_id } = report;
    let result = result.unwrap_or_default();
    let arguments = json!({"task_description": task_description, "status": status, "result": result, "tool_use_id": tool_use_id});
    ::mcp::call_tool(&access.database, &access.token, "log_minion", arguments, &call_id, timeout).await
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    const SHORT: Duration = Duration::from_millis(600);

    async fn without_a_board(moment: &str) -> Option<Value> {
        let folder = tempfile::tempdir().unwrap();
        let access = BoardAccess { database: folder.path().join("board.db"), token: "t".to_owned() };
        let given = json!({"hook_event_name": moment, "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"description": "Look"}});
        hook_response(&access, &HookInput::read(&given.to_string()).unwrap(), HookTimeouts { start: SHORT, end: SHORT }).await
    }

    /// Runs the hook against a board that receives reports but never responds. Returns the reports.
    async fn reports_to_silent_board(moment: &str) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let access = BoardAccess { database: folder.path().join("board.db"), token: "t".to_owned() };
        let (_socket, board) = ::mcp::server_socket::bind(&access.database).unwrap();
        let mut told = Vec::new();
        let listening = async {
            loop {
                let (mut connection, _) = board.accept().await.unwrap();
                let mut request = Vec::new();
                let body = loop {
                    connection.read_buf(&mut request).await.unwrap();
                    let text = String::from_utf8_lossy(&request);
                    let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str::<Value>(body).ok());
                    if let Some(body) = body {
                        break body["params"]["arguments"].clone();
                    }
                };
                // The hook repeats a report while it gets no response.
                if told.last() != Some(&body) {
                    told.push(body);
                }
            }
        };
        let given = json!({"hook_event_name": moment, "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"description": "Look"}});
        let occasion = HookInput::read(&given.to_string()).unwrap();
        tokio::select! {
            () = listening => {}
            _ = hook_response(&access, &occasion, HookTimeouts { start: SHORT, end: SHORT }) => {}
        }
        told
    }

    #[test]
    fn built_in_summary_replaces_only_a_missing_file() {
        let folder = tempfile::tempdir().unwrap();
        let mcp_config = folder.path().join("mcp.json");
        assert_eq!(summary(&mcp_config).unwrap(), Prompts::default().text(Prompt::Compact));
        let file = summary_file(&mcp_config);
        std::fs::write(&file, "Mine.").unwrap();
        assert_eq!(summary(&mcp_config).unwrap(), "Mine.");
        std::fs::write(&file, b"\xff").unwrap();
        assert!(summary(&mcp_config).unwrap_err().to_string().contains(&file.display().to_string()));
    }

    #[tokio::test]
    async fn start_with_lost_response_is_cancelled() {
        let told = reports_to_silent_board("PreToolUse").await;
        let of = |body: &Value| (body["tool_use_id"].clone(), body["status"].clone(), body["task_description"].clone());
        let told: Vec<_> = told.iter().map(of).collect();
        assert_eq!(told, ["spawned", "failed"].map(|status| ("toolu_1".into(), status.into(), "Look".into())));
        let told: Vec<Value> = reports_to_silent_board("PostToolUse").await.into_iter().map(|body| body["status"].clone()).collect();
        assert_eq!(told, ["completed"]);
    }

    #[tokio::test]
    async fn command_runs_without_a_board_and_an_edit_is_denied() {
        let folder = tempfile::tempdir().unwrap();
        let access = BoardAccess { database: folder.path().join("board.db"), token: "t".to_owned() };
        let response = async |tool: &str, input: Value| {
            let given = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": "toolu_1", "cwd": "/w", "tool_input": input});
            let occasion = HookInput::read(&given.to_string()).unwrap();
            let files = occasion.edits(&|_| false).unwrap();
            assert_eq!(files.len(), 1);
            edit_response(&access, &occasion, files, SHORT).await
        };
        assert_eq!(response("Bash", json!({"command": "echo a > b.txt"})).await, None);
        assert!(response("Edit", json!({"file_path": "/w/b.txt"})).await.is_some());
    }

    #[tokio::test]
    async fn start_is_denied_without_a_board() {
        let refusal = without_a_board("PreToolUse").await.unwrap();
        let decision = &refusal["hookSpecificOutput"];
        assert_eq!(decision["permissionDecision"], "deny");
        assert!(decision["permissionDecisionReason"].as_str().unwrap().starts_with("the board is not running: "), "{decision}");
        assert_eq!(without_a_board("PostToolUse").await, None);
    }
}
