//! Ports inside a jail without a network, which lead to sockets that the shim serves: `vibe-relay jail-exec` listens on them and becomes
//! the agent program.

use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tokio::io::copy_bidirectional;
use tokio::net::UnixStream;

use crate::process;

/// One port inside the jail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    pub port: u16,
    /// The name of the socket in the folder of the run's sockets.
    pub socket: String,
    pub target: ForwardTarget,
}

/// The target that the shim connects a socket to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForwardTarget {
    /// The HTTP proxy.
    AllowedHosts,
    /// One address, such as the board's.
    Address(String),
}

/// `PORT=SOCKET`, an argument of `jail-exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardArgument {
    pub port: u16,
    pub socket: PathBuf,
}

impl FromStr for ForwardArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('=').and_then(|(port, socket)| Some(Self { port: port.parse().ok()?, socket: socket.into() }));
        parsed.ok_or_else(|| format!("\"{text}\" is not PORT=SOCKET"))
    }
}

/// Listens on the ports of `forwards` and starts a process that forwards each, and one for each port of `inbound`; then replaces this process with
/// `command`. Returns only on a failure.
pub fn exec(forwards: &[ForwardArgument], inbound: &[ForwardArgument], command: &[String]) -> io::Error {
    for ForwardArgument { port, socket } in forwards {
        // Bound here, so that the agent cannot be faster than its way out.
        let started = TcpListener::bind(("127.0.0.1", *port)).and_then(|listener| process::start_forwarder(listener, socket));
        if let Err(error) = started {
            return error;
        }
    }
    for ForwardArgument { port, socket } in inbound {
        if let Err(error) = process::start_inbound(*port, socket) {
            return error;
        }
    }
    process::replace_self(command)
}

/// Forwards connections of the listener on standard input to `socket` until the jail ends.
pub fn main(socket: &Path) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(forward(socket))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

async fn forward(socket: &Path) -> io::Result<()> {
    let listener = process::inherited_listener()?;
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        let socket = socket.to_owned();
        tokio::spawn(async move {
            if let Ok(mut target) = UnixStream::connect(&socket).await {
                // A connection that breaks is the business of its two ends.
                let _ = copy_bidirectional(&mut stream, &mut target).await;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argument_is_a_port_and_a_socket() {
        let expected = ForwardArgument { port: 3128, socket: "/run/vibe-relay/proxy".into() };
        assert_eq!("3128=/run/vibe-relay/proxy".parse(), Ok(expected));
        assert!("proxy".parse::<ForwardArgument>().is_err() && "70000=x".parse::<ForwardArgument>().is_err());
    }
}
