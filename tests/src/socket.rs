//! A browser's live connection: a WebSocket that remembers the last event it got and takes up there. It must not know what events mean.

use std::io;
use std::time::Duration;

use domain::event::{Envelope, Seq};
use domain::id::ProjectId;
use domain::wire::Frame;
use futures_util::StreamExt;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::client::Client;

/// How long an event may take to come: reached only by a test that fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// One open connection.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The life of the log, as the server's greeting said.
    pub epoch: String,
}

impl Socket {
    /// Connects and takes the greeting. With `after`, everything since that event comes first.
    ///
    /// # Errors
    /// The server refuses, or greets otherwise than it should.
    pub async fn open(client: &Client, project: &ProjectId, after: Option<(Seq, &str)>) -> io::Result<Self> {
        let after = after.map(|(seq, epoch)| format!("&after={seq}&epoch={epoch}")).unwrap_or_default();
        let url = format!("{}/api/ws?project={project}{after}", client.url.replacen("http", "ws", 1));
        let mut request = url.into_client_request().map_err(io::Error::other)?;
        let token = format!("Bearer {}", client.token).parse().map_err(io::Error::other)?;
        request.headers_mut().insert("authorization", token);
        let (stream, _) = connect_async(request).await.map_err(io::Error::other)?;
        let mut socket = Self { stream, epoch: String::new() };
        match socket.frame().await? {
            Some(Frame::Hello { epoch, .. }) => socket.epoch = epoch,
            other => return Err(io::Error::other(format!("greeted with {other:?}"))),
        }
        Ok(socket)
    }

    /// The next event; nothing when the server ended the connection.
    ///
    /// # Errors
    /// None comes in time, or the server says that some were left out.
    pub async fn event(&mut self) -> io::Result<Option<Envelope>> {
        let next = async {
            loop {
                match self.frame().await? {
                    Some(Frame::Event { event }) => return Ok(Some(*event)),
                    Some(Frame::Activity { .. } | Frame::Server {}) => {}
                    Some(other) => return Err(io::Error::other(format!("{other:?}"))),
                    None => return Ok(None),
                }
            }
        };
        tokio::time::timeout(PATIENCE, next).await?
    }

    async fn frame(&mut self) -> io::Result<Option<Frame>> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(Some(serde_json::from_str(&text)?)),
                Some(Ok(Message::Close(_))) | None => return Ok(None),
                // A killed server says no goodbye.
                Some(Err(Error::Io(_) | Error::Protocol(_) | Error::ConnectionClosed)) => return Ok(None),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(io::Error::other(error)),
            }
        }
    }
}
