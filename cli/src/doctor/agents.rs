//! The checks of what agents need besides a server: programs, sign-in, sandbox, space and a repository.

use std::path::Path;

use domain::config::Config;
use domain::runs::parking::ParkReason;
use domain::runs::sandbox::SandboxTier;
use runner::backend::{self, SignInState, VersionSupport};
use runner::jail::choice::SandboxChoice;
use runner::preflight::PreflightFailure;
use runner::process::{Version, VersionFailure};
use runner::{free_space, preflight, process};
use tokio::task::spawn_blocking;

use super::check::{Check, CheckResult, check};
use crate::settings;

const MIN_GIT_VERSION: [u32; 3] = [2, 20, 0];

/// Checks everything that agents need on this machine.
pub(super) async fn checks(config: &Config, sandbox: &SandboxChoice) -> Vec<Check> {
    let agent = check("agent", agent(config).await);
    // One that does not answer would be waited for again.
    let sign_in = if agent.is_failure() {
        CheckResult::warning("the sign-in is not checked, because the agent program cannot be used", "make the agent program work first")
    } else {
        sign_in(config, preflight::preflight(config, sandbox).await).await
    };
    vec![
        check("git", git().await),
        agent,
        check("sign-in", sign_in),
        check("settings", user_settings(config)),
        check("sandbox", sandbox_result(sandbox)),
        check("disk", disk(config).await),
    ]
}

async fn git() -> CheckResult {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = process::find_program("git", &path) else {
        return CheckResult::failure("git was not found in PATH, and agents commit with it", "install git");
    };
    match process::version(&program).await {
        Ok(Version { numbers, text }) if numbers >= MIN_GIT_VERSION => CheckResult::Ok(text),
        Ok(Version { text, .. }) => {
            CheckResult::warning(format!("{text} is old, and agents may use commands that it lacks"), "update git to 2.20 or newer")
        }
        Err(failure) => CheckResult::failure(format!("{}: {failure}", program.display()), "install git again"),
    }
}

/// The agent program and its version.
pub(super) async fn agent(config: &Config) -> CheckResult {
    let program = match preflight::program(config) {
        Ok(program) => program,
        Err(failure) => return preflight_failure(failure),
    };
    match process::version(&program).await {
        Ok(found) => match backend::version_support(&found) {
            VersionSupport::Tested => CheckResult::Ok(format!("{} ({})", program.display(), found.text)),
            VersionSupport::Newer { problem, fix } => CheckResult::warning(problem, fix),
            VersionSupport::TooOld { problem, fix } => CheckResult::failure(problem, fix),
        },
        Err(failure) => version_failure(&program, &failure),
    }
}

/// Claude Code that does not print its version works for no agent. A program of one's own does not have to print one.
fn version_failure(program: &Path, failure: &VersionFailure) -> CheckResult {
    let problem = format!("{}: {failure}", program.display());
    let fix = "run `claude --version` in a terminal to see why, or install it again";
    if backend::needs_sign_in(program) { CheckResult::failure(problem, fix) } else { CheckResult::Warning { problem, fix: None } }
}

fn preflight_failure(PreflightFailure { finding, hint, .. }: PreflightFailure) -> CheckResult {
    CheckResult::Failure { problem: finding, fix: hint.map(str::to_owned) }
}

/// Describes the sign-in as far as it is known. Nothing is asked that costs money, so a key is never proved here.
async fn sign_in(config: &Config, preflight: Result<(), PreflightFailure>) -> CheckResult {
    match preflight {
        // The version, space and the sandbox have lines of their own.
        Err(failure) if !matches!(failure.reason, ParkReason::ProgramTooOld | ParkReason::Sandbox | ParkReason::DiskFull) => {
            return preflight_failure(failure);
        }
        Ok(()) | Err(_) => {}
    }
    let program = match preflight::program(config) {
        Ok(program) if backend::needs_sign_in(&program) => program,
        Ok(program) => return CheckResult::Ok(format!("{} needs none", program.display())),
        Err(failure) => return preflight_failure(failure),
    };
    // Whether root is refused depends on the sandbox, and the preflight said so if it is settled.
    match backend::check_sign_in(&program, config, SandboxTier::Jail).await {
        Ok(()) => sign_in_result(backend::sign_in_state(&program, config).await),
        Err((reason, finding)) => CheckResult::Failure { problem: finding, fix: backend::parking_hint(reason).map(str::to_owned) },
    }
}

fn sign_in_result(state: SignInState) -> CheckResult {
    match state {
        SignInState::Account(detail) => CheckResult::Ok(detail),
        SignInState::Unverified(detail) => CheckResult::Warning { problem: format!("not verified: {detail}"), fix: None },
        SignInState::Malformed { problem, fix } => CheckResult::failure(problem, fix),
    }
}

/// Settings of Claude Code outside of this program that change how agents work.
fn user_settings(config: &Config) -> CheckResult {
    let Ok(home) = settings::home() else {
        return CheckResult::warning("your settings of Claude Code are not checked, because HOME is not set", "set HOME");
    };
    let found = backend::settings_for_agents(config, &home);
    if found.is_empty() {
        return CheckResult::Ok("agents work without settings of your own or of your organization".to_owned());
    }
    CheckResult::warning(found.join("; "), "if you do not want that, set \"agents.PHASE.settings\" to \"none\", which excludes yours")
}

