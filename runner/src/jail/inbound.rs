//! The way into a jail without a network: a port of this machine that leads to the same port inside. The shim listens on it, outside.
//!
//! A program inside cannot create a socket that the shim may trust, so the connections are made from the inside: `vibe-relay jail-serve` keeps
//! one open to a socket of the shim, and connects it to the app once the shim sends a byte. Only requests to the expected host pass, because
//! a browser sends the cookies of the board to every port of the host on which the board is.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{sleep, timeout};

/// The byte with which the shim takes a connection from the inside.
const TAKEN: u8 = b'!';
const MAX_HEAD_BYTES: usize = 32 << 10;
/// How long a browser may take to send the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a request waits for a connection from the inside.
const INSIDE_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// One port that leads into the jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inbound {
    pub port: u16,
    /// The name of the socket in the folder of the run's sockets.
    pub socket: String,
    /// The name of the host that a request must have.
    pub host: String,
}

/// Listens on the ports and on the sockets, and serves them until the runtime ends. `folder` may be relative, because the address of a socket
/// holds only 107 bytes.
///
/// # Errors
/// When a port is taken or a socket cannot be bound.
pub fn serve(folder: &Path, inbound: &[Inbound]) -> io::Result<()> {
    for Inbound { port, socket, host } in inbound {
        let path = folder.join(socket);
        // The shim holds the run's lock, so an existing socket is stale.
        let _ = std::fs::remove_file(&path);
        let inside = UnixListener::bind(&path)?;
        let outside = std::net::TcpListener::bind(("127.0.0.1", *port))?;
        outside.set_nonblocking(true)?;
        let (offer, offered) = mpsc::channel(1);
        tokio::spawn(collect(inside, offer));
        tokio::spawn(accept(TcpListener::from_std(outside)?, host.clone(), Arc::new(Mutex::new(offered))));
    }
    Ok(())
}

/// Takes the connections from the inside, as they are needed.
async fn collect(inside: UnixListener, offer: mpsc::Sender<UnixStream>) {
    loop {
        match inside.accept().await {
            Ok((stream, _)) => {
                if offer.send(stream).await.is_err() {
                    return;
                }
            }
            // Out of descriptors: other connections release some when they end.
            Err(_) => sleep(RETRY_DELAY).await,
        }
    }
}

async fn accept(outside: TcpListener, host: String, offered: Arc<Mutex<mpsc::Receiver<UnixStream>>>) {
    loop {
        match outside.accept().await {
            Ok((stream, _)) => {
                let (host, offered) = (host.clone(), offered.clone());
                tokio::spawn(async move {
                    // A connection that breaks is the business of its two ends.
                    let _ = join(stream, &host, &offered).await;
                });
            }
            Err(_) => sleep(RETRY_DELAY).await,
        }
    }
}

async fn join(mut outside: TcpStream, host: &str, offered: &Mutex<mpsc::Receiver<UnixStream>>) -> io::Result<()> {
    let head = timeout(HEAD_TIMEOUT, read_head(&mut outside)).await??;
    if !is_for(&head, host) {
        let answer = format!("HTTP/1.1 421 Misdirected Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nOpen this app as {host}.\n");
        return outside.write_all(answer.as_bytes()).await;
    }
    let mut inside = timeout(INSIDE_TIMEOUT, take(offered)).await??;
    inside.write_all(&head).await?;
    copy_bidirectional(&mut outside, &mut inside).await.map(|_| ())
}

/// Takes a connection from the inside that is still open.
async fn take(offered: &Mutex<mpsc::Receiver<UnixStream>>) -> io::Result<UnixStream> {
    loop {
        let Some(mut inside) = offered.lock().await.recv().await else { return Err(io::ErrorKind::NotConnected.into()) };
        if inside.write_all(&[TAKEN]).await.is_ok() {
            return Ok(inside);
        }
    }
}

