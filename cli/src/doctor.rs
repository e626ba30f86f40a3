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
use runner::{backend, preflight, process};

use crate::client::Client;
use crate::error::CliError;
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

/// Prints the result of every check. The exit code is a failure if agents cannot run.
///
/// # Errors
/// When the configuration or a prompt file cannot be read.
pub(crate) async fn run(config: Option<&Path>) -> Result<ExitCode, CliError> {
    let config = settings::with_files(settings::file(config)?.as_deref())?;
    let server = running_board(&config).await;
    // A running board knows what the owner chose in its dialog.
    let chosen = server.as_ref().ok().and_then(Option::as_ref).and_then(|(_, info)| info.sandbox.as_ref()?.tier);
    let sandbox = choose(&config, chosen).await;
    let results = [
        ("git", git().await),
        ("agent", agent(&config).await),
        ("sign-in", sign_in(&config, &sandbox).await),
        ("sandbox", sandbox_result(&sandbox)),
        ("board", board(server)),
    ];
    let mut failed = false;
    for (name, result) in results {
        let (mark, text) = match result {
            CheckResult::Ok(text) => ("ok", text),
            CheckResult::Warning(text) => ("note", text),
            CheckResult::Failure(text) => {
                failed = true;
                ("fix", text)
            }
        };
        output::line(format!("{mark:5} {name:8} {text}"));
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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
