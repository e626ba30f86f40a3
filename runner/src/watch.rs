//! Watches one run from its output to its recorded end: what its card shows meanwhile, what it is told, and when it must go.
//!
//! A run that another server started is read from its first byte again: everything that is known about it is a fold over its output,
//! and what was done about it is in the store.

mod end;
mod tell;
mod view;

pub(crate) use end::not_started;

use std::collections::BTreeSet;
use std::time::Duration;

use db::{Caller, RunCaller};
use domain::board::card::Card;
use domain::board::status::Status;
use domain::id::{ProjectId, RunId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::parking::ParkReason;
use domain::runs::run::Run;
use domain::wire::Frame;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use uuid::Uuid;

use crate::backend::activity;
use crate::backend::claude::has_board;
use crate::backend::stream::{RunLine, parse};
use crate::prompt;
use crate::run_dir::RunDir;
use crate::runs::parking;
use crate::runs::run::RunContext;
use crate::shim;
use crate::shim::control::Control;
use crate::supervisor::WakeHandle;
use crate::tail::{Tail, TailLine};
use crate::transcript::Transcript;
use crate::watch::end::Unreadable;
use crate::watch::tell::Pace;
use crate::watch::view::View;

/// Between two signs of life of an agent whose process lives: half of what makes it look stale.
const BEAT: Duration = Duration::from_secs(60);
/// How long an agent may say nothing. Longer than the longest command that it may run.
const SILENCE: Duration = Duration::from_secs(65 * 60);
/// After this much quiet a run that was taken over has been read to where it is.
const CATCH_UP: Duration = Duration::from_millis(300);
/// How long an agent that ended its turn has for taking what it was told during it.
const NEXT_TURN: Duration = Duration::from_secs(5);
/// How long it has for beginning the turn that it took something up for.
const BEGIN_TURN: Duration = Duration::from_secs(60);
/// At most one line of activity a run and second.
const ACTIVITY_PAUSE: Duration = Duration::from_secs(1);

/// Watches a started run until its end is recorded.
///
/// # Errors
/// When the store fails.
pub(crate) async fn watch(context: &RunContext, run: Run, run_dir: RunDir, wake: WakeHandle) -> db::Result<()> {
    let project = context.db.card(&run.task_id).await?.project_id;
    let mut watch = match Watch::begin(context, &run, project, run_dir.clone()).await {
        Ok(watch) => watch,
        Err(error) => return end::unreadable(context, &run, &run_dir, error).await,
    };
    match watch.follow(wake).await {
        Ok(()) => end::record(context, &run, &run_dir, &watch.view, watch.ending).await,
        Err(Trouble::Store(error)) => Err(error),
        Err(Trouble::Output(error)) => end::unreadable(context, &run, &run_dir, error).await,
    }
}

/// Takes over a run that is on record as live: reads on where it is, or finds out how it ended.
///
/// # Errors
/// When the store fails.
pub(crate) async fn adopt(context: &RunContext, run: &RunId, wake: WakeHandle) -> db::Result<()> {
    let run = context.db.run(run).await?;
    let path = context.db.run_dir(&run.id).await?;
    match RunDir::open(&path) {
        Ok(run_dir) if run_dir.file("spec.json").exists() && !shim::was_never_started(&run_dir) => {
            tracing::info!(run = %run.id, "taken over");
            watch(context, run, run_dir, wake).await
        }
        // Reserved, and then the server went away before there was anything to start.
        _ => end::never_started(context, &run).await,
    }
}

/// Whether the card is no longer where a run of `phase` found it: its work is done, or somebody stepped in.
pub(crate) fn moved(card: &Card, phase: AgentKind) -> bool {
    match phase {
        AgentKind::Reviewer => card.status != Status::InReview || card.approved_sha.is_some(),
        AgentKind::Planner | AgentKind::Coder | AgentKind::Orchestrator => card.status != Status::InProgress,
    }
}

/// Why we ended an agent that had not ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    ByItself,
    /// It has no way to the board.
    NoBoard,
    Silent,
}

enum Trouble {
    Store(db::Error),
    Output(Unreadable),
}

impl From<db::Error> for Trouble {
    fn from(error: db::Error) -> Self {
        Self::Store(error)
    }
}

