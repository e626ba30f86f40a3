//! `vibe-relay doctor`: checks everything that agents need. Must not change anything.

mod agents;
pub(crate) mod start;

use std::net::TcpStream;
use std::path::Path;
use std::process::ExitCode;

use domain::config::Config;
use domain::wire::ServerInfo;
use mcp::server_file::{self, ServerFile};
use runner::jail::choice::choose;
use serde::Serialize;

use crate::client::Client;
use crate::error::CliError;
use crate::folders::Folders;
use crate::{output, settings};

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

impl Check {
    fn is_failure(&self) -> bool {
        self.result == "fix"
    }
}

/// Prints the result of every check. The exit code is a failure if agents cannot run.
///
/// # Errors
/// When no configuration can be looked for.
pub(crate) async fn run(named: Option<&Path>) -> Result<ExitCode, CliError> {
    let folders = check("folders", CheckResult::Ok(folders(&Folders::find()?)));
    let file = settings::file(named)?;
    let (config, mut checks) = match start::configuration(file.as_deref()) {
        Ok(read) => read,
        Err(failure) => return Ok(report(vec![folders, failure])),
    };
    checks.insert(0, folders);
    let server = running_board(&config).await;
    let found = server.as_ref().ok().and_then(Option::as_ref);
    checks.extend(start::checks(&config, None, running_port(&config, &server)).await);
    // A running board knows what the owner chose in its dialog.
    let chosen = found.and_then(|(_, info)| info.sandbox.as_ref()?.tier);
    checks.extend(agents::checks(&config, &choose(&config, chosen).await).await);
    checks.push(check("board", board(server)));
    Ok(report(checks))
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
    if checks.iter().any(Check::is_failure) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn folders(folders: &Folders) -> String {
    let Folders { config, data, state } = folders;
    if folders.is_single() {
        return format!("{} holds everything, as in older installations", data.display());
    }
    format!("configuration {}, data {}, state {}", config.display(), data.display(), state.display())
}

fn port_of(url: &str) -> Option<u16> {
    url.rsplit(':').next()?.trim_end_matches('/').parse().ok()
}

/// The port of the board, also if the board does not answer. One that was killed leaves its address, but nothing listens there.
fn running_port(config: &Config, running: &Result<Option<(ServerFile, ServerInfo)>, CliError>) -> Option<u16> {
    match running {
        Ok(found) => found.as_ref().and_then(|(server, _)| port_of(&server.url)),
        Err(_) => {
            let server = server_file::read(&config.db_path).ok().flatten()?;
            port_of(&server.url).filter(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok())
        }
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
    let (server, info) = match running {
        Ok(None) => return CheckResult::Warning("not running; start it with `vibe-relay serve`".to_owned()),
        Ok(Some(running)) => running,
        Err(error) => return CheckResult::Failure(error.to_string()),
    };
    let reasons: Vec<String> = info.runner.parked.iter().map(|parking| format!("{}: {}", parking.reason.sentence(), parking.detail)).collect();
    if !reasons.is_empty() {
        return CheckResult::Failure(format!("{} does not start agents: {}", server.url, reasons.join("; ")));
    }
    match info.config_notice {
        Some(notice) => CheckResult::Warning(format!("{} (process {}): {notice}", server.url, server.pid)),
        None => CheckResult::Ok(format!("{} (process {})", server.url, server.pid)),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn port_of_a_board_that_does_not_answer_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let silent = Err(CliError::NoAnswer { url: format!("http://{address}"), reason: "it hangs".to_owned() });
        assert_eq!(running_port(&config, &silent), None, "no server left its address");
        let server = ServerFile { url: format!("http://{address}"), epoch: "e".to_owned(), pid: 7, secret: "s".to_owned() };
        server_file::write(&config.db_path, &server).unwrap();
        assert_eq!(running_port(&config, &silent), Some(address.port()));
        drop(listener);
        assert_eq!(running_port(&config, &silent), None, "a killed server holds no port");
    }
}
