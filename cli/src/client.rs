//! Requests to the running board, with the human's token. A token file that was lost or damaged is written again by the board.

use std::path::{Path, PathBuf};

use domain::config::Config;
use domain::wire::Problem;
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use mcp::{BoardConnection, ConnectError, server_file};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::{TcpStream, UnixStream};
use tokio_tungstenite::tungstenite::Error as SocketError;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};
use tokio_util::either::Either;

use crate::error::CliError;
use crate::{settings, token_file};

/// A WebSocket of the running board.
pub(crate) type BoardSocket = WebSocketStream<Either<UnixStream, TcpStream>>;

/// The running board and the file with the token for it.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    db_path: PathBuf,
    /// The address for people; requests take the socket.
    url: String,
    token_file: PathBuf,
}

impl Client {
    /// Finds the board that serves the configured database.
    ///
    /// # Errors
    /// When none is running.
    pub(crate) fn find(config: Option<&Path>) -> Result<Self, CliError> {
        Self::new(&settings::config(config)?)
    }

    /// Finds the board that serves this configuration's database.
    ///
    /// # Errors
    /// When none is running.
    pub(crate) fn new(config: &Config) -> Result<Self, CliError> {
        let server = server_file::read(&config.db_path)?.ok_or_else(|| CliError::NotRunning { db_path: config.db_path.clone() })?;
        Ok(Self { db_path: config.db_path.clone(), url: server.url, token_file: settings::token_file(config) })
    }

    /// The address of the board.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Sends GET.
    ///
    /// # Errors
    /// When the board does not answer, or refuses.
    pub(crate) async fn get<A: DeserializeOwned>(&self, path: &str) -> Result<A, CliError> {
        self.send("GET", path, None).await
    }

    /// Sends GET for a text.
    ///
    /// # Errors
    /// When the board does not answer, or refuses.
    pub(crate) async fn text(&self, path: &str) -> Result<String, CliError> {
        let Answer { status, body: answer } = self.exchange("GET", path, None).await?;
        if status.is_success() { Ok(String::from_utf8_lossy(&answer).into_owned()) } else { Err(self.refusal(&answer)) }
    }

    /// Sends POST with a JSON body.
    ///
    /// # Errors
    /// When the board does not answer, or refuses.
    pub(crate) async fn post<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, CliError> {
        self.send("POST", path, Some(json(body)?)).await
    }

    /// Sends PATCH with a JSON body.
    ///
    /// # Errors
    /// When the board does not answer, or refuses.
    pub(crate) async fn patch<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, CliError> {
        self.send("PATCH", path, Some(json(body)?)).await
    }

    /// Sends DELETE with a JSON body.
    ///
    /// # Errors
    /// When the board does not answer, or refuses.
    pub(crate) async fn delete_with<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, CliError> {
        self.send("DELETE", path, Some(json(body)?)).await
    }

    /// Sends DELETE, which is answered without a body.
    ///
    /// # Errors
    /// When the board does not answer, or refuses.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), CliError> {
        let Answer { status, body: answer } = self.exchange("DELETE", path, None).await?;
        if status.is_success() { Ok(()) } else { Err(self.refusal(&answer)) }
    }

    /// Opens the WebSocket at `path`.
    ///
    /// # Errors
    /// When the board does not answer or refuses. A refusal has a status; the board may only be restarting otherwise.
    pub(crate) async fn web_socket(&self, path: &str) -> Result<Result<BoardSocket, SocketError>, CliError> {
        let BoardConnection { stream, host } = match mcp::connect(&self.db_path).await {
            Ok(connection) => connection,
            Err(error) => return Ok(Err(SocketError::Io(std::io::Error::other(error)))),
        };
        let mut request = format!("ws://{host}{path}").into_client_request().map_err(|error| self.no_answer(error))?;
        let token = format!("Bearer {}", self.token().await?).parse().map_err(|error| self.no_answer(error))?;
        request.headers_mut().insert("authorization", token);
        Ok(client_async(request, stream).await.map(|(socket, _)| socket))
    }

    async fn send<A: DeserializeOwned>(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Result<A, CliError> {
        let Answer { status, body: answer } = self.exchange(method, path, body).await?;
        if status.is_success() { serde_json::from_slice(&answer).map_err(|error| self.no_answer(error)) } else { Err(self.refusal(&answer)) }
    }

    /// The error that a response which is no success describes.
    fn refusal(&self, answer: &[u8]) -> CliError {
        match serde_json::from_slice::<Problem>(answer) {
            Ok(problem) => CliError::Refused { problem: Box::new(problem) },
            Err(error) => self.no_answer(error),
        }
    }

    /// Sends a request with the token in the file.
    async fn exchange(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Result<Answer, CliError> {
        let token = self.token().await?;
        let answer = self.request(method, path, Some(&token), body.clone()).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        // The file may hold an old token, from a backup for example. Nothing was done yet, so the request can be repeated.
        self.restore_token().await?;
        let restored = self.token().await?;
        if restored == token { Ok(answer) } else { self.request(method, path, Some(&restored), body).await }
    }

    /// Returns the token in the file, which the board writes again if there is none.
    async fn token(&self) -> Result<String, CliError> {
        if let Ok(token) = token_file::read(&self.token_file) {
            return Ok(token);
        }
        self.restore_token().await?;
        token_file::read(&self.token_file).map_err(|problem| CliError::TokenFile { path: self.token_file.clone(), problem })
    }

    /// Asks the board to write the token file again if that does not hold the token. It needs no token: the answer contains none, and only
    /// this user can read the file.
    async fn restore_token(&self) -> Result<(), CliError> {
        let Answer { status, body } = self.request("POST", "/api/token/restore", None, None).await?;
        if status.is_success() { Ok(()) } else { Err(self.refusal(&body)) }
    }

    async fn request(&self, method: &str, path: &str, token: Option<&str>, body: Option<Vec<u8>>) -> Result<Answer, CliError> {
        let BoardConnection { stream, host } = mcp::connect(&self.db_path).await.map_err(|error| match error {
            // The address is part of the error of this client.
            ConnectError::NoAnswer { problem, .. } => self.no_answer(problem),
            error => self.no_answer(error),
        })?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.no_answer(error))?;
        tokio::spawn(connection);
        let mut request = http::Request::builder().method(method).uri(path).header("host", host).header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(|error| self.no_answer(error))?;
        let response = sender.send_request(request).await.map_err(|error| self.no_answer(error))?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(|error| self.no_answer(error))?.to_bytes();
        Ok(Answer { status, body })
    }

    /// The error of a board that does not answer as it should.
    pub(crate) fn no_answer(&self, reason: impl std::fmt::Display) -> CliError {
        CliError::NoAnswer { url: self.url.clone(), reason: reason.to_string() }
    }
}

/// A response of the board.
struct Answer {
    status: StatusCode,
    body: Bytes,
}

fn json(body: &impl Serialize) -> Result<Vec<u8>, CliError> {
    serde_json::to_vec(body).map_err(|error| CliError::io("write the request")(error.into()))
}
