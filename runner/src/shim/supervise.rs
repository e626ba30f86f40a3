//! Supervises the agent from its start to its exit, in one loop over a closed set of events.
//!
//! It must not care for processes that the agent leaves behind; `sweep` kills them.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use domain::runs::output::COMMAND_OUTPUT_FILE;
use nix::errno::Errno;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use tokio::net::UnixListener;
use tokio::process::ChildStdin;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::agent::Agent;
use super::out_of_memory::OutOfMemory;
use super::{setup, socket};
use crate::jail::{inbound, prepare, proxy};
use crate::process::{ProcessError, Streams};
use crate::run_dir::{CheckSpec, ExitError, ExitErrorKind, RunDir, RunSpec};

/// The time between TERM and KILL.
const KILL_DELAY: Duration = Duration::from_secs(5);
/// How long the shim waits for its own signal after an agent was ended by one. A shutdown signals all processes one after another, and an
/// agent may end before the shim gets its turn.
const SHUTDOWN_SPREAD: Duration = Duration::from_millis(500);
/// How large the file of error messages may grow. Only its end is read, so it is emptied then, and the agent works on.
const STDERR_LIMIT: u64 = 16 * 1024 * 1024;
const OUTPUT_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// How the agent's own process ended.
#[derive(Debug, Default)]
pub(super) struct AgentExit {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    /// How long the command of a check ran.
    pub(super) duration_ms: Option<u64>,
    pub(super) error: Option<ExitError>,
}

enum Event {
    /// A child process ended: the agent, or an adopted one.
    ChildEnded,
    /// The shim itself received a signal to end.
    Interrupted(Signal),
    Command(Signal),
    /// The time that a program may take is over.
    DeadlineOver,
    KillDelayOver,
    CheckOutputSize,
}

/// Prepares the checkout, starts the agent and returns when it has ended, or when it cannot start.
pub(super) async fn supervise(run_dir: &RunDir, spec: &RunSpec) -> AgentExit {
    match Supervision::begin(run_dir, spec) {
        Ok((mut supervision, stdin)) => supervision.run(run_dir, spec, stdin).await.unwrap_or_else(AgentExit::failed),
        Err(error) => AgentExit::failed(error),
    }
}

