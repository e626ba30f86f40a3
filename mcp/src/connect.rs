//! Connects to the server of a database: over its Unix socket, and over TCP only if there is none and only after the server proved that it
//! is the one of the database. Whatever the caller sends afterwards, such as a token, reaches no other program.
//!
//! It must not know what is sent.

use std::path::{Path, PathBuf};
use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_util::either::Either;

use crate::proof::{self, Proof};
use crate::server_file::{self, ServerFile, ServerFileError};
use crate::server_socket;

/// How long a server may take to prove itself.
const PROOF_TIMEOUT: Duration = Duration::from_secs(5);
/// More than a proof has.
const MAX_ANSWER: usize = 1024;

/// An open connection to the server.
#[derive(Debug)]
pub struct BoardConnection {
    pub stream: Either<UnixStream, TcpStream>,
    /// The value of the header `Host` of every request.
    pub host: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("nothing is listening on {} ({source})", socket.display())]
    NotRunning { socket: PathBuf, source: std::io::Error },
    #[error("{url} did not answer: {problem}")]
    NoAnswer { url: String, problem: String },
    #[error("the program at {url} is not the board: it does not know the secret of this database, so another program may have taken the port")]
    NotTheBoard { url: String },
    #[error(transparent)]
    File(#[from] ServerFileError),
}

/// Connects to the server of `db_path`.
///
/// # Errors
/// When no server runs, or another program answers in its place.
pub async fn connect(db_path: &Path) -> Result<BoardConnection, ConnectError> {
    let source = match server_socket::connect(db_path).await {
        Ok(stream) => return Ok(BoardConnection { stream: Either::Left(stream), host: "localhost".to_owned() }),
        Err(source) => source,
    };
    // The server could not make a socket, or has ended.
    match server_file::read(db_path)? {
        Some(server) => connect_over_tcp(&server).await,
        None => Err(ConnectError::NotRunning { socket: server_socket::path(db_path), source }),
    }
}

async fn connect_over_tcp(server: &ServerFile) -> Result<BoardConnection, ConnectError> {
    let failed = |problem: &dyn std::fmt::Display| ConnectError::NoAnswer { url: server.url.clone(), problem: problem.to_string() };
    let host = server.url.trim_start_matches("http://").to_owned();
    let port = host.rsplit(':').next().and_then(|port| port.parse().ok()).ok_or_else(|| failed(&"its address has no port"))?;
    let stream = TcpStream::connect(&host).await.map_err(|error| failed(&error))?;
    // A request is written at once, so it must not wait for more data.
    stream.set_nodelay(true).map_err(|error| failed(&error))?;
    let nonce = db::new_token();
    let (stream, answer) = match timeout(PROOF_TIMEOUT, challenge(stream, &host, &nonce)).await {
        Ok(Ok(answered)) => answered,
        Ok(Err(problem)) => return Err(failed(&problem)),
        Err(_) => return Err(failed(&"it did not prove in time that it is the board")),
    };
    if !Proof::new(server.secret.clone(), port).verify(&nonce, &answer) {
        return Err(ConnectError::NotTheBoard { url: server.url.clone() });
    }
    Ok(BoardConnection { stream: Either::Right(stream), host })
}

/// Sends a nonce, and returns the answer with the connection, which the server has proved to own.
async fn challenge(stream: TcpStream, host: &str, nonce: &str) -> Result<(TcpStream, String), Box<dyn std::error::Error + Send + Sync>> {
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection.without_shutdown());
    let request = http::Request::get(format!("{}{nonce}", proof::PATH)).header("host", host).body(Empty::<Bytes>::new())?;
    let response = sender.send_request(request).await?;
    let answer = Limited::new(response.into_body(), MAX_ANSWER).collect().await?.to_bytes();
    // The connection is idle now, and returns its stream.
    drop(sender);
    Ok((connection.await??.io.into_inner(), String::from_utf8_lossy(&answer).into_owned()))
}