struct Watch<'a> {
    context: &'a RunContext,
    run: &'a Run,
    project: ProjectId,
    run_dir: RunDir,
    control: Option<Control>,
    tail: Tail,
    transcript: Transcript,
    view: View,
    checkout: String,
    ending: Ending,
    /// How much output there was when this watch began.
    history: u64,
    /// How much of it was read.
    read: u64,
    /// What was said to the agent here and not echoed by it yet.
    untaken: BTreeSet<Uuid>,
    pace: Pace,
    /// When its inbox is looked into without anybody waking us.
    inbox_at: Option<Instant>,
    /// When the end of a turn is judged.
    judge_at: Option<Instant>,
    /// When an agent whose stdin was closed is told to end.
    terminate_at: Option<Instant>,
    silent_at: Instant,
    terminated: bool,
    /// When the card last showed what the agent does, and what it shows next.
    last_activity: Option<Instant>,
    activity: Option<String>,
}

impl<'a> Watch<'a> {
    async fn begin(context: &'a RunContext, run: &'a Run, project: ProjectId, run_dir: RunDir) -> Result<Self, Unreadable> {
        let tail = Tail::open(&run_dir, 0).await.map_err(|error| Unreadable::new("", &error))?;
        let history = run_dir.file("stdout").metadata().map_err(|error| Unreadable::new("could not read the output: ", &error))?.len();
        let transcript = Transcript::open(run_dir.path()).map_err(|error| Unreadable::new("could not open the transcript: ", &error))?;
        Ok(Self {
            context,
            run,
            project,
            control: None,
            tail,
            transcript,
            view: View::default(),
            checkout: run.worktree_path.clone().unwrap_or_default(),
            run_dir,
            ending: Ending::ByItself,
            history,
            read: 0,
            untaken: BTreeSet::new(),
            pace: Pace::default(),
            inbox_at: None,
            judge_at: None,
            terminate_at: None,
            silent_at: Instant::now() + SILENCE,
            terminated: false,
            last_activity: None,
            activity: None,
        })
    }