impl AgentExit {
    fn failed(error: ExitError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

/// Watches one program of a run after the other: the setup commands, then the agent.
pub(super) struct Supervision {
    events: Events,
    /// When to kill the program, once it received TERM.
    kill_at: Option<Instant>,
    over_limit: Option<u64>,
    /// The signal that the shim itself received.
    interrupted_by: Option<Signal>,
    /// Whether the server asked to end the run.
    commanded: bool,
    out_of_memory: OutOfMemory,
}

struct Events {
    children: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    commands: mpsc::Receiver<Signal>,
    output: tokio::time::Interval,
}

impl Supervision {
    fn begin(run_dir: &RunDir, spec: &RunSpec) -> Result<(Self, socket::Stdin), ExitError> {
        let listen = |kind| signal(kind).map_err(|error| start_failed("listen for signals", &error));
        let [children, terminate, interrupt] = [listen(SignalKind::child())?, listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?];
        // A handler is enough to survive: the end of a session sends this signal, and agents outlive sessions.
        let _ = listen(SignalKind::hangup())?;
        // This process holds the lock, so an existing socket belongs to a dead shim.
        let _ = fs::remove_file(socket::NAME);
        let listener = UnixListener::bind(socket::NAME).map_err(|error| start_failed("bind its socket", &error))?;
        if let Some(jail) = &spec.jail {
            let served = proxy::serve(Path::new(prepare::SOCKETS), &jail.forwards, &jail.hosts, run_dir);
            let served = served.and_then(|()| inbound::serve(Path::new(prepare::SOCKETS), &jail.inbound));
            served.map_err(|error| start_failed("offer sockets to the jail", &error))?;
        }
        let (signals, commands) = mpsc::channel(16);
        let stdin = socket::Stdin::default();
        tokio::spawn(socket::serve(listener, stdin.clone(), signals));
        let mut output = interval(OUTPUT_CHECK_INTERVAL);
        output.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let events = Events { children, terminate, interrupt, commands, output };
        let out_of_memory = OutOfMemory::begin();
        Ok((Self { events, kill_at: None, over_limit: None, interrupted_by: None, commanded: false, out_of_memory }, stdin))
    }

    async fn run(&mut self, run_dir: &RunDir, spec: &RunSpec, stdin: socket::Stdin) -> Result<AgentExit, ExitError> {
        if let Some(setup) = &spec.setup
            && let Some(end) = setup::prepare(self, run_dir, spec, setup).await?
        {
            return Ok(end);
        }
        if let Some(check) = &spec.check {
            return self.run_check(run_dir, spec, check).await;
        }
        let (mut agent, pipe) = start_agent(run_dir, spec)?;
        socket::open(stdin, pipe, spec.first_line.clone()).await;
        Ok(self.watch(&mut agent, spec, None).await)
    }

    /// Runs the command of a check, which is ended when its time is over.
    async fn run_check(&mut self, run_dir: &RunDir, spec: &RunSpec, check: &CheckSpec) -> Result<AgentExit, ExitError> {
        let (mut command, _) = start_program(spec, Streams::Check(run_dir))?;
        let (began, limit) = (Instant::now(), Duration::from_secs(check.limit_seconds));
        let mut exit = self.watch(&mut command, spec, Some(began + limit)).await;
        if began.elapsed() >= limit && !self.is_ending() && exit.code != Some(0) {
            exit.error.get_or_insert_with(|| timed_out(check.limit_seconds));
        }
        exit.duration_ms = u64::try_from(began.elapsed().as_millis()).ok();
        Ok(exit)
    }

    /// Returns when a program of the run has ended. It is ended after `deadline`.
    pub(super) async fn watch(&mut self, agent: &mut Agent, spec: &RunSpec, deadline: Option<Instant>) -> AgentExit {
        let mut deadline = deadline;
        loop {
            match self.events.next(self.kill_at, deadline).await {
                Event::ChildEnded => {
                    if let Some((code, signal)) = reap(agent.pid()).map(|(code, signal)| agent.exit(code, signal)) {
                        let error = self.over_limit.map(|size| over_limit(size, spec.output_limit));
                        let error = match error {
                            Some(error) => Some(error),
                            None if !self.commanded && self.kill_at.is_none() && self.out_of_memory.killed(signal) => Some(out_of_memory()),
                            None => self.interruption(code, signal).await.map(interrupted),
                        };
                        return AgentExit { code, signal, duration_ms: None, error };
                    }
                }
                Event::Interrupted(signal) => {
                    self.interrupted_by.get_or_insert(signal);
                    self.terminate(agent);
                }
                Event::Command(signal) => {
                    // An agent survives INT.
                    self.commanded |= signal != Signal::SIGINT;
                    if signal == Signal::SIGTERM { self.terminate(agent) } else { agent.send(signal) }
                }
                Event::DeadlineOver => {
                    deadline = None;
                    self.terminate(agent);
                }
                Event::KillDelayOver => {
                    agent.send(Signal::SIGKILL);
                    self.kill_at = Some(Instant::now() + KILL_DELAY);
                }
                Event::CheckOutputSize => {
                    self.out_of_memory.sample();
                    bound_error_file();
                    let size = output_size();
                    if size > spec.output_limit && self.over_limit.is_none() {
                        self.over_limit = Some(size);
                        self.terminate(agent);
                    }
                }
            }
        }
    }

    /// The signal that ended the run although no server asked for it, if one did.
    async fn interruption(&mut self, code: Option<i32>, signal: Option<i32>) -> Option<Signal> {
        // A server's request explains the end better than a shutdown that follows it.
        if self.commanded {
            return None;
        }
        if self.interrupted_by.is_none() && is_ended_by_shutdown(code, signal) {
            self.interrupted_by = timeout(SHUTDOWN_SPREAD, self.events.interrupted()).await.ok();
        }
        self.interrupted_by
    }

    fn terminate(&mut self, agent: &mut Agent) {
        agent.send(Signal::SIGTERM);
        self.kill_at.get_or_insert_with(|| Instant::now() + KILL_DELAY);
    }

    /// Whether the run is to end, so that no further program of it may start.
    pub(super) fn is_ending(&self) -> bool {
        self.commanded || self.interrupted_by.is_some() || self.over_limit.is_some()
    }

    /// Forgets that a program was ended, because the next one may start.
    pub(super) fn next_program(&mut self) {
        self.kill_at = None;
    }
}

impl Events {
    async fn next(&mut self, kill_at: Option<Instant>, deadline: Option<Instant>) -> Event {
        tokio::select! {
            _ = self.children.recv() => Event::ChildEnded,
            signal = interrupted_by(&mut self.terminate, &mut self.interrupt) => Event::Interrupted(signal),
            Some(signal) = self.commands.recv() => Event::Command(signal),
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => Event::DeadlineOver,
            () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => Event::KillDelayOver,
            _ = self.output.tick() => Event::CheckOutputSize,
        }
    }

    async fn interrupted(&mut self) -> Signal {
        interrupted_by(&mut self.terminate, &mut self.interrupt).await
    }
}

/// Waits for a signal to the shim itself.
async fn interrupted_by(terminate: &mut tokio::signal::unix::Signal, interrupt: &mut tokio::signal::unix::Signal) -> Signal {
    tokio::select! {
        _ = terminate.recv() => Signal::SIGTERM,
        _ = interrupt.recv() => Signal::SIGINT,
    }
}

/// Whether an agent ended as programs do when a shutdown signals them: by that signal, or with the exit code of a shell for it.
fn is_ended_by_shutdown(code: Option<i32>, signal: Option<i32>) -> bool {
    let signals = [Signal::SIGTERM as i32, Signal::SIGINT as i32, Signal::SIGHUP as i32];
    signal.is_some_and(|signal| signals.contains(&signal)) || code.is_some_and(|code| signals.contains(&(code - 128)))
}

fn start_agent(run_dir: &RunDir, spec: &RunSpec) -> Result<(Agent, ChildStdin), ExitError> {
    let (agent, stdin) = start_program(spec, Streams::Agent(run_dir))?;
    match stdin.map(ChildStdin::from_std) {
        Some(Ok(stdin)) => Ok((agent, stdin)),
        // The sweep kills it.
        _ => Err(start_failed("reach the agent's stdin", &io::ErrorKind::BrokenPipe.into())),
    }
}

/// Starts the command of the run.
fn start_program(spec: &RunSpec, streams: Streams<'_>) -> Result<(Agent, Option<std::process::ChildStdin>), ExitError> {
    // Checked first, because a missing folder and a missing program cause the same error.
    if !spec.cwd.is_dir() {
        let detail = format!("the agent's folder {} does not exist", spec.cwd.display());
        return Err(ExitError { kind: ExitErrorKind::StartFailed, detail });
    }
    Agent::start(spec, &spec.argv, streams).map_err(|error| match error {
        ProcessError::Start { program, source } if spec.jail.is_none() && is_missing(&program, &source) => {
            ExitError { kind: ExitErrorKind::MissingProgram, detail: format!("{} does not exist", program.display()) }
        }
        ProcessError::Start { program, source } => start_failed(&format!("start {}", program.display()), &source),
        other => ExitError { kind: ExitErrorKind::StartFailed, detail: other.to_string() },
    })
}

/// A script whose interpreter does not exist also reports "not found", but then the program itself exists.
fn is_missing(program: &Path, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound && !program.exists()
}

/// Reaps every child that has ended, including adopted ones. Returns the agent's code and signal when it is among them.
fn reap(agent: Pid) -> Option<(Option<i32>, Option<i32>)> {
    let mut agent_exit = None;
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == agent => agent_exit = Some((Some(code), None)),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == agent => agent_exit = Some((None, Some(signal as i32))),
            Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return agent_exit,
            Ok(_) | Err(_) => {}
        }
    }
}

