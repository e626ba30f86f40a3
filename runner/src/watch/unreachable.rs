//! Waits for a run that cannot be watched, until it can be read again or is proven gone.
//!
//! The run stays live meanwhile, and its card says why it cannot be reached. A stop still ends it, through its process instead of its socket.

use std::path::Path;
use std::time::Duration;

use db::RunProcess;
use domain::runs::condition::RunCondition;
use domain::runs::failure::FailureClass;
use domain::runs::run::Run;
use nix::sys::signal::Signal;
use tokio::time::{Instant, sleep};

use crate::blocking::off_thread;
use crate::liveness::{self, Liveness};
use crate::run_dir::ExitRecord;
use crate::runs::run::RunContext;
use crate::supervisor::WakeHandle;
use crate::watch::card_has_moved;
use crate::watch::end::{Observed, UnreadableRun};

/// The pauses between two inspections, which double. The first is short, because most causes pass at once.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// How long a shim has to end its agent after TERM.
const KILL_DELAY: Duration = Duration::from_secs(15);
/// How long an agent may go on after it moved its card. The end of its turn cannot be seen.
const LAST_WORDS: Duration = Duration::from_secs(15);

pub(super) struct Unreachable<'a> {
    context: &'a RunContext,
    run: &'a Run,
    path: &'a Path,
    process: &'a RunProcess,
    /// Not reset when the run can be read again, so that one that often fails is not read from its beginning all the time.
    pause: Duration,
    /// The agent is ended because of this, which then is the reason of the end.
    disk_full: Option<UnreadableRun>,
    terminated_at: Option<Instant>,
    /// When its card was first seen moved.
    moved_at: Option<Instant>,
}

impl<'a> Unreachable<'a> {
    pub(super) fn new(context: &'a RunContext, run: &'a Run, path: &'a Path, process: &'a RunProcess) -> Self {
        Self { context, run, path, process, pause: FIRST_PAUSE, disk_full: None, terminated_at: None, moved_at: None }
    }

    /// Returns the end of the run once that is proven, or `None` when the watch is to be tried again.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn resolve(&mut self, observed: &mut Observed, wake: &WakeHandle) -> db::Result<Option<ExitRecord>> {
        let mut unreadable = observed.unreadable.as_ref().map(|unreadable| unreadable.error.clone());
        if self.disk_full.is_none() {
            self.disk_full = observed.unreadable.take_if(|unreadable| unreadable.failure == FailureClass::DiskFull);
        }
        loop {
            let reason = match (self.inspect().await, unreadable.take()) {
                (Liveness::Gone(exit), _) => {
                    observed.unreadable = self.disk_full.take().or(observed.unreadable.take());
                    return Ok(Some(exit));
                }
                (Liveness::Unreachable { reason }, _) | (Liveness::Alive, Some(reason)) => reason,
                (Liveness::Alive, None) => return Ok(None),
            };
            tracing::warn!(run = %self.run.id, reason, "a run cannot be reached");
            self.context.db.set_run_condition(&self.run.id, Some(RunCondition::Unreachable { detail: reason })).await?;
            self.end_if_due().await?;
            tokio::select! {
                () = sleep(self.pause) => self.pause = (self.pause * 2).min(MAX_PAUSE),
                () = wake.notified() => {}
            }
        }
    }

    async fn inspect(&self) -> Liveness {
        let (path, process) = (self.path.to_owned(), self.process.clone());
        let found = off_thread(move || liveness::inspect(&path, &process)).await;
        found.unwrap_or_else(|error| Liveness::Unreachable { reason: error.to_string() })
    }

    /// Ends the agent when a person stopped the run, when its work is done, or when nothing that it does can be stored.
    async fn end_if_due(&mut self) -> db::Result<()> {
        let stopped = self.context.db.run(&self.run.id).await?.stop_requested_at.is_some();
        if card_has_moved(&self.context.db.card(&self.run.task_id).await?, self.run.phase) {
            self.moved_at.get_or_insert_with(Instant::now);
        }
        let is_done = self.moved_at.is_some_and(|at| at.elapsed() >= LAST_WORDS);
        let Some(shim) = self.process.shim.filter(|_| stopped || is_done || self.disk_full.is_some()) else { return Ok(()) };
        let signal = match self.terminated_at {
            None => Signal::SIGTERM,
            Some(at) if at.elapsed() < KILL_DELAY => return Ok(()),
            Some(_) => Signal::SIGKILL,
        };
        self.terminated_at.get_or_insert_with(Instant::now);
        if let Ok(Err(error)) = off_thread(move || liveness::signal(shim, signal)).await {
            tracing::warn!(run = %self.run.id, %error, "an agent that cannot be reached was not signalled");
        }
        Ok(())
    }
}
