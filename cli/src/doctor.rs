//! `vibe-relay doctor`: checks everything that agents need. Must not change anything.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use domain::config::Config;
use domain::runs::parking::ParkReason;
use domain::runs::sandbox::SandboxTier;
use domain::wire::ServerInfo;
use mcp::server_file::{self, ServerFile};
use runner::jail::choice::{SandboxChoice, choose};
use runner::{backend, free_space, preflight, process};
use serde::Serialize;
use tokio::task::spawn_blocking;

use crate::client::Client;
use crate::error::{CliError, full_text};
use crate::{output, settings};

const MIN_GIT_VERSION: [u32; 3] = [2, 20, 0];
const PROBE_TIMEOUT: Duration = Duration::from_secs(15);

/// The result of one check, with its explanation.
enum CheckResult {
    Ok(String),
    /// Agents can run, but something could be better.
    Warning(String),
    /// Agents cannot run until this is fixed.
    Failure(String),
}

/// One line of the report.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    /// `ok`, `note` or `fix`.
    result: &'static str,
    detail: String,
}

/// Prints the result of every check. The exit code is a failure if agents cannot run.
///
/// # Errors
/// When no configuration can be looked for.
pub(crate) async fn run(named: Option<&Path>) -> Result<ExitCode, CliError> {
    let file = settings::file(named)?;
    let config = match settings::with_files(file.as_deref()) {
        Ok(config) => config,
        Err(error) => return Ok(report(vec![check("config", CheckResult::Failure(full_text(&error)))])),
    };
    let server = running_board(&config).await;
    // A running board knows what the owner chose in its dialog.
    let chosen = server.as_ref().ok().and_then(Option::as_ref).and_then(|(_, info)| info.sandbox.as_ref()?.tier);
    let sandbox = choose(&config, chosen).await;
    Ok(report(vec![
        check("config", config_file(file.as_deref())),
        check("git", git().await),
        check("agent", agent(&config).await),
        check("sign-in", sign_in(&config, &sandbox).await),
        check("sandbox", sandbox_result(&sandbox)),
        check("repository", repository(&config).await),
        check("disk", disk(&config).await),
        check("database", database(&config, server.as_ref().is_ok_and(Option::is_some)).await),
        check("board", board(server)),
    ]))
}

fn check(name: &'static str, result: CheckResult) -> Check {
    let (result, detail) = match result {
        CheckResult::Ok(text) => ("ok", text),
        CheckResult::Warning(text) => ("note", text),
        CheckResult::Failure(text) => ("fix", text),
    };
    Check { name, result, detail }
}

fn report(checks: Vec<Check>) -> ExitCode {
    output::list(&checks, "", |Check { name, result, detail }| format!("{result:5} {name:10} {detail}"));
    if checks.iter().any(|check| check.result == "fix") { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn config_file(file: Option<&Path>) -> CheckResult {
    CheckResult::Ok(file.map_or_else(|| "no file; defaults apply".to_owned(), |file| file.display().to_string()))
}

/// The repository that new projects use.
async fn repository(config: &Config) -> CheckResult {
    let Some(path) = config.repo_path.clone() else {
        return CheckResult::Warning("this folder is not in a repository, and none is configured; name one in the dialog New project".to_owned());
    };
    let base = config.base_branch.clone();
    let found = spawn_blocking(move || repo::probe(&path, base.as_deref())).await;
    match found {
        Ok(Ok(found)) => CheckResult::Ok(format!("{}, base branch {}", found.repo_path, found.base_branch)),
        Ok(Err(error)) => CheckResult::Failure(format!("{error}. {}", error.hint())),
        Err(crashed) => CheckResult::Failure(format!("the repository could not be examined: {crashed}")),
    }
}

/// The folder of worktrees, and the space on its disk.
async fn disk(config: &Config) -> CheckResult {
    let folder = &config.worktrees_path;
    if let Err(problem) = repo::require_writable(folder) {
        return CheckResult::Failure(format!("{problem}; set \"worktrees_path\" to another folder"));
    }
    match free_space::shortage(config).await {
        Some(shortage) => CheckResult::Failure(shortage),
        None => CheckResult::Ok(format!("enough space for worktrees in {}", folder.display())),
    }
}

/// Whether this version can open the database. A running board proves it.
async fn database(config: &Config, is_running: bool) -> CheckResult {
    let path = &config.db_path;
    if is_running {
        return CheckResult::Ok(format!("{}, in use by the board", path.display()));
    }
    if !path.exists() {
        return CheckResult::Ok(format!("{} is created at the first start", path.display()));
    }
    match db::inspect_database(path).await {
        Ok(()) => CheckResult::Ok(path.display().to_string()),
        Err(error) => CheckResult::Failure(full_text(&error)),
    }
}

async fn version(program: &Path) -> Option<([u32; 3], String)> {
    let answer = process::probe(program, &["--version"], PROBE_TIMEOUT).await.ok()?;
    let text = answer.stdout.trim().to_owned();
    let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    let mut numbers = word.split('.').map(|part| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0));
    Some(([numbers.next()?, numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)], text))
}

