//! `vibe-relay stop`: ends the running board and waits until it has ended. Agents continue, and the next board takes them over.
//!
//! Must not know how a server ends.

use std::path::Path;
use std::time::Duration;

use db::Db;
use domain::config::Config;
use mcp::{BoardConnection, server_file};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::timeout;
use tokio_util::either::Either;

use crate::error::CliError;
use crate::{output, service, settings};

/// How long a board may take to end.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Ends the board of the configured database.
///
/// # Errors
/// When no board is running, or it does not end.
pub(crate) async fn run(config: Option<&Path>) -> Result<(), CliError> {
    let config = settings::config(config)?;
    let process = process(&config.db_path).await?;
    let id = process.as_raw_nonzero().get();
    let is_service = service::stop(id).await?;
    if !is_service {
        kill_process(process, Signal::TERM).map_err(|error| CliError::io(format!("end the board (process {id})"))(error.into()))?;
    }
    timeout(TIMEOUT, ended(&config)).await.map_err(|_| CliError::StillRunning { process: id, seconds: TIMEOUT.as_secs() })??;
    output::done(format!("The board is stopped (process {id}). Running agents continue, and `vibe-relay serve` takes them over."));
    if is_service {
        output::hint("The service starts it again at the next login. `vibe-relay service remove` prevents that.");
    }
    Ok(())
}

/// The process of the board that answers. Its file alone does not suffice: after a crash, its number may belong to another program.
async fn process(db_path: &Path) -> Result<Pid, CliError> {
    let missing = || CliError::NotRunning { db_path: db_path.to_owned() };
    let BoardConnection { stream, .. } = mcp::connect(db_path).await.map_err(|_| missing())?;
    let peer = match &stream {
        Either::Left(socket) => socket.peer_cred().ok().and_then(|peer| peer.pid()),
        Either::Right(_) => None,
    };
    let of_file = || Ok::<_, CliError>(server_file::read(db_path)?.and_then(|server| i32::try_from(server.pid).ok()));
    let id = peer.map_or_else(of_file, |peer| Ok(Some(peer)))?;
    // A process of another namespace has the number 0, which would mean this one's group.
    id.filter(|id| *id > 0).and_then(Pid::from_raw).ok_or_else(missing)
}

/// Waits until nothing uses the database.
async fn ended(config: &Config) -> Result<(), CliError> {
    loop {
        // It waits for a moment itself.
        match Db::lock(config).await {
            Err(db::Error::Locked { .. }) => {}
            Err(error) => return Err(error.into()),
            Ok(_lock) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::config::Config;

    use super::*;

    #[tokio::test]
    async fn process_of_a_crashed_board_is_not_ended() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
        let missing = process(&config.db_path).await.unwrap_err();
        assert!(matches!(missing, CliError::NotRunning { .. }), "{missing}");
        let crashed =
            server_file::ServerFile { url: "http://127.0.0.1:1".to_owned(), epoch: "e".to_owned(), pid: std::process::id(), secret: String::new() };
        server_file::write(&config.db_path, &crashed).unwrap();
        let missing = process(&config.db_path).await.unwrap_err();
        assert!(matches!(missing, CliError::NotRunning { .. }), "{missing}");
    }

    #[tokio::test]
    async fn process_is_the_one_that_listens() {
        let folder = tempfile::tempdir().unwrap();
        let db_path = folder.path().join("board.db");
        let (_socket, _listener) = mcp::server_socket::bind(&db_path).unwrap();
        assert_eq!(process(&db_path).await.unwrap(), rustix::process::getpid());
    }
}
