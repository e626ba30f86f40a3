//! A live connection as the browser uses it: a WebSocket that can continue after a known event. It must not know what events mean.

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

/// How long an event may take to arrive. Only a failing test waits this long.
const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// One open connection.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The epoch of the event log, from the server's hello frame.
    pub epoch: String,
}

impl Socket {
    /// Connects and reads the hello frame. With `after`, the server first replays everything since that event.
    ///
    /// # Errors
    /// The server refuses the connection or sends another first frame.
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
            other => return Err(io::Error::other(format!("the first frame is {other:?}"))),
        }
        Ok(socket)
    }

    /// The next event, or `None` when the server closed the connection.
    ///
    /// # Errors
    /// No event arrives in time, or the server reports a gap.
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
        tokio::time::timeout(EVENT_TIMEOUT, next).await?
    }

    async fn frame(&mut self) -> io::Result<Option<Frame>> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(Some(serde_json::from_str(&text)?)),
                Some(Ok(Message::Close(_))) | None => return Ok(None),
                // A killed server sends no close frame.
                Some(Err(Error::Io(_) | Error::Protocol(_) | Error::ConnectionClosed)) => return Ok(None),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(io::Error::other(error)),
            }
        }
    }
}