/// Empties the file of error messages when it is too large. Its writers append.
fn bound_error_file() {
    if fs::metadata("stderr").is_ok_and(|found| found.len() > STDERR_LIMIT)
        && let Ok(file) = fs::OpenOptions::new().write(true).open("stderr")
    {
        // The next check tries again.
        let _ = file.set_len(0);
    }
}

fn output_size() -> u64 {
    ["stdout", "stderr", COMMAND_OUTPUT_FILE].iter().filter_map(|name| fs::metadata(name).ok()).map(|metadata| metadata.len()).sum()
}

fn over_limit(size: u64, limit: u64) -> ExitError {
    let detail = format!("the agent wrote {size} bytes of output; the limit is {limit}");
    ExitError { kind: ExitErrorKind::OutputLimit, detail }
}

fn timed_out(limit_seconds: u64) -> ExitError {
    ExitError { kind: ExitErrorKind::TimedOut, detail: format!("it did not end within {} min", limit_seconds / 60) }
}

fn out_of_memory() -> ExitError {
    let detail = "the kernel killed the agent because memory ran out; the next run continues its work".to_owned();
    ExitError { kind: ExitErrorKind::OutOfMemory, detail }
}

fn interrupted(signal: Signal) -> ExitError {
    let detail = format!("the agent was interrupted when the machine or the session shut down ({signal}); the next run continues its work");
    ExitError { kind: ExitErrorKind::Interrupted, detail }
}

pub(super) fn start_failed(attempt: &str, error: &io::Error) -> ExitError {
    ExitError { kind: ExitErrorKind::StartFailed, detail: format!("could not {attempt}: {error}") }
}
