//! Whether agents can be started at all, found out before any card moves.

use std::path::PathBuf;
use std::time::Duration;

use domain::config::Config;
use domain::runs::parking::ParkReason;

use crate::process::{find_program, probe};

/// Why no agent can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    pub reason: ParkReason,
    pub detail: String,
}

/// Variables that sign an agent in without the program's own sign-in.
const CREDENTIALS: &[&str] = &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];
const PATIENCE: Duration = Duration::from_secs(15);

/// The absolute path of the agents' program.
///
/// # Errors
/// When there is no such program.
pub fn program(config: &Config) -> Result<PathBuf, Obstacle> {
    let name = config.agent_command.first().map_or("", String::as_str);
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_program(name, &path)
        .ok_or_else(|| Obstacle { reason: ParkReason::ProgramMissing, detail: format!("There is no program \"{name}\" in PATH.") })
}

/// Looks for everything that would make every agent fail in the same way.
///
/// # Errors
/// The first obstacle.
pub async fn preflight(config: &Config) -> Result<(), Obstacle> {
    let program = program(config)?;
    // What follows is known of Claude Code alone.
    if program.file_name().is_none_or(|name| name != "claude") {
        return Ok(());
    }
    if nix::unistd::geteuid().is_root() && std::env::var_os("IS_SANDBOX").is_none() {
        let detail = "vibe-relay runs as root, and Claude Code does not work unattended as root outside a sandbox.".to_owned();
        return Err(Obstacle { reason: ParkReason::RootRefused, detail });
    }
    let phases = [&config.agents.planner, &config.agents.coder, &config.agents.reviewer, &config.agents.orchestrator];
    if phases.iter().any(|agent| CREDENTIALS.iter().any(|name| agent.env.contains_key(*name))) {
        return Ok(());
    }
    let Ok(answer) = probe(&program, &["auth", "status"], PATIENCE).await else { return Ok(()) };
    // Another version may answer in other words; only a clear no is taken for one.
    let signed_in = serde_json::from_str::<serde_json::Value>(&answer.stdout).ok().and_then(|status| status["loggedIn"].as_bool());
    if signed_in == Some(false) {
        let detail = format!("`{} auth status` says that nobody is signed in.", program.display());
        return Err(Obstacle { reason: ParkReason::SignedOut, detail });
    }
    Ok(())
}