/// Reads to the empty line after the head of a request, or as much as a head may have.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") && head.len() < MAX_HEAD_BYTES {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            break;
        }
        head.extend_from_slice(&buffer[..count]);
    }
    Ok(head)
}

/// Whether a request names this host, and no other.
fn is_for(head: &[u8], host: &str) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut hosts = text.lines().skip(1).take_while(|line| !line.is_empty()).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let named = hosts.next().map(|value| value.rsplit_once(':').map_or(value, |(name, _)| name));
    named.is_some_and(|named| named.eq_ignore_ascii_case(host)) && hosts.next().is_none()
}

/// Runs inside of the jail until it ends: connects the shim's `socket` to the app that listens on `port`.
pub fn main(port: u16, socket: &Path) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(offer(port, socket)),
        Err(_) => ExitCode::FAILURE,
    }
}

async fn offer(port: u16, socket: &Path) -> ExitCode {
    loop {
        let Ok(mut outside) = UnixStream::connect(socket).await else {
            sleep(RETRY_DELAY).await;
            continue;
        };
        if !matches!(outside.read_u8().await, Ok(TAKEN)) {
            sleep(RETRY_DELAY).await;
            continue;
        }
        tokio::spawn(async move {
            if let Ok(mut app) = connect(port).await {
                // A connection that breaks is the business of its two ends.
                let _ = copy_bidirectional(&mut outside, &mut app).await;
            }
        });
    }
}

/// Connects to an app of this machine, which may listen with either version of the protocol.
///
/// # Errors
/// When nothing listens.
pub(crate) async fn connect(port: u16) -> io::Result<TcpStream> {
    match TcpStream::connect(("127.0.0.1", port)).await {
        Ok(stream) => Ok(stream),
        Err(_) => TcpStream::connect(("::1", port)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_must_name_the_host_of_the_app() {
        let head = |host: &str| format!("GET / HTTP/1.1\r\nAccept: */*\r\nhOsT: {host}\r\n\r\nHost: task-004.localhost\r\n");
        assert!(is_for(head("task-004.localhost:4001").as_bytes(), "task-004.localhost"));
        assert!(is_for(head("TASK-004.localhost").as_bytes(), "task-004.localhost"));
        for other in ["localhost:4001", "127.0.0.1:4001", "task-004.localhost.evil.org", "x\r\nHost: task-004.localhost", ""] {
            assert!(!is_for(head(other).as_bytes(), "task-004.localhost"), "{other}");
        }
        assert!(!is_for(b"GET http://task-004.localhost/ HTTP/1.1\r\n\r\n", "task-004.localhost"));
    }

    /// An app, and the two ends of the way to it.
    #[tokio::test]
    async fn requests_reach_the_app_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let app = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let app_port = app.local_addr().unwrap().port();
        let port = portpicker::pick_unused_port().unwrap();
        let inbound = Inbound { port, socket: "app".to_owned(), host: "task-004.localhost".to_owned() };
        serve(folder.path(), &[inbound]).unwrap();
        let socket = folder.path().join("app");
        tokio::spawn(async move { offer(app_port, &socket).await });
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = app.accept().await.unwrap();
                tokio::spawn(async move {
                    let head = read_head(&mut stream).await.unwrap();
                    let answer = format!("HTTP/1.1 200 OK\r\n\r\n{}", String::from_utf8_lossy(&head).lines().next().unwrap());
                    stream.write_all(answer.as_bytes()).await.unwrap();
                });
            }
        });
        let ask = async |host: &str, path: &str| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer
        };
        for path in ["/one", "/two"] {
            let answer = ask(&format!("task-004.localhost:{port}"), path).await;
            assert!(answer.ends_with(&format!("GET {path} HTTP/1.1")), "{answer}");
        }
        let answer = ask(&format!("127.0.0.1:{port}"), "/cookies").await;
        assert!(answer.starts_with("HTTP/1.1 421 "), "{answer}");
    }
}
