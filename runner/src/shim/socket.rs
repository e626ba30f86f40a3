//! The shim's end of its socket: forwards lines to the agent and signals to `supervise`.
//!
//! Only the folder's mode (0700) decides who may connect. This module must not interpret a line.

use std::sync::Arc;

use nix::sys::signal::Signal;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::process::ChildStdin;
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Duration, sleep};

use super::control::{Answer, Command, SignalName};

/// The socket's name in the run's folder.
pub(super) const NAME: &str = "sock";

/// How many bytes one connection may send: far more than any prompt, and a bound for a faulty client.
const MAX_CONNECTION_BYTES: u64 = 64 << 20;

/// The agent's stdin. A writer holds the lock for one line, so that two lines never mix.
pub(super) type Stdin = Arc<Mutex<Pipe>>;

#[derive(Debug, Default)]
pub(super) enum Pipe {
    /// The checkout is being set up. A line that waited for the agent would arrive beside its repetition, because its sender gives up.
    #[default]
    NotStarted,
    Open(ChildStdin),
    Closed,
}

impl Pipe {
    fn open(&mut self) -> Result<&mut ChildStdin, &'static str> {
        match self {
            Self::NotStarted => Err("the agent has not started, because its checkout is being set up"),
            Self::Open(pipe) => Ok(pipe),
            Self::Closed => Err("the agent's stdin is closed"),
        }
    }
}

/// Opens the stdin of the agent that was started. `first_line` goes to it before any line from a connection.
pub(super) async fn open(stdin: Stdin, pipe: ChildStdin, first_line: Option<String>) {
    let mut stdin = stdin.lock_owned().await;
    *stdin = Pipe::Open(pipe);
    let Some(line) = first_line else { return };
    // A task writes it, because a slow agent must not delay a signal.
    tokio::spawn(async move {
        if let Ok(pipe) = stdin.open() {
            // An agent that does not read has ended or will be ended; its exit record says more than this error.
            let _ = pipe.write_all(format!("{line}\n").as_bytes()).await;
        }
    });
}

/// Serves connections until the runtime ends.
pub(super) async fn serve(listener: UnixListener, stdin: Stdin, signals: mpsc::Sender<Signal>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve_connection(stream, stdin.clone(), signals.clone()));
            }
            // Out of descriptors: other connections release some when they end.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve_connection(stream: UnixStream, stdin: Stdin, signals: mpsc::Sender<Signal>) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read.take(MAX_CONNECTION_BYTES));
    let mut line = String::new();
    // A line without its newline is incomplete because its sender died, so it is ignored.
    while lines.read_line(&mut line).await.is_ok() && line.ends_with('\n') {
        let answer = match serde_json::from_str(&line) {
            Ok(command) => match execute_command(command, &stdin, &signals).await {
                Ok(()) => Answer::Ok(true),
                Err(reason) => Answer::Error(reason),
            },
            Err(error) => Answer::Error(format!("not a command: {error}")),
        };
        line.clear();
        let Ok(mut answer) = serde_json::to_vec(&answer) else { return };
        answer.push(b'\n');
        // The client may be gone by now; its command was executed.
        if write.write_all(&answer).await.is_err() {
            return;
        }
    }
}

async fn execute_command(command: Command, stdin: &Stdin, signals: &mpsc::Sender<Signal>) -> Result<(), String> {
    match command {
        Command::Stdin(line) if line.contains(['\n', '\r']) => Err("a line must not contain a newline".to_owned()),
        Command::Stdin(mut line) => {
            line.push('\n');
            let mut stdin = stdin.lock().await;
            stdin.open()?.write_all(line.as_bytes()).await.map_err(|error| format!("the agent no longer reads: {error}"))
        }
        Command::CloseStdin(_) => {
            let mut stdin = stdin.lock().await;
            // It will not be read before it is opened.
            if !matches!(*stdin, Pipe::NotStarted) {
                *stdin = Pipe::Closed;
            }
            Ok(())
        }
        Command::Signal(name) => {
            let signal = match name {
                SignalName::Terminate => Signal::SIGTERM,
                SignalName::Kill => Signal::SIGKILL,
                SignalName::Interrupt => Signal::SIGINT,
            };
            signals.send(signal).await.map_err(|_| "the agent has ended".to_owned())
        }
    }
}
