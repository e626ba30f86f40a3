//! The ways out of a jail without a network: Unix sockets in the run's folder, served by the shim. One is an HTTP proxy that connects to
//! allowed hosts only; the others lead to one address each.
//!
//! It must not know what travels through it.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{sleep, timeout};

use super::egress::{AllowList, ProxyRequest, shown};
use super::forward::{Forward, ForwardTarget};
use crate::run_dir::RunDir;

/// The names of the proxy's logs in the run's folder. Each host has one line, the first time.
pub const ALLOWED_LOG: &str = "hosts-allowed";
pub const REFUSED_LOG: &str = "hosts-refused";

/// Limits for an agent that floods the proxy.
const MAX_CONNECTIONS: usize = 256;
const MAX_HEAD_BYTES: usize = 16 << 10;
const MAX_LOGGED_HOSTS: usize = 500;
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Listens on the sockets of all forwards and serves them until the runtime ends.
///
/// `folder` may be relative, because the address of a socket holds only 107 bytes.
///
/// # Errors
/// When a socket cannot be bound.
pub fn serve(folder: &Path, forwards: &[Forward], hosts: &[String], run_dir: &RunDir) -> io::Result<()> {
    let gate = Arc::new(Gate {
        allowed: AllowList::new(hosts.iter().map(String::as_str)),
        connections: Semaphore::new(MAX_CONNECTIONS),
        log: Mutex::new(BTreeSet::new()),
        run_dir: run_dir.clone(),
    });
    for forward in forwards {
        let path = folder.join(&forward.socket);
        // The shim holds the run's lock, so an existing socket is stale.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path)?;
        tokio::spawn(accept(listener, forward.target.clone(), gate.clone()));
    }
    Ok(())
}

struct Gate {
    allowed: AllowList,
    connections: Semaphore,
    log: Mutex<BTreeSet<(bool, String)>>,
    run_dir: RunDir,
}

async fn accept(listener: UnixListener, target: ForwardTarget, gate: Arc<Gate>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (target, gate) = (target.clone(), gate.clone());
                tokio::spawn(async move {
                    let Ok(_permit) = gate.connections.acquire().await else { return };
                    // A connection that breaks is the business of its two ends.
                    let _ = match target {
                        ForwardTarget::Address(address) => tunnel(stream, &address).await,
                        ForwardTarget::AllowedHosts => gate.proxy(stream).await,
                    };
                });
            }
            // Out of descriptors: other connections release some when they end.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn tunnel(mut stream: UnixStream, address: &str) -> io::Result<()> {
    let mut target = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await??;
    copy_bidirectional(&mut stream, &mut target).await.map(|_| ())
}

impl Gate {
    async fn proxy(&self, mut stream: UnixStream) -> io::Result<()> {
        let Some(head) = timeout(HEAD_TIMEOUT, read_head(&mut stream)).await?? else {
            return answer(&mut stream, "431 Request Header Fields Too Large", "the request is too long").await;
        };
        match ProxyRequest::parse(head.lines().next().unwrap_or_default()) {
            ProxyRequest::Connect { host, port } if self.allowed.permits(&host, port) => {
                self.record(true, shown(&host, port)).await;
                let target = timeout(CONNECT_TIMEOUT, TcpStream::connect((host.trim_matches(['[', ']']), port))).await;
                let Ok(Ok(mut target)) = target else {
                    return answer(&mut stream, "502 Bad Gateway", "the host cannot be reached").await;
                };
                stream.write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n").await?;
                copy_bidirectional(&mut stream, &mut target).await.map(|_| ())
            }
            ProxyRequest::Connect { host, port } | ProxyRequest::Plain { host, port } => {
                let host = shown(&host, port);
                let text = format!("the jail refused a connection to {host}; only https to allowed hosts works");
                self.record(false, host).await;
                answer(&mut stream, "403 Forbidden", &text).await
            }
            ProxyRequest::Invalid => answer(&mut stream, "400 Bad Request", "not a proxy request").await,
        }
    }

    async fn record(&self, permitted: bool, host: String) {
        let mut seen = self.log.lock().await;
        if seen.len() >= MAX_LOGGED_HOSTS || !seen.insert((permitted, host.clone())) {
            return;
        }
        let write = || {
            use std::io::Write;
            let mut file = self.run_dir.append(if permitted { ALLOWED_LOG } else { REFUSED_LOG }).map_err(io::Error::other)?;
            file.write_all(format!("{host}\n").as_bytes())
        };
        // Without the line the refusal is only missing on the card.
        let _: io::Result<()> = write();
    }
}

/// Reads to the empty line; `None` when the head is too long. A client sends nothing after the head before it has the answer.
async fn read_head(stream: &mut UnixStream) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            break;
        }
        head.extend_from_slice(&buffer[..count]);
        if head.len() > MAX_HEAD_BYTES {
            return Ok(None);
        }
    }
    Ok(Some(String::from_utf8_lossy(&head).into_owned()))
}

async fn answer(stream: &mut (impl AsyncWrite + Unpin), status: &str, text: &str) -> io::Result<()> {
    let length = text.len() + 1;
    let answer = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}\n");
    stream.write_all(answer.as_bytes()).await
}

/// The hosts that the proxy refused so far.
pub fn refused_hosts(run_dir: &RunDir) -> Vec<String> {
    let text = std::fs::read_to_string(run_dir.file(REFUSED_LOG)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
