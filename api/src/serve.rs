//! Listening, and ending in time: what is being answered is finished, what never ends by itself is cut.

use std::time::Duration;

use axum::serve::ListenerExt;
use axum::{Extension, Router};
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long requests and open streams are waited for after the end was asked for.
const GRACE: Duration = Duration::from_millis(1_500);

/// The tasks of connections that outlive their request, so that the end can wait for their goodbye.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(pub(crate) TaskTracker);

/// Answers requests on `listener` until `shutdown` is cancelled, then for at most 1.5 seconds what is still open.
///
/// # Errors
/// When the listener cannot be used.
pub async fn serve(listener: TcpListener, router: Router, shutdown: CancellationToken) -> std::io::Result<()> {
    let streams = Streams::default();
    let listener = listener.tap_io(|stream| {
        // An event is one small packet; it must not wait for a second one.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection goes on with delayed packets");
        }
    });
    let requests = axum::serve(listener, router.layer(Extension(streams.clone()))).with_graceful_shutdown(shutdown.clone().cancelled_owned());
    let all = async {
        requests.await?;
        streams.0.close();
        streams.0.wait().await;
        Ok(())
    };
    tokio::select! {
        ended = all => ended,
        () = async {
            shutdown.cancelled().await;
            sleep(GRACE).await;
        } => Ok(()),
    }
}
