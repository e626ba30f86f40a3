//! `vibe-relay doctor`: checks everything that agents need. Must not change anything.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use domain::config::Config;
use domain::runs::parking::ParkReason;
use mcp::server_file;
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
    let config = settings::with_prompts(settings::file(config)?.as_deref())?;
    let results = [
        ("git", git().await),
        ("agent", agent(&config).await),
        ("sign-in", sign_in(&config).await),
        ("sandbox", sandbox()),
        ("board", board(&config).await),
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

async fn sign_in(config: &Config) -> CheckResult {
    match preflight::preflight(config).await {
        Ok(()) => CheckResult::Ok("agents can be started".to_owned()),
        Err(failure) if failure.reason == ParkReason::ProgramMissing => {
            CheckResult::Warning("not checked, because the agent program is missing".to_owned())
        }
        Err(failure) => CheckResult::Failure(failure.detail),
    }
}

fn sandbox() -> CheckResult {
    CheckResult::Warning("none: agents run as you and can read and change whatever you can; worktrees only separate honest agents".to_owned())
}

async fn board(config: &Config) -> CheckResult {
    let running = match server_file::read(&config.db_path) {
        Ok(running) => running,
        Err(error) => return CheckResult::Failure(error.to_string()),
    };
    let Some(server) = running else { return CheckResult::Warning("not running; start it with `vibe-relay serve`".to_owned()) };
    let answer: Result<domain::wire::ServerInfo, CliError> = match Client::new(config) {
        Ok(client) => client.get("/api/server").await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(info) if info.parked.is_empty() => CheckResult::Ok(format!("{} (process {})", server.url, server.pid)),
        Ok(info) => {
            let reasons: Vec<String> = info.parked.iter().map(|parking| format!("{}: {}", parking.reason.sentence(), parking.detail)).collect();
            CheckResult::Failure(format!("{} does not start agents: {}", server.url, reasons.join("; ")))
        }
        Err(error) => CheckResult::Failure(error.to_string()),
    }
}
