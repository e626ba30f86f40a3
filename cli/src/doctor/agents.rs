//! The checks of what agents need besides a server: programs, sign-in, sandbox, space and a repository.

use domain::config::Config;
use domain::runs::parking::ParkReason;
use domain::runs::sandbox::SandboxTier;
use runner::backend::{self, SignInState, VersionSupport};
use runner::jail::choice::SandboxChoice;
use runner::preflight::PreflightFailure;
use runner::process::Version;
use runner::{free_space, preflight, process};
use tokio::task::spawn_blocking;

use super::{Check, CheckResult, check};
use crate::settings;

const MIN_GIT_VERSION: [u32; 3] = [2, 20, 0];

/// Checks everything that agents need.
pub(super) async fn checks(config: &Config, sandbox: &SandboxChoice) -> Vec<Check> {
    vec![
        check("git", git().await),
        check("agent", agent(config).await),
        check("sign-in", sign_in(config, preflight::preflight(config, sandbox).await).await),
        check("settings", user_settings(config)),
        check("sandbox", sandbox_result(sandbox)),
        check("repository", repository(config).await),
        check("disk", disk(config).await),
    ]
}

async fn git() -> CheckResult {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = process::find_program("git", &path) else {
        return CheckResult::Failure("git was not found in PATH. Install git, because agents commit with it.".to_owned());
    };
    match process::version(&program).await {
        Some(Version { numbers, text }) if numbers >= MIN_GIT_VERSION => CheckResult::Ok(text),
        Some(Version { text, .. }) => {
            CheckResult::Warning(format!("{text} is old; update git to 2.20 or newer, because agents may use commands that it lacks"))
        }
        None => CheckResult::Failure(format!("{} does not answer `--version`; install git again", program.display())),
    }
}

async fn agent(config: &Config) -> CheckResult {
    let program = match preflight::program(config) {
        Ok(program) => program,
        Err(failure) => return CheckResult::Failure(failure.detail),
    };
    let Some(found) = process::version(&program).await else {
        return CheckResult::Warning(format!("{} does not print its version; run it once in a terminal to see why", program.display()));
    };
    match backend::version_support(&found) {
        VersionSupport::Tested => CheckResult::Ok(format!("{} ({})", program.display(), found.text)),
        VersionSupport::Newer(detail) => CheckResult::Warning(detail),
        VersionSupport::TooOld(detail) => CheckResult::Failure(detail),
    }
}

/// Describes the sign-in as far as it is known. Nothing is asked that costs money, so a key is never proved here.
async fn sign_in(config: &Config, preflight: Result<(), PreflightFailure>) -> CheckResult {
    match preflight {
        Err(failure) if failure.reason == ParkReason::ProgramMissing => {
            return CheckResult::Warning("not checked, because the agent program is missing; install it first".to_owned());
        }
        // The version, space and the sandbox have lines of their own.
        Err(failure) if !matches!(failure.reason, ParkReason::ProgramTooOld | ParkReason::Sandbox | ParkReason::DiskFull) => {
            return CheckResult::Failure(failure.detail);
        }
        Ok(()) | Err(_) => {}
    }
    let program = match preflight::program(config) {
        Ok(program) if backend::needs_sign_in(&program) => program,
        Ok(program) => return CheckResult::Ok(format!("{} needs none", program.display())),
        Err(failure) => return CheckResult::Failure(failure.detail),
    };
    // Whether root is refused depends on the sandbox, and the preflight said so if it is settled.
    match backend::check_sign_in(&program, config, SandboxTier::Jail).await {
        Ok(()) => sign_in_result(backend::sign_in_state(&program, config).await),
        Err((reason, finding)) => CheckResult::Failure(format!("{finding} {}", backend::parking_hint(reason).unwrap_or_default())),
    }
}

fn sign_in_result(state: SignInState) -> CheckResult {
    match state {
        SignInState::Account(detail) => CheckResult::Ok(detail),
        SignInState::Unverified(detail) => CheckResult::Warning(format!("not verified: {detail}")),
        SignInState::Malformed(detail) => CheckResult::Failure(detail),
    }
}

/// Settings of Claude Code outside of this program that change how agents work.
fn user_settings(config: &Config) -> CheckResult {
    let Ok(home) = settings::home() else { return CheckResult::Warning("not checked, because HOME is not set; set it".to_owned()) };
    let found = backend::settings_for_agents(config, &home);
    if found.is_empty() {
        return CheckResult::Ok("none outside of vibe-relay apply to agents".to_owned());
    }
    CheckResult::Warning(format!("{}. Set \"agents.PHASE.settings\" to \"none\" to exclude yours", found.join("; ")))
}

fn sandbox_result(choice: &SandboxChoice) -> CheckResult {
    match choice {
        SandboxChoice::Run(tier @ SandboxTier::None) => {
            CheckResult::Warning(format!("{tier}: {}, as you chose; set \"sandbox\" to \"jail\" to protect this machine", tier.sentence()))
        }
        SandboxChoice::Run(tier) => CheckResult::Ok(format!("{tier}: {}", tier.sentence())),
        SandboxChoice::Unprotected { cure } => CheckResult::Warning(format!("none: {}. {cure}", SandboxTier::None.sentence())),
        SandboxChoice::Unavailable { detail } | SandboxChoice::Undecided { detail, .. } => CheckResult::Failure(detail.clone()),
    }
}

