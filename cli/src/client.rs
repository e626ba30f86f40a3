//! Requests to the running board, with the human's token.

use std::path::{Path, PathBuf};

use domain::config::Config;
use domain::wire::Problem;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use mcp::{BoardConnection, server_file};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::{TcpStream, UnixStream};
use tokio_tungstenite::tungstenite::Error as SocketError;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};
use tokio_util::either::Either;

use crate::error::CliError;
use crate::settings;

/// A WebSocket of the running board.
pub(crate) type BoardSocket = WebSocketStream<Either<UnixStream, TcpStream>>;

/// The running board and the token for it.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    db_path: PathBuf,
    /// The address for people; requests take the socket.
    url: String,
    token: String,
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
        let missing = || CliError::NotRunning { db_path: config.db_path.clone() };
        let server = server_file::read(&config.db_path)?.ok_or_else(missing)?;
        let token = settings::existing_token(config)?.ok_or_else(missing)?;
        Ok(Self { db_path: config.db_path.clone(), url: server.url, token })
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
        let (ok, answer) = self.exchange("GET", path, None).await?;
        if ok { Ok(String::from_utf8_lossy(&answer).into_owned()) } else { Err(self.refusal(&answer)) }
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
        let (ok, answer) = self.exchange("DELETE", path, None).await?;
        if ok { Ok(()) } else { Err(self.refusal(&answer)) }
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
        let token = format!("Bearer {}", self.token).parse().map_err(|error| self.no_answer(error))?;
        request.headers_mut().insert("authorization", token);
        Ok(client_async(request, stream).await.map(|(socket, _)| socket))
    }

    async fn send<A: DeserializeOwned>(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Result<A, CliError> {
        let (ok, answer) = self.exchange(method, path, body).await?;
        if ok { serde_json::from_slice(&answer).map_err(|error| self.no_answer(error)) } else { Err(self.refusal(&answer)) }
    }

    /// The error that a response which is no success describes.
    fn refusal(&self, answer: &[u8]) -> CliError {
        match serde_json::from_slice::<Problem>(answer) {
            Ok(problem) => CliError::Refused { problem: Box::new(problem) },
            Err(error) => self.no_answer(error),
        }
    }

    async fn exchange(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Result<(bool, Bytes), CliError> {
        let BoardConnection { stream, host } = mcp::connect(&self.db_path).await.map_err(|error| self.no_answer(error))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.no_answer(error))?;
        tokio::spawn(connection);
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("host", host)
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| self.no_answer(error))?;
        let response = sender.send_request(request).await.map_err(|error| self.no_answer(error))?;
        let ok = response.status().is_success();
        let answer = response.into_body().collect().await.map_err(|error| self.no_answer(error))?;
        Ok((ok, answer.to_bytes()))
    }

    /// The error of a board that does not answer as it should.
    pub(crate) fn no_answer(&self, reason: impl std::fmt::Display) -> CliError {
        CliError::NoAnswer { url: self.url.clone(), reason: reason.to_string() }
    }
}

fn json(body: &impl Serialize) -> Result<Vec<u8>, CliError> {
    serde_json::to_vec(body).map_err(|error| CliError::io("write the request")(error.into()))
}
