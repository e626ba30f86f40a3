//! `vibe-relay hook`: what Claude Code starts when an agent starts a helper of its own, and when that helper ends. The board counts them,
//! and may say no. It must not know how many helpers are allowed.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use ::mcp::CallError;
use runner::backend::hook::{BoardAccess, HookInput, Report};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::{logging, output};

/// How long the board is waited for: the agent waits meanwhile.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// Before a start is refused, and again for taking back what may have been counted.
    start: Duration,
    /// An end that is not counted keeps a place from the agent until its run is over.
    end: Duration,
}

/// Together less than what the agent's program allows a hook.
const PATIENCE: Patience = Patience { start: Duration::from_secs(5), end: Duration::from_secs(12) };

/// Reads on standard input what the agent is about to do or did, tells the board, and prints a refusal where the board refuses.
///
/// # Errors
/// When the run's configuration cannot be read, or what was given on standard input is not understood. A start is then blocked.
pub(crate) async fn run(mcp_config: &Path) -> Result<(), CliError> {
    // Standard output is the answer's.
    logging::start("warn");
    let text = std::fs::read_to_string(mcp_config).map_err(CliError::io(format!("read {}", mcp_config.display())))?;
    let access = BoardAccess::read(&text).map_err(|source| CliError::NotOurs { what: mcp_config.display().to_string(), source })?;
    let mut given = String::new();
    std::io::stdin().read_to_string(&mut given).map_err(CliError::io("read what the agent does"))?;
    let occasion = HookInput::read(&given).map_err(|source| CliError::NotOurs { what: "standard input".to_owned(), source })?;
    if let Some(refusal) = answer(&access, &occasion, PATIENCE).await {
        output::line(refusal);
    }
    Ok(())
}

/// What the agent's program is answered, when it is answered anything.
async fn answer(access: &BoardAccess, occasion: &HookInput, patience: Patience) -> Option<Value> {
    let report = occasion.report()?;
    let withdrawal = occasion.cancel_report();
    let error = tell(access, report, if withdrawal.is_some() { patience.start } else { patience.end }).await.err()?;
    match (&error, withdrawal) {
        // It may have been counted, and nothing begins now.
        (CallError::NoAnswer(_), Some(withdrawal)) => {
            if let Err(error) = tell(access, withdrawal, patience.start).await {
                tracing::warn!(%error, "the start of a helper may have been counted, and was refused");
            }
        }
        (CallError::Refused(_), Some(_)) => {}
        (_, None) => tracing::warn!(%error, "the end of a helper was not counted"),
    }
    occasion.refusal(&error.to_string())
}

async fn tell(access: &BoardAccess, report: Report, patience: Duration) -> Result<String, CallError> {
    let Report { status, task_description, result, tool_use_id, call_id } = report;
    let result = result.unwrap_or_default();
    let arguments = json!({"task_description": task_description, "status": status, "result": result, "tool_use_id": tool_use_id});
    ::mcp::call_tool(&access.database, &access.token, "log_minion", arguments, &call_id, patience).await
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    const SHORT: Duration = Duration::from_millis(200);

    async fn without_a_board(moment: &str) -> Option<Value> {
        let folder = tempfile::tempdir().unwrap();
        let access = BoardAccess { database: folder.path().join("board.db"), token: "t".to_owned() };
        let given = json!({"hook_event_name": moment, "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"description": "Look"}});
        answer(&access, &HookInput::read(&given.to_string()).unwrap(), Patience { start: SHORT, end: SHORT }).await
    }

    /// A board that takes what it is told and loses every answer. Answers what it was told.
    async fn losing_its_answers(moment: &str) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let access = BoardAccess { database: folder.path().join("board.db"), token: "t".to_owned() };
        let board = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", board.local_addr().unwrap());
        let file = ::mcp::server_file::ServerFile { url, epoch: "e".to_owned(), pid: std::process::id() };
        ::mcp::server_file::write(&access.database, &file).unwrap();
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
                // It is asked again while nobody answers.
                if told.last() != Some(&body) {
                    told.push(body);
                }
            }
        };
        let given = json!({"hook_event_name": moment, "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"description": "Look"}});
        let occasion = HookInput::read(&given.to_string()).unwrap();
        tokio::select! {
            () = listening => {}
            _ = answer(&access, &occasion, Patience { start: SHORT, end: SHORT }) => {}
        }
        told
    }

    #[tokio::test]
    async fn a_start_whose_answer_was_lost_is_taken_back() {
        let told = losing_its_answers("PreToolUse").await;
        let of = |body: &Value| (body["tool_use_id"].clone(), body["status"].clone(), body["task_description"].clone());
        let told: Vec<_> = told.iter().map(of).collect();
        assert_eq!(told, ["spawned", "failed"].map(|status| ("toolu_1".into(), status.into(), "Look".into())));
        let told: Vec<Value> = losing_its_answers("PostToolUse").await.into_iter().map(|body| body["status"].clone()).collect();
        assert_eq!(told, ["completed"]);
    }

    #[tokio::test]
    async fn no_helper_starts_while_nobody_can_count_it() {
        let refusal = without_a_board("PreToolUse").await.unwrap();
        let decision = &refusal["hookSpecificOutput"];
        assert_eq!(decision["permissionDecision"], "deny");
        assert!(decision["permissionDecisionReason"].as_str().unwrap().starts_with("the board is not running: "), "{decision}");
        assert_eq!(without_a_board("PostToolUse").await, None);
    }
}