async fn git() -> CheckResult {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = process::find_program("git", &path) else {
        return CheckResult::Failure("git was not found in PATH. Install git, because agents commit with it.".to_owned());
    };
    match version(&program).await {
        Some((numbers, text)) if numbers >= MIN_GIT_VERSION => CheckResult::Ok(text),
        Some((_, text)) => CheckResult::Warning(format!("{text} is old; agents may use commands that it lacks")),
        None => CheckResult::Failure(format!("{} does not answer `--version`", program.display())),
    }
}

async fn agent(config: &Config) -> CheckResult {
    let program = match preflight::program(config) {
        Ok(program) => program,
        Err(failure) => return CheckResult::Failure(failure.detail),
    };
    match version(&program).await {
        Some((numbers, text)) => match backend::version_warning(numbers, &text) {
            Some(warning) => CheckResult::Warning(warning),
            None => CheckResult::Ok(format!("{} ({text})", program.display())),
        },
        None => CheckResult::Warning(format!("{} does not print its version", program.display())),
    }
}

async fn sign_in(config: &Config, sandbox: &SandboxChoice) -> CheckResult {
    match preflight::preflight(config, sandbox).await {
        Ok(()) => CheckResult::Ok("agents can be started".to_owned()),
        Err(failure) if failure.reason == ParkReason::ProgramMissing => {
            CheckResult::Warning("not checked, because the agent program is missing".to_owned())
        }
        Err(failure) if failure.reason == ParkReason::Sandbox => CheckResult::Warning("not checked, because the sandbox is not settled".to_owned()),
        Err(failure) => CheckResult::Failure(failure.detail),
    }
}

fn sandbox_result(choice: &SandboxChoice) -> CheckResult {
    match choice {
        SandboxChoice::Run(tier @ SandboxTier::None) => CheckResult::Warning(format!("{tier}: {}, as you chose", tier.sentence())),
        SandboxChoice::Run(tier) => CheckResult::Ok(format!("{tier}: {}", tier.sentence())),
        SandboxChoice::Unprotected { cure } => CheckResult::Warning(format!("none: {}. {cure}", SandboxTier::None.sentence())),
        SandboxChoice::Unavailable { detail } | SandboxChoice::Undecided { detail, .. } => CheckResult::Failure(detail.clone()),
    }
}

/// The board of this configuration and its answer, if it runs.
///
/// # Errors
/// When it runs and does not answer.
async fn running_board(config: &Config) -> Result<Option<(ServerFile, ServerInfo)>, CliError> {
    let Some(server) = server_file::read(&config.db_path)? else { return Ok(None) };
    let info = Client::new(config)?.get("/api/server").await?;
    Ok(Some((server, info)))
}

fn board(running: Result<Option<(ServerFile, ServerInfo)>, CliError>) -> CheckResult {
    match running {
        Ok(None) => CheckResult::Warning("not running; start it with `vibe-relay serve`".to_owned()),
        Ok(Some((server, info))) if info.runner.parked.is_empty() => CheckResult::Ok(format!("{} (process {})", server.url, server.pid)),
        Ok(Some((server, info))) => {
            let reasons: Vec<String> =
                info.runner.parked.iter().map(|parking| format!("{}: {}", parking.reason.sentence(), parking.detail)).collect();
            CheckResult::Failure(format!("{} does not start agents: {}", server.url, reasons.join("; ")))
        }
        Err(error) => CheckResult::Failure(error.to_string()),
    }
}
