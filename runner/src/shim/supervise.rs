//! From the agent's start to its end: one loop over a closed set of events.
//!
//! It ends with the agent itself; what the agent left behind is `sweep`'s business.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use tokio::net::UnixListener;
use tokio::process::ChildStdin;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::socket;
use crate::process::{self, ProcessError};
use crate::run_dir::{ExitError, ExitErrorKind, RunDir, Spec};

/// How long an agent has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(5);
const OUTPUT_LOOK: Duration = Duration::from_millis(500);

/// How the agent itself ended.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) error: Option<ExitError>,
}

enum Event {
    /// A child of ours ended; the agent, or one that we adopted.
    ChildEnded,
    /// The shim itself was told to end.
    Terminate,
    Command(Signal),
    GraceOver,
    LookAtOutput,
}

/// Starts the agent and returns when it has ended, or could not be started.
pub(super) async fn supervise(run_dir: &RunDir, spec: &Spec) -> Ending {
    match Supervision::begin(run_dir, spec) {
        Ok(mut supervision) => supervision.run(spec).await,
        Err(error) => Ending { error: Some(error), ..Ending::default() },
    }
}

struct Supervision {
    agent: Pid,
    events: Events,
    /// When the agent is killed, once it was told to end.
    kill_at: Option<Instant>,
    over_limit: Option<u64>,
}

struct Events {
    children: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    commands: mpsc::Receiver<Signal>,
    output: tokio::time::Interval,
}

impl Supervision {
    fn begin(run_dir: &RunDir, spec: &Spec) -> Result<Self, ExitError> {
        let listen = |kind| signal(kind).map_err(|error| start_failed("listen for signals", &error));
        let [children, terminate, interrupt] = [listen(SignalKind::child())?, listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?];
        // Taking it is enough to stay alive: a session's end sends it to everybody, and agents are to outlive that.
        let _ = listen(SignalKind::hangup())?;
        // We hold the lock, so a socket that is there belongs to a dead shim.
        let _ = fs::remove_file(socket::NAME);
        let listener = UnixListener::bind(socket::NAME).map_err(|error| start_failed("bind its socket", &error))?;

        let (agent, stdin) = start(run_dir, spec)?;
        let (orders, commands) = mpsc::channel(16);
        tokio::spawn(socket::serve(listener, stdin, spec.first_line.clone(), orders));
        let mut output = interval(OUTPUT_LOOK);
        output.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let events = Events { children, terminate, interrupt, commands, output };
        Ok(Self { agent, events, kill_at: None, over_limit: None })
    }

    async fn run(&mut self, spec: &Spec) -> Ending {
        loop {
            match self.events.next(self.kill_at).await {
                Event::ChildEnded => {
                    if let Some((code, signal)) = reap(self.agent) {
                        let error = self.over_limit.map(|size| over_limit(size, spec.output_limit));
                        return Ending { code, signal, error };
                    }
                }
                Event::Terminate | Event::Command(Signal::SIGTERM) => self.terminate(),
                Event::Command(signal) => self.send(signal),
                Event::GraceOver => {
                    self.send(Signal::SIGKILL);
                    self.kill_at = Some(Instant::now() + GRACE);
                }
                Event::LookAtOutput => {
                    let size = output_size();
                    if size > spec.output_limit && self.over_limit.is_none() {
                        self.over_limit = Some(size);
                        self.terminate();
                    }
                }
            }
        }
    }

    fn terminate(&mut self) {
        self.send(Signal::SIGTERM);
        self.kill_at.get_or_insert_with(|| Instant::now() + GRACE);
    }

    fn send(&self, signal: Signal) {
        // The agent is not reaped yet, so its group cannot be anybody else's. A group that is gone needs no signal.
        let _ = killpg(self.agent, signal);
    }
}

impl Events {
    async fn next(&mut self, kill_at: Option<Instant>) -> Event {
        tokio::select! {
            _ = self.children.recv() => Event::ChildEnded,
            _ = self.terminate.recv() => Event::Terminate,
            _ = self.interrupt.recv() => Event::Terminate,
            Some(signal) = self.commands.recv() => Event::Command(signal),
            () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => Event::GraceOver,
            _ = self.output.tick() => Event::LookAtOutput,
        }
    }
}

fn start(run_dir: &RunDir, spec: &Spec) -> Result<(Pid, ChildStdin), ExitError> {
    // Asked first, because a missing folder and a missing program give the same error.
    if !spec.cwd.is_dir() {
        let detail = format!("the agent's folder {} does not exist", spec.cwd.display());
        return Err(ExitError { kind: ExitErrorKind::StartFailed, detail });
    }
    let mut child = process::start_agent(spec, run_dir).map_err(|error| match error {
        ProcessError::Start { program, source } if is_missing(&program, &source) => {
            ExitError { kind: ExitErrorKind::MissingProgram, detail: format!("{} does not exist", program.display()) }
        }
        ProcessError::Start { program, source } => start_failed(&format!("start {}", program.display()), &source),
        other => ExitError { kind: ExitErrorKind::StartFailed, detail: other.to_string() },
    })?;
    let pid = i32::try_from(child.id()).map(Pid::from_raw);
    let stdin = child.stdin.take().map(ChildStdin::from_std);
    match (pid, stdin) {
        (Ok(pid), Some(Ok(stdin))) => Ok((pid, stdin)),
        _ => {
            // The sweep ends it.
            Err(start_failed("reach the agent's stdin", &io::ErrorKind::BrokenPipe.into()))
        }
    }
}

/// A script whose interpreter is missing gives "not found" too, but then the program itself is there.
fn is_missing(program: &Path, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound && !program.exists()
}

/// Collects every child that has ended, adopted ones included; the code and signal of the agent when it was among them.
fn reap(agent: Pid) -> Option<(Option<i32>, Option<i32>)> {
    let mut ending = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == agent => ending = Some((Some(code), None)),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == agent => ending = Some((None, Some(signal as i32))),
            Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return ending,
            Ok(_) | Err(_) => {}
        }
    }
}

fn output_size() -> u64 {
    ["stdout", "stderr"].iter().filter_map(|name| fs::metadata(name).ok()).map(|metadata| metadata.len()).sum()
}

fn over_limit(size: u64, limit: u64) -> ExitError {
    let detail = format!("the agent had written {size} bytes of output, {limit} are allowed");
    ExitError { kind: ExitErrorKind::OutputLimit, detail }
}

fn start_failed(attempt: &str, error: &io::Error) -> ExitError {
    ExitError { kind: ExitErrorKind::StartFailed, detail: format!("could not {attempt}: {error}") }
}
