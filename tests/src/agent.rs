//! Drives an agent process that speaks stream-json. It must not know whether the agent is real or scripted.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A started agent. Dropping it kills the process.
#[derive(Debug)]
pub struct Agent {
    child: Child,
    /// `None` after it was closed.
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    /// All lines read so far.
    pub lines: Vec<Value>,
}

/// How an agent ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// All lines that the agent printed.
    pub lines: Vec<Value>,
    pub stderr: String,
}

impl Agent {
    /// Starts a program with exactly these variables.
    ///
    /// # Errors
    /// The program could not be started.
    pub fn start(program: &Path, arguments: &[String], variables: &[(String, String)], folder: &Path) -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "a test starts the program under test itself")]
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(variables.iter().cloned()).current_dir(folder).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { stdin: child.stdin.take(), stdout: BufReader::new(stdout).lines(), child, lines: Vec::new() })
    }

    /// Sends a user message.
    ///
    /// # Errors
    /// The agent has closed its stdin.
    pub async fn send(&mut self, text: &str) -> io::Result<()> {
        self.send_line(&json!({"type": "user", "message": {"role": "user", "content": text}})).await
    }

    /// Orders the agent to end its turn. Its confirmation has this id.
    ///
    /// # Errors
    /// The agent has closed its stdin.
    pub async fn interrupt(&mut self, id: &str) -> io::Result<()> {
        self.send_line(&json!({"type": "control_request", "request_id": id, "request": {"subtype": "interrupt"}})).await
    }

    async fn send_line(&mut self, line: &Value) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(format!("{line}\n").as_bytes()).await
    }

    /// Reads up to the first matching line and returns it, or `None` when the agent ended before.
    ///
    /// # Errors
    /// A line could not be read or is not valid JSON.
    pub async fn wait_for(&mut self, is_match: impl Fn(&Value) -> bool) -> io::Result<Option<Value>> {
        while let Some(line) = self.stdout.next_line().await? {
            let line: Value = serde_json::from_str(&line)?;
            self.lines.push(line.clone());
            if is_match(&line) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// Reads up to the next `result` line.
    ///
    /// # Errors
    /// The same as for [`Agent::wait_for`].
    pub async fn result(&mut self) -> io::Result<Option<Value>> {
        self.wait_for(|line| line["type"] == "result").await
    }

    /// The process id, or `None` when the agent has ended.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Kills the agent at once, as a crash would.
    ///
    /// # Errors
    /// The agent has already ended.
    pub async fn kill(mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// Closes stdin and waits until the agent exits.
    ///
    /// # Errors
    /// The output could not be read.
    pub async fn end(mut self) -> io::Result<Ended> {
        drop(self.stdin.take());
        self.wait_for(|_| false).await?;
        let mut stderr = String::new();
        if let Some(mut pipe) = self.child.stderr.take() {
            pipe.read_to_string(&mut stderr).await?;
        }
        Ok(Ended { status: self.child.wait().await?, lines: self.lines, stderr })
    }
}
