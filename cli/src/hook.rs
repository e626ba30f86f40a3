//! `vibe-relay hook`: what Claude Code starts when an agent starts a helper of its own, and when that helper ends. The board counts them,
//! and may say no. It must not know how many helpers are allowed.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use runner::backend::claude::hook::{Access, Occasion, Report};
use serde_json::json;

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
    let Some(report) = occasion.report() else { return Ok(()) };
    if let Err(error) = tell(&access, report).await {
        match occasion.refusal(&error.to_string()) {
            Some(refusal) => output::line(refusal),
            None => tracing::warn!(%error, "the end of a helper was not counted"),
        }
    }
    Ok(())
}

async fn tell(access: &Access, report: Report) -> Result<(), ::mcp::CallError> {
    let Report { status, task_description, result, call_id } = report;
    let arguments = json!({"task_description": task_description, "status": status, "result": result.unwrap_or_default()});
    ::mcp::call_tool(&access.database, &access.token, "log_minion", arguments, &call_id, PATIENCE).await.map(drop)
}