    async fn follow(&mut self, wake: WakeHandle) -> Result<(), Trouble> {
        // Something may have been asked for before anybody listened.
        self.poked().await?;
        // Late ones are not made up for: what counts is that it lives now.
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                line = self.tail.next() => match line.map_err(|error| Trouble::Output(Unreadable::new("", &error)))? {
                    None => return Ok(()),
                    Some(line) => self.line(&line).await?,
                },
                () = wake.notified() => self.poked().await?,
                // While its output has no end its process lives.
                _ = beat.tick() => {
                    self.context.db.record_heartbeat(&self.caller()).await?;
                }
                () = sleep_until(self.inbox_at.unwrap_or_else(Instant::now)), if self.inbox_at.is_some() => self.poked().await?,
                () = sleep_until(self.judge_at.unwrap_or_else(Instant::now)), if self.judge_at.is_some() => {
                    self.judge_at = None;
                    self.turn_ended().await?;
                }
                () = sleep_until(self.terminate_at.unwrap_or_else(Instant::now)), if self.terminate_at.is_some() => {
                    self.terminate_at = None;
                    self.terminate().await;
                }
                () = sleep_until(self.last_activity.map_or_else(Instant::now, |last| last + ACTIVITY_PAUSE)), if self.activity.is_some() => {
                    self.show_now();
                }
                () = sleep_until(self.silent_at), if !self.terminated && self.ending != Ending::Silent => {
                    self.ending = Ending::Silent;
                    self.terminate().await;
                }
            }
        }
    }

    async fn line(&mut self, line: &TailLine) -> Result<(), Trouble> {
        self.silent_at = Instant::now() + SILENCE;
        let end = line.end();
        let items = match line {
            TailLine::Text { text, .. } => parse(text),
            TailLine::TooLong { bytes, .. } => vec![RunLine::Foreign { text: format!("a line of {bytes} bytes was left out") }],
        };
        let fresh = !self.transcript.covers(end);
        let added = self.transcript.add(end, &items, &self.checkout);
        added.map_err(|error| Trouble::Output(Unreadable::new("could not write the transcript: ", &error)))?;
        for item in &items {
            self.view.take(item);
            if fresh {
                self.show(item);
            }
            match item {
                RunLine::Init(init) if !has_board(&init.mcp_servers) => {
                    self.ending = Ending::NoBoard;
                    self.terminate().await;
                }
                RunLine::Result(_) => {
                    self.judge_at = Some(Instant::now() + self.patience(end));
                    if fresh {
                        self.context.db.run_usage(&self.run.id, self.view.usage()).await?;
                    }
                }
                RunLine::Usage { .. } if end > self.history => parking::confirm_recovered(&self.context.db, ParkReason::ServiceUnreachable).await?,
                // A turn begins, so the one before is not the last. Other lines may follow a turn and say nothing about the next.
                RunLine::Init(_) => self.judge_at = None,
                RunLine::UserReplay { uuid, .. } => {
                    // Between two turns it is taken up for the next one.
                    self.judge_at = self.judge_at.map(|_| Instant::now() + BEGIN_TURN);
                    if let Some(uuid) = uuid.as_deref().and_then(|uuid| Uuid::parse_str(uuid).ok()) {
                        self.taken(uuid).await?;
                    }
                }
                _ => {}
            }
        }
        let caught_up = self.read < self.history && end >= self.history;
        self.read = end;
        if caught_up || items.iter().any(|item| matches!(item, RunLine::Init(_))) {
            // Messages may have waited for a turn to be given in.
            self.inbox_at = Some(Instant::now());
        }
        Ok(())
    }

    /// The agent that is watched, as one who acts.
    fn caller(&self) -> Caller {
        let (run_id, task_id, phase) = (self.run.id.clone(), self.run.task_id.clone(), self.run.phase);
        Caller::Run(RunCaller { run_id, task_id, project_id: self.project.clone(), phase, call_id: None })
    }

    /// How long to wait after the result that ends at `end` for a sign that another turn begins.
    fn patience(&self, end: u64) -> Duration {
        if end <= self.history {
            CATCH_UP
        } else if self.untaken.is_empty() {
            Duration::ZERO
        } else {
            NEXT_TURN
        }
    }

    /// Shows on the card what the agent does, after a pause when it showed something just now.
    fn show(&mut self, item: &RunLine) {
        if let Some(line) = activity::activity(item, &self.checkout) {
            self.activity = Some(line);
            if self.last_activity.is_none_or(|last| last.elapsed() >= ACTIVITY_PAUSE) {
                self.show_now();
            }
        }
    }

    fn show_now(&mut self) {
        if let Some(line) = self.activity.take() {
            self.last_activity = Some(Instant::now());
            // Nobody may be looking.
            drop(self.context.activity.send(Frame::Activity { run_id: self.run.id.clone(), line }));
        }
    }

    /// The person may have stopped the run, or somebody said something.
    async fn poked(&mut self) -> Result<(), Trouble> {
        self.inbox_at = None;
        let run = self.context.db.run(&self.run.id).await?;
        if run.stop_requested_at.is_some() {
            self.terminate().await;
            return Ok(());
        }
        if let Some(later) = self.pace.deaf_until(Instant::now()) {
            self.inbox_at = Some(later);
            return Ok(());
        }
        self.deliver().await?;
        self.look_into_inbox().await
    }

    /// The agent ended its turn: it is finished, has something more to hear, is reminded once, or has to go.
    async fn turn_ended(&mut self) -> Result<(), Trouble> {
        self.untaken.clear();
        let db = &self.context.db;
        let task = db.task(&self.run.task_id).await?;
        let stopping = db.run(&self.run.id).await?.stop_requested_at.is_some();
        // Also when the answer was faster: it joined the thread, which the next run of this session reads.
        let asked = db.has_asked(&self.run.id).await?;
        let failed = self.view.result().is_some_and(|result| result.is_error);
        let moved = moved(&task.card, self.run.phase);
        if failed || asked || stopping || !task.card.status.is_open() {
            self.close().await;
        } else if (!moved && self.deliver().await?) || self.give_urgent().await? {
            self.expect_turn();
        } else if moved {
            self.close().await;
        } else {
            let reminded = self.context.db.mark_reminded(&self.run.id).await? && self.say(&prompt::nudge(self.run.phase, &task)).await.is_some();
            if reminded {
                self.expect_turn();
            } else {
                self.close().await;
            }
        }
        Ok(())
    }

    /// Another turn begins with what was said; where it does not, the end of the last one is judged again.
    fn expect_turn(&mut self) {
        self.judge_at = Some(Instant::now() + NEXT_TURN);
    }
}
