//! The shim's side of its socket: takes commands, hands lines to the agent and signals to the supervision.
//!
//! Who may connect is decided by the folder's mode alone (0700).

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

/// How many bytes one connection may send: far more than any prompt, and an end to a writer gone wild.
const CONNECTION_LIMIT: u64 = 64 << 20;

/// The agent's stdin, until it is closed. Locked for the length of a line, so that two lines never mix.
type Stdin = Arc<Mutex<Option<ChildStdin>>>;

/// Serves connections until the runtime ends.
///
/// `first_line` goes to the agent before any line that somebody sends.
pub(super) async fn serve(listener: UnixListener, stdin: ChildStdin, first_line: Option<String>, orders: mpsc::Sender<Signal>) {
    let stdin: Stdin = Arc::new(Mutex::new(Some(stdin)));
    if let Some(line) = first_line {
        // Locked before anybody is heard; written aside, because an agent may be slow to read and a signal must not wait for it.
        let mut stdin = stdin.clone().lock_owned().await;
        tokio::spawn(async move {
            if let Some(pipe) = stdin.as_mut() {
                // An agent that reads nothing has ended or will be ended; its exit says more than this error.
                let _ = pipe.write_all(format!("{line}\n").as_bytes()).await;
            }
        });
    }
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(converse(stream, stdin.clone(), orders.clone()));
            }
            // Out of descriptors: some are given back when other connections end.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn converse(stream: UnixStream, stdin: Stdin, orders: mpsc::Sender<Signal>) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read.take(CONNECTION_LIMIT));
    let mut line = String::new();
    // A last line without its newline was cut off by the sender's death: nothing is done.
    while lines.read_line(&mut line).await.is_ok() && line.ends_with('\n') {
        let answer = match serde_json::from_str(&line) {
            Ok(command) => match obey(command, &stdin, &orders).await {
                Ok(()) => Answer::Ok(true),
                Err(reason) => Answer::Error(reason),
            },
            Err(error) => Answer::Error(format!("not a command: {error}")),
        };
        line.clear();
        let Ok(mut answer) = serde_json::to_vec(&answer) else { return };
        answer.push(b'\n');
        // The asker may be gone by now; what it asked for was done.
        if write.write_all(&answer).await.is_err() {
            return;
        }
    }
}

async fn obey(command: Command, stdin: &Stdin, orders: &mpsc::Sender<Signal>) -> Result<(), String> {
    match command {
        Command::Stdin(line) if line.contains(['\n', '\r']) => Err("a line must not contain a newline".to_owned()),
        Command::Stdin(mut line) => {
            line.push('\n');
            let mut stdin = stdin.lock().await;
            let pipe = stdin.as_mut().ok_or("the agent's stdin is closed")?;
            pipe.write_all(line.as_bytes()).await.map_err(|error| format!("the agent no longer reads: {error}"))
        }
        Command::CloseStdin(_) => {
            stdin.lock().await.take();
            Ok(())
        }
        Command::Signal(name) => {
            let signal = match name {
                SignalName::Terminate => Signal::SIGTERM,
                SignalName::Kill => Signal::SIGKILL,
                SignalName::Interrupt => Signal::SIGINT,
            };
            orders.send(signal).await.map_err(|_| "the agent has ended".to_owned())
        }
    }
}