fn sandbox_result(choice: &SandboxChoice) -> CheckResult {
    match choice {
        SandboxChoice::Run(tier @ SandboxTier::None) => {
            CheckResult::warning(format!("{tier}: {}, as you chose", tier.sentence()), "set \"sandbox\" to \"jail\" to protect this machine")
        }
        SandboxChoice::Run(tier) => CheckResult::Ok(format!("{tier}: {}", tier.sentence())),
        SandboxChoice::Unprotected(finding) => {
            CheckResult::warning(format!("none: {}. {}", SandboxTier::None.sentence(), finding.problem), finding.cure.clone())
        }
        SandboxChoice::Unavailable(finding) | SandboxChoice::Undecided { finding, .. } => {
            CheckResult::failure(finding.problem.clone(), finding.cure.clone())
        }
    }
}

/// The repository that new projects use.
pub(super) async fn repository(config: &Config) -> CheckResult {
    let Some(path) = config.repo_path.clone() else {
        return CheckResult::warning("this folder is not in a repository, and none is configured", "choose one in the dialog New project");
    };
    let base = config.base_branch.clone();
    let found = spawn_blocking(move || repo::probe(&path, base.as_deref())).await;
    match found {
        Ok(Ok(found)) => CheckResult::Ok(format!("{}, base branch {}", found.repo_path, found.base_branch)),
        Ok(Err(error)) => CheckResult::failure(error.to_string(), error.hint()),
        Err(crashed) => CheckResult::explained_failure(format!("the repository could not be examined: {crashed}")),
    }
}

/// The space on the disks of worktrees and database.
async fn disk(config: &Config) -> CheckResult {
    match free_space::shortage(config).await {
        Some(shortage) => CheckResult::failure(shortage, "free space there, or lower \"min_free_disk_mib\""),
        None => CheckResult::Ok("enough space for worktrees and the database".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use runner::jail::choice::SandboxFinding;

    use super::*;

    fn line(result: CheckResult) -> String {
        let found = check("line", result);
        format!("{} {}", found.result, found.sentence())
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
            ("nothing", "fix "),
        ] {
            let found = line(agent(&program(folder.path(), version, "{}")).await);
            assert!(found.starts_with(expected), "{version}: {found}");
        }
        let missing = Config { agent_command: vec!["no-such-program".to_owned()], ..Config::default() };
        assert!(line(agent(&missing).await).contains("npm install -g"), "a missing program has its command");
    }

    #[tokio::test]
    async fn claude_that_cannot_run_is_a_failure_and_is_not_asked_for_its_sign_in() {
        let folder = tempfile::tempdir().unwrap();
        let config = program(folder.path(), "2.1.330 (Claude Code)", "{}");
        let path = folder.path().join("claude");
        for (script, said) in [("echo broken >&2; exit 3", "exit code 3: broken"), ("echo hello", "\"hello\"")] {
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            let checks = checks(&config, &SandboxChoice::Run(SandboxTier::None)).await;
            let line = |name: &str| checks.iter().find(|check| check.name == name).unwrap();
            assert!(line("agent").is_failure() && line("agent").detail.contains(said), "{:?}", line("agent"));
            assert!(line("sign-in").detail.contains("cannot be used"), "{:?}", line("sign-in"));
        }
        let own = folder.path().join("wrapper");
        std::fs::rename(&path, &own).unwrap();
        let own = Config { agent_command: vec![own.display().to_string()], ..Config::default() };
        assert!(line(agent(&own).await).starts_with("note "), "a program of one's own may have no version");
    }

    #[test]
    fn only_an_account_is_a_verified_sign_in() {
        for (state, expected) in [
            (SignInState::Account("signed in with claude.ai".to_owned()), "ok signed in"),
            (SignInState::Unverified("a key".to_owned()), "note not verified: a key"),
            (SignInState::Malformed { problem: "a dummy".to_owned(), fix: "unset it".to_owned() }, "fix a dummy; unset it"),
        ] {
            assert!(line(sign_in_result(state)).starts_with(expected));
        }
    }

    #[tokio::test]
    async fn sign_in_that_prevents_every_run_is_a_failure() {
        let failure = |reason| Err(PreflightFailure { reason, finding: "the reason".to_owned(), hint: None });
        let folder = tempfile::tempdir().unwrap();
        let config = program(folder.path(), "2.1.330 (Claude Code)", r#"{"loggedIn":false,"authMethod":"none"}"#);
        for (reason, expected) in [
            (ParkReason::SignedOut, "fix the reason"),
            (ParkReason::RootRefused, "fix the reason"),
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
        let finding = || SandboxFinding { problem: "bubblewrap failed".to_owned(), cure: "Update it.".to_owned() };
        for (choice, expected) in [
            (SandboxChoice::Run(SandboxTier::Jail), "ok jail: "),
            (SandboxChoice::Run(SandboxTier::None), "note none: "),
            (SandboxChoice::Unprotected(finding()), "note none: "),
            (SandboxChoice::Unavailable(finding()), "fix bubblewrap failed. Update it."),
            (SandboxChoice::Undecided { finding: finding(), choices: Vec::new() }, "fix bubblewrap failed. Update it."),
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
