//! Accepts connections until shutdown, then finishes the requests in progress and cuts the streams that never end.

use std::time::Duration;

use axum::serve::Listener;
use axum::{Extension, Router};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connection::{self, Timeouts};

/// The time for requests and open streams to finish after shutdown was requested.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1_500);

const TIMEOUTS: Timeouts = Timeouts { header: Duration::from_secs(10), idle: Duration::from_secs(75) };

/// The tasks of WebSockets, which outlive their request, so that shutdown can wait for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(pub(crate) TaskTracker);

/// Answers requests on `listener` until `shutdown` is cancelled, then waits at most 1.5 seconds for those in progress.
///
/// Raises the process's limit of open files, because every connection and every agent needs some.
pub async fn serve(listener: TcpListener, router: Router, shutdown: CancellationToken) {
    raise_file_limit();
    serve_with(listener, router, shutdown, TIMEOUTS).await;
}

/// Like [`serve`], with `timeouts` for idle connections.
pub(crate) async fn serve_with(mut listener: TcpListener, router: Router, shutdown: CancellationToken, timeouts: Timeouts) {
    let streams = Streams::default();
    let router = router.layer(Extension(streams.clone()));
    let connections = TaskTracker::new();
    loop {
        let (stream, _) = tokio::select! {
            // Retries after errors such as too many open files.
            accepted = Listener::accept(&mut listener) => accepted,
            () = shutdown.cancelled() => break,
        };
        // An event is one small packet, which must not wait for a second one.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps delaying small packets");
        }
        connections.spawn(connection::serve(stream, router.clone(), shutdown.clone(), timeouts));
    }
    drop(listener);
    let finished = async {
        connections.close();
        connections.wait().await;
        streams.0.close();
        streams.0.wait().await;
    };
    if timeout(SHUTDOWN_TIMEOUT, finished).await.is_err() {
        tracing::debug!("cut the connections that were still open at the end of the shutdown");
    }
}

/// Raises the soft limit of open files to the hard limit.
pub(crate) fn raise_file_limit() {
    let raised =
        getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| if soft < hard { setrlimit(Resource::RLIMIT_NOFILE, hard, hard) } else { Ok(()) });
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
