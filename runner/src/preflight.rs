//! Checks whether agents can be started at all, before any card moves.

use std::path::PathBuf;
use std::time::Duration;

use domain::config::Config;
use domain::runs::parking::ParkReason;

use crate::backend;
use crate::free_space;
use crate::jail::choice::SandboxChoice;
use crate::process::find_program;

/// The time between two checks that fail. A check starts no agent.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// Why no agent can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreflightFailure {
    pub reason: ParkReason,
    pub finding: String,
    /// The steps that resolve it, if the finding does not name them.
    pub hint: Option<&'static str>,
}

impl PreflightFailure {
    fn new(reason: ParkReason, finding: impl Into<String>) -> Self {
        Self { reason, finding: finding.into(), hint: backend::parking_hint(reason) }
    }

    /// Returns the finding, and the steps that resolve it.
    pub fn detail(&self) -> String {
        self.hint.map_or_else(|| self.finding.clone(), |hint| format!("{} {hint}", self.finding))
    }
}

/// The absolute path of the agent program.
///
/// # Errors
/// When the program does not exist.
pub fn program(config: &Config) -> Result<PathBuf, PreflightFailure> {
    let name = config.agent_command.first().map_or("", String::as_str);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = || {
        let problem = if name.contains('/') { "does not exist or is not executable" } else { "was not found in PATH" };
        PreflightFailure::new(ParkReason::ProgramMissing, format!("The program \"{name}\" {problem}."))
    };
    find_program(name, &path).ok_or_else(missing)
}

/// Checks everything that would make every agent fail in the same way, in the sandbox that was chosen for them.
///
/// # Errors
/// The first failure.
pub async fn preflight(config: &Config, sandbox: &SandboxChoice) -> Result<(), PreflightFailure> {
    let program = program(config)?;
    backend::check_version(&program).await.map_err(|finding| PreflightFailure::new(ParkReason::ProgramTooOld, finding))?;
    if let Some(detail) = free_space::shortage(config).await {
        return Err(PreflightFailure::new(ParkReason::DiskFull, detail));
    }
    let tier = sandbox.tier().map_err(|detail| PreflightFailure::new(ParkReason::Sandbox, detail))?;
    let checked = backend::check_sign_in(&program, config, tier).await;
    checked.map_err(|(reason, finding)| PreflightFailure::new(reason, finding))
}
