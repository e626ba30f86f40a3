//! `vibe-relay doctor`: checks everything that agents need. Must not change anything; a running board repairs its token file itself.

mod agents;
mod board;
mod check;
pub(crate) mod start;

use std::path::Path;
use std::process::ExitCode;

use domain::config::Config;
use domain::runs::sandbox::SandboxTier;
use runner::jail::choice::choose;

use self::board::Board;
use self::check::{Check, CheckResult, check};
use crate::error::CliError;
use crate::folders::Folders;
use crate::{output, settings};

/// Prints the result of every check. The exit code is a failure if agents cannot run.
///
/// # Errors
/// When no configuration can be looked for.
pub(crate) async fn run(named: Option<&Path>) -> Result<ExitCode, CliError> {
    let checks = examine(named).await?;
    output::data(&checks, |checks| checks.iter().flat_map(|check| check.lines(output::width())).for_each(output::line));
    Ok(if checks.iter().any(Check::is_failure) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn examine(named: Option<&Path>) -> Result<Vec<Check>, CliError> {
    let file = settings::file(named)?;
    let mut checks = vec![check("folders", CheckResult::Ok(folders(&Folders::find()?)))];
    let (config, read) = start::configuration(file.as_deref())?;
    checks.extend(read);
    let board = Board::find(&config).await;
    checks.extend(start::checks(&config, None, board.port()).await);
    // A running board knows what the owner chose in its dialog.
    let chosen = board.info().and_then(|info| info.sandbox.as_ref()?.tier);
    checks.extend(agents::checks(&config, &choose(&config, chosen).await).await);
    checks.push(check("repository", agents::repository(&config).await));
    let of_board = board.checks(&config, &checks);
    checks.extend(of_board);
    Ok(checks)
}

/// Everything that keeps agents from starting on this machine, as the start of a server says it. `chosen` is the sandbox that the owner chose
/// on the board.
pub(crate) async fn obstacles(config: &Config, chosen: Option<SandboxTier>) -> Vec<Check> {
    let checks = agents::checks(config, &choose(config, chosen).await).await;
    checks.into_iter().filter(Check::is_failure).collect()
}

fn folders(folders: &Folders) -> String {
    let Folders { config, data, state } = folders;
    if folders.is_single() {
        return format!("{} holds everything, as in older installations", data.display());
    }
    format!("configuration {}, data {}, state {}", config.display(), data.display(), state.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn obstacles_are_the_failures_alone() {
        let config = Config { agent_command: vec!["/nonexistent/agent".to_owned()], sandbox: Some(SandboxTier::None), ..Config::default() };
        let found = obstacles(&config, None).await;
        assert!(found.iter().all(Check::is_failure));
        assert!(found.iter().any(|check| check.sentence().contains("does not exist or is not executable. Install it with")), "{found:?}");
    }

    #[tokio::test]
    async fn broken_configuration_does_not_hide_the_other_checks() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        let paths = r#""db_path": "data/board.db", "worktrees_path": "trees", "agent_command": ["/nonexistent/agent"], "sandbox": "none""#;
        for (broken, word) in [(format!(r#"{{"port": "x", {paths}}}"#), "port"), (format!(r#"{{"prompts_path": "gone", {paths}}}"#), "gone")] {
            std::fs::write(&file, &broken).unwrap();
            let checks = examine(Some(&file)).await.unwrap();
            let line = |name: &str| checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("{name}: {checks:?}"));
            assert!(checks.iter().any(|check| check.is_failure() && ["config", "prompts"].contains(&check.name) && check.detail.contains(word)));
            assert!(line("database").detail.contains("data/board.db"), "the valid keys apply: {checks:?}");
            assert!(line("agent").detail.contains("/nonexistent/agent"));
            for name in ["folders", "data", "git", "sign-in", "sandbox", "repository", "disk", "board"] {
                line(name);
            }
        }
    }
}
