//! The client of a live shim: sends lines to the agent's stdin, closes it, and sends signals.
//!
//! Each direction carries one JSON object per line: a [`Command`], then an [`Answer`]. This module must not know what a line means to the
//! agent.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout_at};

use super::socket;
use crate::blocking::off_thread;
use crate::run_dir::{RunDir, RunDirError};

/// How long to wait for an answer. The shim answers after the agent's pipe took the line, so an agent that does not read causes a timeout.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_INTERVAL: Duration = Duration::from_millis(20);

/// A request to the shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// One line for the agent, without its newline.
    Stdin(String),
    /// Closes the agent's stdin. The value is always true.
    CloseStdin(bool),
    Signal(SignalName),
}

/// Signals for the agent's process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignalName {
    /// The shim kills an agent that has not ended 5 s later, even when the sender is gone by then.
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
    #[error("the agent read no input for {} s; signal it or wait", ANSWER_TIMEOUT.as_secs())]
    NoAnswer,
    #[error("the shim refused: {reason}")]
    Refused { reason: String },
    #[error("could not talk to the shim in {}", run_dir.display())]
    Wire { run_dir: PathBuf, source: io::Error },
    #[error(transparent)]
    RunDir(#[from] RunDirError),
}

/// A client of one live shim. Each call uses its own connection, so a call that waits for the agent to read does not delay a signal.
#[derive(Debug)]
pub struct Control {
    run_dir: RunDir,
    folder: File,
}

impl Control {
    /// Waits until the shim listens, which precedes the agent's start.
    ///
    /// # Errors
    /// [`ControlError::Gone`] when the run has ended or never started.
    pub async fn connect(run_dir: &RunDir) -> Result<Self, ControlError> {
        let wire = |source| ControlError::Wire { run_dir: run_dir.path().to_owned(), source };
        let folder = tokio::fs::File::open(run_dir.path()).await.map_err(wire)?.into_std().await;
        let control = Self { run_dir: run_dir.clone(), folder };
        control.open(Instant::now() + ANSWER_TIMEOUT).await?;
        Ok(control)
    }

    /// Writes `line` and a newline to the agent's stdin. After an error the line may or may not have been written.
    ///
    /// # Errors
    /// When the line contains a newline, the agent's stdin is closed, or the agent does not read.
    pub async fn send_line(&self, line: &str) -> Result<(), ControlError> {
        self.request(&Command::Stdin(line.to_owned())).await
    }

    /// Closes the agent's stdin. Closing it again is not an error.
    ///
    /// # Errors
    /// When the run has ended, or the agent has not read an earlier line yet.
    pub async fn close_stdin(&self) -> Result<(), ControlError> {
        self.request(&Command::CloseStdin(true)).await
    }

    /// # Errors
    /// When the run has ended.
    pub async fn signal(&self, signal: SignalName) -> Result<(), ControlError> {
        self.request(&Command::Signal(signal)).await
    }

    async fn request(&self, command: &Command) -> Result<(), ControlError> {
        let deadline = Instant::now() + ANSWER_TIMEOUT;
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
            // The shim ended before its answer.
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
        // An address holds 107 bytes of path, and a multi-threaded server cannot change its folder to shorten one. On Linux, the open
        // folder's descriptor gives a short name.
        let path = if cfg!(target_os = "linux") {
            Path::new("/proc/self/fd").join(self.folder.as_raw_fd().to_string()).join(socket::NAME)
        } else {
            self.run_dir.file(socket::NAME)
        };
        loop {
            match UnixStream::connect(&path).await {
                Ok(stream) => return Ok(stream),
                Err(_) if !self.is_alive().await? => return Err(ControlError::Gone),
                Err(source) if Instant::now() >= deadline => return Err(self.wire(source)),
                // Alive but not listening: it is starting or ending.
                Err(_) => sleep(CONNECT_INTERVAL).await,
            }
        }
    }

    async fn is_alive(&self) -> Result<bool, ControlError> {
        let run_dir = self.run_dir.clone();
        Ok(off_thread(move || run_dir.is_alive()).await.map_err(|error| self.wire(io::Error::other(error)))??)
    }

    fn wire(&self, source: io::Error) -> ControlError {
        ControlError::Wire { run_dir: self.run_dir.path().to_owned(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_answers_keep_their_format() {
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
