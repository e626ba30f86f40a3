//! Accepts connections until shutdown, then finishes the requests in progress and cuts the streams that never end.

use std::sync::Arc;
use std::time::Duration;

use axum::serve::{Listener, ListenerExt};
use axum::{Extension, Router};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection::{self, Timeouts, Transport};

/// The time for requests and open streams to finish after shutdown was requested.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1_500);

const TIMEOUTS: Timeouts = Timeouts { header: Duration::from_secs(10), idle: Duration::from_secs(75) };

/// The tasks of WebSockets, which outlive their request, so that shutdown can wait for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(pub(crate) TaskTracker);

/// The most connections that one listener holds open. Further clients wait until one of them is closed, which an idle one soon is. WebSockets
/// count until they are open, and each needs a token.
const MAX_CONNECTIONS: usize = 4_096;
/// macOS has no hard limit by default, and refuses a soft limit above this one.
const MAX_FILES_OF_MACOS: u64 = 10_240;

/// Answers requests on `tcp` and `socket` until `shutdown` is cancelled, then waits at most 1.5 seconds for those in progress.
pub async fn serve(tcp: TcpListener, socket: Option<UnixListener>, router: Router, shutdown: CancellationToken) {
    serve_with(tcp, socket, router, shutdown, Limits { timeouts: TIMEOUTS, connections: MAX_CONNECTIONS.min(file_limit() / 4) }).await;
}

/// The limits of idle connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) timeouts: Timeouts,
    /// The most connections of one listener.
    pub(crate) connections: usize,
}

/// Like [`serve`], with other limits.
pub(crate) async fn serve_with(tcp: TcpListener, socket: Option<UnixListener>, router: Router, shutdown: CancellationToken, limits: Limits) {
    let streams = Streams::default();
    let acceptor = Acceptor { router: router.layer(Extension(streams.clone())), connections: TaskTracker::new(), shutdown: shutdown.clone(), limits };
    let tcp = tcp.tap_io(|stream| {
        // An event is one small packet, which must not wait for a second one.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps delaying small packets");
        }
    });
    // The agents' socket has places of its own, because other users of the machine can open connections over TCP.
    let over_socket = async {
        if let Some(socket) = socket {
            acceptor.accept(socket, Transport::Socket).await;
        }
    };
    tokio::join!(acceptor.accept(tcp, Transport::Tcp), over_socket);
    let finished = async {
        acceptor.connections.close();
        acceptor.connections.wait().await;
        streams.0.close();
        streams.0.wait().await;
    };
    if timeout(SHUTDOWN_TIMEOUT, finished).await.is_err() {
        tracing::debug!("cut the connections that were still open at the end of the shutdown");
    }
}

/// The parts that all connections share.
struct Acceptor {
    router: Router,
    connections: TaskTracker,
    shutdown: CancellationToken,
    limits: Limits,
}

impl Acceptor {
    /// Serves the connections of a listener until shutdown.
    async fn accept<L>(&self, mut listener: L, transport: Transport)
    where
        L: Listener,
        L::Io: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let places = Arc::new(Semaphore::new(self.limits.connections));
        let next = async |listener: &mut L| {
            let place = Arc::clone(&places).acquire_owned().await.ok();
            // Retries after errors such as too many open files.
            (Listener::accept(listener).await.0, place)
        };
        loop {
            let (stream, place) = tokio::select! {
                accepted = next(&mut listener) => accepted,
                () = self.shutdown.cancelled() => return,
            };
            let served = connection::serve(stream, transport, self.router.clone(), self.shutdown.clone(), self.limits.timeouts);
            self.connections.spawn(async move {
                served.await;
                drop(place);
            });
        }
    }
}

/// The soft limit of open files.
fn file_limit() -> usize {
    getrlimit(Resource::RLIMIT_NOFILE).ok().and_then(|(soft, _)| usize::try_from(soft).ok()).unwrap_or(MAX_CONNECTIONS)
}

/// Raises the soft limit of open files to the hard limit, because every connection and every agent needs some. Call it before anything else
/// opens files.
pub fn raise_file_limit() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| {
        let most = if cfg!(target_os = "macos") { hard.min(MAX_FILES_OF_MACOS) } else { hard };
        if soft < most { setrlimit(Resource::RLIMIT_NOFILE, most, hard) } else { Ok(()) }
    });
    if let Err(error) = raised {
        tracing::warn!(%error, "could not raise the limit of open files; many connections at once may be refused");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_limit_is_raised_to_the_hard_limit() {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, hard.min(4_096), hard).unwrap();
        raise_file_limit();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), (hard, hard));
    }
}
