//! The programs that a scripted agent starts: shell commands and its MCP server. It must not know what they are for.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

/// A started program, ended when it is dropped: its whole process group where it has its own.
pub(super) struct Running {
    child: Child,
    group: Option<Pid>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // The group may be gone already: that is what is wanted.
            let _ = killpg(group, Signal::SIGKILL);
        }
    }
}

/// Runs a shell command to its end in a process group of its own, as Claude Code does; dropping the future kills the group.
///
/// # Errors
/// The shell could not be started or its output not be read.
pub(super) async fn run_shell(command: &str, folder: &Path) -> io::Result<Output> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(folder).process_group(0);
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::start(shell, true)?;
    let (stdout, stderr) = (running.child.stdout.take(), running.child.stderr.take());
    let (stdout, stderr, status) = tokio::try_join!(read_all(stdout), read_all(stderr), running.child.wait())?;
    // A group that has ended must not be signalled: its number may be another's by now.
    running.group = None;
    Ok(Output { status, stdout, stderr })
}

/// Starts a program whose stdin and stdout are pipes, in the agent's own process group, as Claude Code starts an MCP server.
///
/// # Errors
/// The program could not be started.
pub(super) fn start_piped(program: &str, arguments: &[String], environment: &BTreeMap<String, String>) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.args(arguments).envs(environment).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.spawn()
}

/// Sends SIGINT, as Claude Code does to its MCP servers at its end.
pub(super) fn interrupt(child: &Child) {
    if let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()) {
        // It may have ended by itself.
        let _ = kill(Pid::from_raw(id), Signal::SIGINT);
    }
}

/// How a failed command ended, in the words of Claude Code's Bash tool.
pub(super) fn exit_words(status: ExitStatus) -> String {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    format!("Exit code {code}")
}

impl Running {
    fn start(mut command: Command, own_group: bool) -> io::Result<Self> {
        let child = command.spawn()?;
        let group = child.id().filter(|_| own_group).and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        Ok(Self { child, group })
    }
}

async fn read_all(pipe: Option<impl tokio::io::AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        tokio::io::AsyncReadExt::read_to_end(&mut pipe, &mut bytes).await?;
    }
    Ok(bytes)
}
