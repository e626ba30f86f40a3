//! `vibe-relay hook`: what Claude Code starts when an agent starts a helper of its own, and when that helper ends. The board counts them,
//! and may say no. It must not know how many helpers are allowed.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use runner::backend::claude::hook::{Access, Occasion, Report};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::{logging, output};

/// How long the board is waited for: the agent waits meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads on standard input what the agent is about to do or did, tells the board, and prints a refusal where the board refuses.
///
/// # Errors
/// When the run's configuration cannot be read, or what was given on standard input is not understood. A start is then blocked.
pub(crate) async fn run(mcp_config: &Path) -> Result<(), CliError> {
    // Standard output is the answer's.
    logging::start("warn");
    let text = std::fs::read_to_string(mcp_config).map_err(CliError::io(format!("read {}", mcp_config.display())))?;
    let access = Access::read(&text).map_err(|source| CliError::NotOurs { what: mcp_config.display().to_string(), source })?;
    let mut given = String::new();
    std::io::stdin().read_to_string(&mut given).map_err(CliError::io("read what the agent does"))?;
    let occasion = Occasion::read(&given).map_err(|source| CliError::NotOurs { what: "standard input".to_owned(), source })?;
    if let Some(refusal) = answer(&access, &occasion, PATIENCE).await {
        output::line(refusal);
    }
    Ok(())
}

/// What the agent's program is answered, when it is answered anything.
async fn answer(access: &Access, occasion: &Occasion, patience: Duration) -> Option<Value> {
    let Report { status, task_description, result, call_id } = occasion.report()?;
    let arguments = json!({"task_description": task_description, "status": status, "result": result.unwrap_or_default()});
    let told = ::mcp::call_tool(&access.database, &access.token, "log_minion", arguments, &call_id, patience).await;
    let error = told.err()?;
    let refusal = occasion.refusal(&error.to_string());
    if refusal.is_none() {
        tracing::warn!(%error, "the end of a helper was not counted");
    }
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn without_a_board(moment: &str) -> Option<Value> {
        let folder = tempfile::tempdir().unwrap();
        let access = Access { database: folder.path().join("board.db"), token: "t".to_owned() };
        let given = json!({"hook_event_name": moment, "tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": {"description": "Look"}});
        answer(&access, &Occasion::read(&given.to_string()).unwrap(), Duration::from_millis(200)).await
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
