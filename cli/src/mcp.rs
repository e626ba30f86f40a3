//! `vibe-relay mcp`: the bridge that an agent's MCP configuration starts. Must not know the protocol.

mod file_pages;

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::id::TaskId;
use mcp::BridgeOptions;
use tokio::time::{Instant, interval_at};

use crate::error::CliError;
use crate::team::{companion, token};
use crate::{dead_drop, logging, output, settings};

/// When the memory of the start is returned: after the first requests of the agent.
const FIRST_RELEASE: Duration = Duration::from_secs(3);
/// How often that of later requests is. A bridge waits for hours beside its agent.
const RELEASE_INTERVAL: Duration = Duration::from_secs(60);

/// Connects standard input and output to the board until the agent closes them.
///
/// # Errors
/// When no token is set and the environment is an agent's, which must not act as the human, or no companion was attached.
pub(crate) async fn run(config: Option<&Path>, task_id: Option<String>, companion: bool, structured: bool) -> Result<(), CliError> {
    // Standard output belongs to the protocol.
    logging::start("warn,rmcp::service=off");
    let task_id = task_id.map(|id| id.parse::<TaskId>()).transpose()?;
    let db_path = match std::env::var_os("VIBE_RELAY_DB") {
        Some(path) => PathBuf::from(path),
        None => settings::config(config)?.db_path,
    };
    let own_token = if companion {
        Some(companion::token(&db_path)?)
    } else {
        let (token, hint) = dead_drop::for_bridge(std::env::var("VIBE_RELAY_TOKEN").ok(), &db_path, dead_drop::variable)?;
        hint.into_iter().for_each(output::hint);
        token
    };
    tokio::spawn(return_memory());
    Ok(::mcp::bridge(BridgeOptions { task_id, db_path, token: own_token, git_dir: token::git_dir_here(), structured }).await?)
}

/// Returns memory that the bridge does not need while it waits, for as long as it runs.
async fn return_memory() {
    let mut ticks = interval_at(Instant::now() + FIRST_RELEASE, RELEASE_INTERVAL);
    loop {
        ticks.tick().await;
        repo::return_freed_memory();
        if let Err(error) = file_pages::release() {
            tracing::debug!(%error, "memory is kept");
            return;
        }
    }
}
