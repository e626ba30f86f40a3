//! Talking to a live shim: lines for the agent's stdin, the end of its stdin, signals.
//!
//! The wire is one JSON object a line in each direction: a [`Command`], then an [`Answer`]. What a line means to the agent is not known here.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout_at};

use super::socket;
use crate::run_dir::{RunDir, RunDirError};

/// How long the shim has for an answer. It answers a line when the agent's pipe has taken it, so an agent that reads nothing uses it up.
const ANSWER: Duration = Duration::from_secs(10);
const CONNECT_PAUSE: Duration = Duration::from_millis(20);

/// What the shim can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// One line for the agent, without its newline.
    Stdin(String),
    /// The agent gets no more input. The value is always true.
    CloseStdin(bool),
    Signal(SignalName),
}

/// The signals that can be sent, to the agent's whole process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignalName {
    /// To end in order. An agent that has not after 5 s is killed, even when the one who asked is gone by then.
    #[serde(rename = "TERM")]
    Terminate,
    #[serde(rename = "KILL")]
    Kill,
    #[serde(rename = "INT")]
    Interrupt,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The value is always true.
    Ok(bool),
    Error(String),
}

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error("the run has ended; read its exit record")]
    Gone,
    #[error("the agent took no input for {} s; signal it or wait", ANSWER.as_secs())]
    NoAnswer,
    #[error("the shim refused: {reason}")]
    Refused { reason: String },
    #[error("could not talk to the shim in {}", run_dir.display())]
    Wire { run_dir: PathBuf, source: io::Error },
    #[error(transparent)]
    RunDir(#[from] RunDirError),
}

/// A way to a live shim. Every call is a connection of its own, so one that waits for the agent to read does not hold up a signal.
#[derive(Debug)]
pub struct Control {
    run_dir: RunDir,
    folder: File,
}

impl Control {
    /// Waits until the shim listens, which it does before it starts the agent.
    ///
    /// # Errors
    /// [`ControlError::Gone`] when the run has ended or never began.
    pub async fn connect(run_dir: &RunDir) -> Result<Self, ControlError> {
        let wire = |source| ControlError::Wire { run_dir: run_dir.path().to_owned(), source };
        let control = Self { run_dir: run_dir.clone(), folder: File::open(run_dir.path()).map_err(wire)? };
        control.open(Instant::now() + ANSWER).await?;
        Ok(control)
    }

    /// Writes `line` and a newline to the agent's stdin. After an error the line may or may not have been written.
    ///
    /// # Errors
    /// When the line contains a newline, the agent's stdin is closed, or it does not read.
    pub async fn send_line(&self, line: &str) -> Result<(), ControlError> {
        self.ask(&Command::Stdin(line.to_owned())).await
    }

    /// Closes the agent's stdin. To close it again is no error.
    ///
    /// # Errors
    /// When the run has ended, or an earlier line has not been taken yet.
    pub async fn close_stdin(&self) -> Result<(), ControlError> {
        self.ask(&Command::CloseStdin(true)).await
    }

    /// # Errors
    /// When the run has ended.
    pub async fn signal(&self, signal: SignalName) -> Result<(), ControlError> {
        self.ask(&Command::Signal(signal)).await
    }

    async fn ask(&self, command: &Command) -> Result<(), ControlError> {
        let deadline = Instant::now() + ANSWER;
        let mut stream = self.open(deadline).await?;
        let mut line = serde_json::to_string(command).map_err(|error| self.wire(error.into()))?;
        line.push('\n');
        let exchange = async {
            stream.write_all(line.as_bytes()).await?;
            let mut answer = String::new();
            BufReader::new(&mut stream).read_line(&mut answer).await?;
            Ok::<String, io::Error>(answer)
        };
        match timeout_at(deadline, exchange).await {
            Err(_) => Err(ControlError::NoAnswer),
            // The shim went away in mid-sentence.
            Ok(Ok(answer)) if answer.is_empty() => Err(ControlError::Gone),
            Ok(Ok(answer)) => match serde_json::from_str(&answer) {
                Ok(Answer::Ok(_)) => Ok(()),
                Ok(Answer::Error(reason)) => Err(ControlError::Refused { reason }),
                Err(error) => Err(self.wire(error.into())),
            },
            Ok(Err(source)) if matches!(source.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => Err(ControlError::Gone),
            Ok(Err(source)) => Err(self.wire(source)),
        }
    }

    async fn open(&self, deadline: Instant) -> Result<UnixStream, ControlError> {
        // An address holds 107 bytes of path, and a server with many threads cannot change its folder for a relative one:
        // the open folder's descriptor makes a short name.
        let path = format!("/proc/self/fd/{}/{}", self.folder.as_raw_fd(), socket::NAME);
        loop {
            match UnixStream::connect(&path).await {
                Ok(stream) => return Ok(stream),
                Err(_) if !self.run_dir.is_alive()? => return Err(ControlError::Gone),
                Err(source) if Instant::now() >= deadline => return Err(self.wire(source)),
                // Alive and not listening: it is just starting, or just ending.
                Err(_) => sleep(CONNECT_PAUSE).await,
            }
        }
    }

    fn wire(&self, source: io::Error) -> ControlError {
        ControlError::Wire { run_dir: self.run_dir.path().to_owned(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_keeps_its_format() {
        let commands = [Command::Stdin("{\"a\":1}".to_owned()), Command::CloseStdin(true), Command::Signal(SignalName::Terminate)];
        let answers = [Answer::Ok(true), Answer::Error("no".to_owned())];
        let lines = commands.iter().map(serde_json::to_string).chain(answers.iter().map(serde_json::to_string));
        let lines: Vec<String> = lines.map(Result::unwrap).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"stdin":"{\"a\":1}"}
        {"close_stdin":true}
        {"signal":"TERM"}
        {"ok":true}
        {"error":"no"}
        "#);
    }
}
