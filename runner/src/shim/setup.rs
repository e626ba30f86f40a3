//! Prepares the checkout of a run: copies what an earlier setup left, or runs the setup commands one after another.
//!
//! The output of a command is written to that of the run while it works. It must not decide whether a checkout needs a setup.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use domain::runs::output::RAW_OUTPUT_FILE;
use domain::text::{excerpt, excerpt_end};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe::Receiver;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::agent::Agent;
use super::supervise::{AgentExit, Supervision, start_failed};
use crate::process::Streams;
use crate::run_dir::{ExitError, ExitErrorKind, RunDir, RunSpec};
use crate::setup::{SetupCommand, SetupEvent, SetupSpec, reuse};

/// The end of a command's output that the card shows, in characters.
const SHOWN_CHARS: usize = 300;
/// The beginning of a command that the card shows, in characters.
const NAMED_CHARS: usize = 120;
/// The longest line that is passed on, in bytes. A bar that redraws itself is one long line.
const MAX_LINE_BYTES: usize = 4_000;
/// How long output is awaited after a command has ended. A process that it left behind may hold the pipe open.
const DRAIN: Duration = Duration::from_millis(500);

/// Prepares the checkout. Returns the end of the run if the agent must not start.
///
/// # Errors
/// When the output of the run cannot be written or a command cannot start.
pub(super) async fn prepare(
    supervision: &mut Supervision,
    run_dir: &RunDir,
    spec: &RunSpec,
    setup: &SetupSpec,
) -> Result<Option<AgentExit>, ExitError> {
    if fs::read_to_string(&setup.stamp).is_ok_and(|stamp| stamp == setup.key) {
        return Ok(None);
    }
    let output = run_dir.append(RAW_OUTPUT_FILE).map_err(|error| failed("write the output of the setup", &error.to_string()))?;
    let copied = match &setup.reuse {
        Some(reuse) => {
            let (reuse, checkout) = (reuse.clone(), spec.cwd.clone());
            off_thread(move || reuse::restore(&reuse, &checkout)).await
        }
        None => Ok(false),
    };
    match (copied, &setup.reuse) {
        (Ok(true), Some(reuse)) => {
            let folders: Vec<String> = reuse.folders.iter().map(|folder| folder.display().to_string()).collect();
            report(&output, SetupEvent::Printed { text: format!("copied {} from an earlier setup with the same lock files", folders.join(", ")) })?;
        }
        (copied, _) => {
            if let Err(error) = copied {
                report(&output, SetupEvent::Printed { text: format!("could not copy an earlier setup: {error}") })?;
            }
            for (number, command) in setup.commands.iter().enumerate() {
                if let Some(end) = run(supervision, spec, setup, (number, command), &output).await? {
                    return Ok(Some(end));
                }
            }
            if let Some(reuse) = setup.reuse.clone() {
                let checkout = spec.cwd.clone();
                if let Err(error) = off_thread(move || reuse::store(&reuse, &checkout)).await {
                    report(&output, SetupEvent::Printed { text: format!("could not keep a copy for later checkouts: {error}") })?;
                }
            }
        }
    }
    // Without it, the next run of this checkout only prepares it again.
    let _ = stamp(setup);
    Ok(None)
}

/// Writes a new file, because an agent may have put a link in its place.
fn stamp(setup: &SetupSpec) -> io::Result<()> {
    if let Err(error) = fs::remove_file(&setup.stamp)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    File::create_new(&setup.stamp)?.write_all(setup.key.as_bytes())
}

/// Runs one command. Returns the end of the run if it failed or the run is to end.
async fn run(
    supervision: &mut Supervision,
    spec: &RunSpec,
    setup: &SetupSpec,
    (number, command): (usize, &SetupCommand),
    output: &File,
) -> Result<Option<AgentExit>, ExitError> {
    let id = format!("setup-{}", number + 1);
    report(output, SetupEvent::Started { id: id.clone(), line: command.line.clone() })?;
    let (reader, writer) = io::pipe().map_err(|error| start_failed("open a pipe", &error))?;
    let started = Agent::start(spec, &command.argv, Streams::Setup(&writer));
    // Only the command has the other end now.
    drop(writer);
    let (mut program, _) = started.map_err(|error| failed(&format!("start `{}`", command.line), &error.to_string()))?;
    let printed = pass_on(OwnedFd::from(reader), output)?;
    let began = Instant::now();
    let limit = Duration::from_secs(setup.limit_seconds);
    let exit = supervision.watch(&mut program, spec, Some(began + limit)).await;
    let last_lines = last_lines(printed).await;
    let seconds = began.elapsed().as_secs();
    if exit.code == Some(0) && exit.error.is_none() && !supervision.is_ending() {
        supervision.next_program();
        report(output, SetupEvent::Ended { id, ok: true, text: format!("ended well after {seconds} s") })?;
        return Ok(None);
    }
    let how = match (exit.code, exit.signal) {
        _ if began.elapsed() >= limit => format!("did not end within {} min", setup.limit_seconds / 60),
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "did not start".to_owned(),
    };
    report(output, SetupEvent::Ended { id, ok: false, text: format!("{how} after {seconds} s") })?;
    if supervision.is_ending() {
        return Ok(Some(exit));
    }
    let detail = format!("`{}` {how}. {}", excerpt(&command.line, NAMED_CHARS), excerpt_end(last_lines.trim(), SHOWN_CHARS));
    let error = ExitError { kind: ExitErrorKind::SetupFailed, detail: detail.trim().to_owned() };
    Ok(Some(AgentExit { error: Some(exit.error.unwrap_or(error)), ..exit }))
}

/// Writes the output of a command to that of the run, line by line. The task returns the last lines.
fn pass_on(pipe: OwnedFd, output: &File) -> Result<JoinHandle<String>, ExitError> {
    let pipe = Receiver::from_owned_fd(pipe).map_err(|error| start_failed("read a pipe", &error))?;
    let output = output.try_clone().map_err(|error| start_failed("write the output of the setup", &error))?;
    Ok(tokio::spawn(async move {
        let (mut lines, mut last) = (BufReader::new(pipe), String::new());
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).await.is_ok_and(|bytes| bytes > 0) {
            line.truncate(MAX_LINE_BYTES);
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if text.is_empty() {
                continue;
            }
            last = excerpt_end(&format!("{last}\n{text}"), SHOWN_CHARS);
            // The run ends by its limit of output, or its disk is full and the agent fails.
            let _ = report(&output, SetupEvent::Printed { text });
        }
        last
    }))
}

async fn last_lines(mut printed: JoinHandle<String>) -> String {
    match timeout(DRAIN, &mut printed).await {
        Ok(last) => last.unwrap_or_default(),
        Err(_) => {
            printed.abort();
            String::new()
        }
    }
}

fn report(mut output: &File, event: SetupEvent) -> Result<(), ExitError> {
    // One write, so that no other line comes between.
    output.write_all(format!("{}\n", event.encode()).as_bytes()).map_err(|error| start_failed("write the output of the setup", &error))
}

fn failed(attempt: &str, detail: &str) -> ExitError {
    ExitError { kind: ExitErrorKind::SetupFailed, detail: format!("could not {attempt}: {detail}") }
}

async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
