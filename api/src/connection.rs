//! One HTTP connection: its requests, its shutdown, and the timeouts that close it when it is idle.
//!
//! hyper has one timeout for both a slow header and an idle connection, so this file measures them itself. Knows no route.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// The limits for a connection without a request in progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// From the first byte of a request, or the start of the connection, to the end of the header.
    pub(crate) header: Duration,
    /// From the end of a response to the first byte of the next request.
    pub(crate) idle: Duration,
}

/// How a request arrived, as an extension of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    /// The Unix socket, which only programs of this user can open. It has no port.
    Socket,
}

/// Answers the requests of `stream` until the client closes it, a timeout expires, or shutdown finds it idle.
pub(crate) async fn serve<S>(stream: S, transport: Transport, router: Router, shutdown: CancellationToken, timeouts: Timeouts)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let phase = Arc::new(watch::Sender::new(AgentKind::Header(Instant::now())));
    let mut expired = pin!(expired(phase.subscribe(), timeouts));
    let service = service_fn({
        let phase = phase.clone();
        move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(transport);
            answer(router.clone(), request, phase.clone())
        }
    });
    let io = TokioIo::new(Observed { stream, phase });
    let connection = http1::Builder::new().header_read_timeout(None).serve_connection(io, service).with_upgrades();
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return report(ended),
        () = expired.as_mut() => return,
        () = shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        ended = connection => report(ended),
        () = expired => {}
    }
}

fn report(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

async fn answer(router: Router, request: Request<Incoming>, phase: Arc<watch::Sender<AgentKind>>) -> Result<axum::response::Response, Infallible> {
    let busy = Busy::new(phase);
    let response = router.oneshot(request.map(Body::new)).await?;
    // The body holds the guard, and is dropped when the response is complete.
    Ok(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _busy = &busy;
            frame
        }))
    }))
}

/// The state of a connection, with the time at which it began.
#[derive(Debug, Clone, Copy)]
enum AgentKind {
    /// The header of a request is awaited.
    Header(Instant),
    /// A request is in progress.
    Busy,
    /// The next request is awaited.
    Idle(Instant),
}

/// Waits until the connection has been in a phase for longer than that phase allows.
async fn expired(mut phase: watch::Receiver<AgentKind>, timeouts: Timeouts) {
    loop {
        let deadline = match *phase.borrow_and_update() {
            AgentKind::Header(since) => Some(since + timeouts.header),
            AgentKind::Idle(since) => Some(since + timeouts.idle),
            AgentKind::Busy => None,
        };
        let changed = phase.changed();
        let changed = match deadline {
            Some(deadline) => match timeout_at(deadline, changed).await {
                Ok(changed) => changed,
                Err(_) => return,
            },
            None => changed.await,
        };
        if changed.is_err() {
            // The connection was upgraded or has ended, so this no longer applies to it.
            std::future::pending::<()>().await;
        }
    }
}

/// Keeps a connection in [`AgentKind::Busy`] until the response is complete.
struct Busy(Arc<watch::Sender<AgentKind>>);

impl Busy {
    fn new(phase: Arc<watch::Sender<AgentKind>>) -> Self {
        phase.send_replace(AgentKind::Busy);
        Self(phase)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_replace(AgentKind::Idle(Instant::now()));
    }
}

/// A stream that reports when a request begins, and when bytes of a response leave after its body is complete.
struct Observed<S> {
    stream: S,
    phase: Arc<watch::Sender<AgentKind>>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Observed<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.phase.send_if_modified(|phase| replace_idle(phase, AgentKind::Header(Instant::now())));
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Observed<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        if matches!(polled, Poll::Ready(Ok(1..))) {
            self.phase.send_if_modified(|phase| replace_idle(phase, AgentKind::Idle(Instant::now())));
        }
        polled
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        if matches!(polled, Poll::Ready(Ok(1..))) {
            self.phase.send_if_modified(|phase| replace_idle(phase, AgentKind::Idle(Instant::now())));
        }
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

fn replace_idle(phase: &mut AgentKind, next: AgentKind) -> bool {
    let is_idle = matches!(phase, AgentKind::Idle(_));
    if is_idle {
        *phase = next;
    }
    is_idle
}
