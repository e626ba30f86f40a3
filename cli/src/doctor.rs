//! `vibe-relay doctor`: looks for everything that would keep agents from working, before they do.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use domain::config::Config;
use domain::runs::parking::ParkReason;
use mcp::server_file;
use runner::{backend, preflight, process};

use crate::client::Client;
use crate::error::CliError;
use crate::{output, setting};

const GIT_FLOOR: [u32; 3] = [2, 20, 0];
const PATIENCE: Duration = Duration::from_secs(15);

/// What was found about one thing.
enum Finding {
    Good(String),
    /// Works, and could be better.
    Doubtful(String),
    /// Agents will not work until it is mended.
    Bad(String),
}

/// Prints what it finds. Fails when agents could not work.
///
/// # Errors
/// When the configuration cannot be read.
pub(crate) async fn run(config: Option<&Path>) -> Result<ExitCode, CliError> {
    let config = setting::config(config)?;
    let findings = [
        ("git", git().await),
        ("agent", agent(&config).await),
        ("sign-in", sign_in(&config).await),
        ("sandbox", sandbox()),
        ("board", board(&config).await),
    ];
    let mut bad = false;
    for (name, finding) in findings {
        let (mark, text) = match finding {
            Finding::Good(text) => ("ok", text),
            Finding::Doubtful(text) => ("note", text),
            Finding::Bad(text) => {
                bad = true;
                ("fix", text)
            }
        };
        output::line(format!("{mark:5} {name:8} {text}"));
    }
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn version(program: &Path) -> Option<([u32; 3], String)> {
    let answer = process::probe(program, &["--version"], PATIENCE).await.ok()?;
    let text = answer.stdout.trim().to_owned();
    let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    let mut numbers = word.split('.').map(|part| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0));
    Some(([numbers.next()?, numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)], text))
}

async fn git() -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = process::find_program("git", &path) else {
        return Finding::Bad("git was not found in PATH. Install it: agents commit with it.".to_owned());
    };
    match version(&program).await {
        Some((numbers, text)) if numbers >= GIT_FLOOR => Finding::Good(text),
        Some((_, text)) => Finding::Doubtful(format!("{text} is old; agents may miss commands they know")),
        None => Finding::Bad(format!("{} does not answer `--version`", program.display())),
    }
}

async fn agent(config: &Config) -> Finding {
    let program = match preflight::program(config) {
        Ok(program) => program,
        Err(failure) => return Finding::Bad(failure.detail),
    };
    match version(&program).await {
        Some((numbers, text)) => match backend::version_warning(numbers, &text) {
            Some(warning) => Finding::Doubtful(warning),
            None => Finding::Good(format!("{} ({text})", program.display())),
        },
        None => Finding::Doubtful(format!("{} does not tell its version", program.display())),
    }
}

async fn sign_in(config: &Config) -> Finding {
    match preflight::preflight(config).await {
        Ok(()) => Finding::Good("agents can be started".to_owned()),
        Err(failure) if failure.reason == ParkReason::ProgramMissing => Finding::Doubtful("not checked without the agent program".to_owned()),
        Err(failure) => Finding::Bad(failure.detail),
    }
}

fn sandbox() -> Finding {
    Finding::Doubtful("none: an agent works as you and could read and change whatever you can; worktrees keep honest agents apart".to_owned())
}

async fn board(config: &Config) -> Finding {
    let running = match server_file::read(&config.db_path) {
        Ok(running) => running,
        Err(error) => return Finding::Bad(error.to_string()),
    };
    let Some(server) = running else { return Finding::Doubtful("not running: start it with `vibe-relay serve`".to_owned()) };
    let answer: Result<domain::wire::ServerInfo, CliError> = match Client::of(config) {
        Ok(client) => client.get("/api/server").await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(found) if found.parked.is_empty() => Finding::Good(format!("{} (process {})", server.url, server.pid)),
        Ok(found) => {
            let why: Vec<String> = found.parked.iter().map(|parking| format!("{}: {}", parking.reason.sentence(), parking.detail)).collect();
            Finding::Bad(format!("{} starts no agents: {}", server.url, why.join("; ")))
        }
        Err(error) => Finding::Bad(error.to_string()),
    }
}
