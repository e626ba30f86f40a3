//! The running board, as far as `doctor` can reach it. Must not start or change it.

use std::net::TcpStream;

use domain::config::Config;
use domain::runs::parking::ParkReason;
use domain::wire::ServerInfo;
use mcp::ConnectError;
use mcp::server_file::{self, ServerFile};

use super::check::{Check, CheckResult, check};
use crate::client::Client;
use crate::error::{CliError, full_text};
use crate::token_file::TokenProblem;
use crate::{settings, token_file};

/// The board of a configuration.
pub(super) enum Board {
    /// Nothing serves the database. A killed server leaves its address.
    Stopped,
    /// Something has its port, and does not answer as the board does. Without `port`, it is another program.
    Silent { port: Option<u16>, error: CliError },
    /// It answers. The token file is written again by the board where it had a problem.
    Running { server: ServerFile, info: Box<ServerInfo>, token_problem: Option<TokenProblem> },
}

impl Board {
    /// Asks the board of this configuration.
    pub(super) async fn find(config: &Config) -> Self {
        let server = match server_file::read(&config.db_path) {
            Ok(Some(server)) => server,
            Ok(None) => return Self::Stopped,
            Err(error) => return Self::Silent { port: None, error: error.into() },
        };
        let token_problem = token_file::read(&settings::token_file(config)).err();
        let answer = async { Client::new(config)?.get("/api/server").await };
        match answer.await {
            Ok(info) => Self::Running { server, info: Box::new(info), token_problem },
            Err(error) => {
                let is_foreign = matches!(mcp::connect(&config.db_path).await, Err(ConnectError::NotTheBoard { .. }));
                Self::without_answer(&server, error, is_foreign)
            }
        }
    }

    /// `is_foreign` tells that another program has taken the port.
    fn without_answer(server: &ServerFile, error: CliError, is_foreign: bool) -> Self {
        match port_of(&server.url).filter(|port| TcpStream::connect(("127.0.0.1", *port)).is_ok()) {
            Some(port) => Self::Silent { port: (!is_foreign).then_some(port), error },
            None => Self::Stopped,
        }
    }

    /// The port that the board holds.
    pub(super) fn port(&self) -> Option<u16> {
        match self {
            Self::Stopped => None,
            Self::Silent { port, .. } => *port,
            Self::Running { server, .. } => port_of(&server.url),
        }
    }

    /// Returns the answer of the board.
    pub(super) fn info(&self) -> Option<&ServerInfo> {
        match self {
            Self::Running { info, .. } => Some(info),
            Self::Stopped | Self::Silent { .. } => None,
        }
    }

    /// The checks of the board. A cause that has a failure in `shown` is not repeated.
    pub(super) fn checks(&self, config: &Config, shown: &[Check]) -> Vec<Check> {
        let (server, info, token_problem) = match self {
            Self::Stopped => return vec![check("board", CheckResult::warning("no board is running", "start it with `vibe-relay serve`"))],
            Self::Silent { error, .. } => return vec![check("board", CheckResult::explained_failure(full_text(error)))],
            Self::Running { server, info, token_problem } => (server, info, token_problem),
        };
        let token = token_problem.as_ref().map(|problem| {
            let problem = format!("the token file {} {problem}", settings::token_file(config).display());
            check("token", CheckResult::warning(problem, "nothing to do, because the board has written it again"))
        });
        token.into_iter().chain([check("board", running(server, info, shown))]).collect()
    }
}

fn running(server: &ServerFile, info: &ServerInfo, shown: &[Check]) -> CheckResult {
    let ServerFile { url, pid, .. } = server;
    let is_shown = |reason| line_of(reason).is_some_and(|name| shown.iter().any(|check| check.name == name && check.is_failure()));
    let (known, other): (Vec<_>, Vec<_>) = info.runner.parked.iter().partition(|parking| is_shown(parking.reason));
    if !other.is_empty() {
        let details: Vec<String> = other.iter().map(|parking| format!("{}: {}", parking.reason.sentence(), parking.detail)).collect();
        return CheckResult::explained_failure(format!("{url} starts no agents: {}", details.join("; ")));
    }
    if !known.is_empty() {
        let reasons: Vec<&str> = known.iter().map(|parking| parking.reason.sentence()).collect();
        return CheckResult::failure(format!("{url} starts no agents: {}", reasons.join("; ")), "do what the lines above say");
    }
    match &info.config_notice {
        Some(notice) => CheckResult::Warning { problem: format!("{url} (process {pid}): {notice}"), fix: None },
        None => CheckResult::Ok(format!("{url} (process {pid})")),
    }
}

/// The check of `agents` that finds the cause of a parking.
fn line_of(reason: ParkReason) -> Option<&'static str> {
    match reason {
        ParkReason::Sandbox => Some("sandbox"),
        ParkReason::SignedOut | ParkReason::RootRefused => Some("sign-in"),
        ParkReason::ProgramMissing | ParkReason::ProgramTooOld => Some("agent"),
        ParkReason::DiskFull => Some("disk"),
        ParkReason::RateLimited | ParkReason::NoCredit | ParkReason::McpNotConnected | ParkReason::ServiceUnreachable | ParkReason::SystemLimit => {
            None
        }
    }
}

fn port_of(url: &str) -> Option<u16> {
    url.rsplit(':').next()?.trim_end_matches('/').parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn killed_board_is_stopped_and_a_silent_one_keeps_its_port() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
        let line = |board: &Board| board.checks(&config, &[]).into_iter().map(|check| (check.result, check.detail)).next_back().unwrap();
        let never = Board::find(&config).await;
        assert_eq!((line(&never), never.port()), (("note", "no board is running".to_owned()), None));

        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = ServerFile { url: format!("http://{address}"), epoch: "e".to_owned(), pid: 7, secret: "s".to_owned() };
        let hangs = || CliError::NoAnswer { url: server.url.clone(), reason: "it hangs".to_owned() };
        let silent = Board::without_answer(&server, hangs(), false);
        let (result, detail) = line(&silent);
        assert!((result, silent.port()) == ("fix", Some(address.port())) && detail.contains("it hangs"), "{detail}");
        let foreign = Board::without_answer(&server, hangs(), true);
        assert_eq!((line(&foreign).0, foreign.port()), ("fix", None), "the port is another program's");

        drop(listener);
        server_file::write(&config.db_path, &server).unwrap();
        let killed = Board::find(&config).await;
        assert_eq!((line(&killed), killed.port()), (line(&never), None), "a killed server holds no port");
    }

    #[test]
    fn broken_record_of_a_server_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
        std::fs::write(server_file::path(&config.db_path), "{").unwrap();
        let found = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(Board::find(&config));
        assert!(found.checks(&config, &[])[0].sentence().contains("server.json"));
    }
}