/// The repository that new projects use.
async fn repository(config: &Config) -> CheckResult {
    let Some(path) = config.repo_path.clone() else {
        return CheckResult::Warning("this folder is not in a repository, and none is configured; choose one in the dialog New project".to_owned());
    };
    let base = config.base_branch.clone();
    let found = spawn_blocking(move || repo::probe(&path, base.as_deref())).await;
    match found {
        Ok(Ok(found)) => CheckResult::Ok(format!("{}, base branch {}", found.repo_path, found.base_branch)),
        Ok(Err(error)) => CheckResult::Failure(format!("{error}. {}", error.hint())),
        Err(crashed) => CheckResult::Failure(format!("the repository could not be examined: {crashed}")),
    }
}

/// The space on the disks of worktrees and database.
async fn disk(config: &Config) -> CheckResult {
    match free_space::shortage(config).await {
        Some(shortage) => CheckResult::Failure(shortage),
        None => CheckResult::Ok("enough space for worktrees and the database".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    fn line(result: CheckResult) -> String {
        let Check { result, detail, .. } = check("line", result);
        format!("{result} {detail}")
    }

    /// A program that answers `--version` and `auth status` with these lines.
    fn program(folder: &Path, version: &str, status: &str) -> Config {
        let path = folder.join("claude");
        std::fs::write(&path, format!("#!/bin/sh\ncase $1 in --version) echo '{version}';; *) echo '{status}';; esac\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Config { agent_command: vec![path.display().to_string()], ..Config::default() }
    }

    #[tokio::test]
    async fn version_of_the_agent_program_is_judged() {
        let folder = tempfile::tempdir().unwrap();
        for (version, expected) in [
            ("2.1.330 (Claude Code)", "ok "),
            ("2.1.100 (Claude Code)", "fix 2.1.100 (Claude Code) has known security holes"),
            ("9.0.0 (Claude Code)", "note 9.0.0 (Claude Code) is newer than 2.1.330"),
            ("nothing", "note "),
        ] {
            let found = line(agent(&program(folder.path(), version, "{}")).await);
            assert!(found.starts_with(expected), "{version}: {found}");
        }
        let missing = Config { agent_command: vec!["no-such-program".to_owned()], ..Config::default() };
        assert!(line(agent(&missing).await).contains("npm install -g"), "a missing program has its command");
    }

    #[test]
    fn only_an_account_is_a_verified_sign_in() {
        for (state, expected) in [
            (SignInState::Account("signed in with claude.ai".to_owned()), "ok signed in"),
            (SignInState::Unverified("a key".to_owned()), "note not verified: a key"),
            (SignInState::Malformed("a dummy".to_owned()), "fix a dummy"),
        ] {
            assert!(line(sign_in_result(state)).starts_with(expected));
        }
    }

    #[tokio::test]
    async fn sign_in_that_prevents_every_run_is_a_failure() {
        let failure = |reason| Err(PreflightFailure { reason, detail: "the reason".to_owned() });
        let folder = tempfile::tempdir().unwrap();
        let config = program(folder.path(), "2.1.330 (Claude Code)", r#"{"loggedIn":false,"authMethod":"none"}"#);
        for (reason, expected) in [
            (ParkReason::SignedOut, "fix the reason"),
            (ParkReason::RootRefused, "fix the reason"),
            (ParkReason::ProgramMissing, "note not checked, because the agent program is missing"),
            (ParkReason::Sandbox, "fix `"),
            (ParkReason::DiskFull, "fix `"),
        ] {
            let found = line(sign_in(&config, failure(reason)).await);
            assert!(found.starts_with(expected), "{reason}: {found}");
        }
        let other = Config { agent_command: vec!["sh".to_owned()], ..Config::default() };
        assert!(line(sign_in(&other, Ok(())).await).ends_with("needs none"));
    }

    #[test]
    fn every_tier_and_every_obstacle_has_a_line() {
        for (choice, expected) in [
            (SandboxChoice::Run(SandboxTier::Jail), "ok jail: "),
            (SandboxChoice::Run(SandboxTier::None), "note none: "),
            (SandboxChoice::Unprotected { cure: "Install it.".to_owned() }, "note none: "),
            (SandboxChoice::Unavailable { detail: "bubblewrap failed".to_owned() }, "fix bubblewrap failed"),
            (SandboxChoice::Undecided { detail: "Choose".to_owned(), choices: Vec::new() }, "fix Choose"),
        ] {
            assert!(line(sandbox_result(&choice)).starts_with(expected), "{choice:?}");
        }
    }

    #[tokio::test]
    async fn repository_that_cannot_be_used_is_named_with_the_remedy() {
        let sample = repo::testing::TestRepository::new();
        let empty = tempfile::tempdir().unwrap();
        let config =
            |path: &Path, base: Option<&str>| Config { repo_path: Some(path.to_owned()), base_branch: base.map(str::to_owned), ..Config::default() };
        assert!(line(repository(&config(sample.top(), None)).await).starts_with("ok "));
        for broken in [config(sample.top(), Some("missing")), config(empty.path(), None), config(Path::new("/nonexistent"), None)] {
            let found = line(repository(&broken).await);
            assert!(found.starts_with("fix ") && found.len() > 40, "{found}");
        }
        assert!(line(repository(&Config::default()).await).starts_with("note "));
    }
}
