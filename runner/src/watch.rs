//! Watches one run from its output to its recorded end.
//!
//! `state` decides and this file executes: it waits for output, wakes and deadlines, and carries out the effects. An adopted run is
//! read from its first byte again, because everything known about it is a fold over its output and its rows in the store.

mod cause;
mod checkpoint;
mod commit_failure;
mod condition;
mod end;
mod event;
mod hand_over;
mod input;
mod loaded;
pub(crate) mod output_state;
mod publisher;
mod recorder;
mod refusals;
mod state;
mod throttle;
mod unreachable;

pub(crate) use end::{record_never_started, record_start_failure};
pub(crate) use event::EndCause;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use db::{Caller, NewPermission, RunCaller, RunProcess, ShimProcess};
use domain::board::card::Card;
use domain::board::status::Status;
use domain::id::{ProjectId, RunId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::condition::RunCondition;
use domain::runs::hand_over::HandOverReason;
use domain::runs::output::RAW_OUTPUT_FILE;
use domain::runs::permission::readable_call;
use domain::runs::run::Run;
use domain::runs::run_event::RunEvent;
use domain::runs::sandbox::Access;
use domain::runs::usage::ModelInfo;
use domain::team::message::Unread;
use domain::warroom::trigger::TriggerWord;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use crate::backend::decode;
use crate::blocking::off_thread;
use crate::procfs;
use crate::run_dir::RunDir;
use crate::runs::parking;
use crate::runs::run::RunContext;
use crate::setup;
use crate::shim::control::Control;
use crate::supervisor::WakeHandle;
use crate::tail::{Tail, TailLine};
use crate::transcript::Transcript;
use crate::watch::checkpoint::Checkpoints;
use crate::watch::condition::Condition;
use crate::watch::end::{Observed, UnreadableRun};
use crate::watch::event::{Effect, Event, ReadReason, StoreView};
use crate::watch::loaded::LoadedFiles;
use crate::watch::refusals::RefusalReader;
use crate::watch::state::WatchState;
use crate::watch::unreachable::Unreachable;

/// Watches a launched run until its end is recorded. A run that cannot be reached stays live until it is reached again or proven gone.
///
/// # Errors
/// When the store fails.
pub(crate) async fn watch(context: &RunContext, run: Run, process: &RunProcess, wake: WakeHandle) -> db::Result<()> {
    tracing::info!(run = %run.id, task = %run.task_id, kind = %run.phase, attempt = run.attempt, "watching an agent");
    let project = context.db.card(&run.task_id).await?.project_id;
    let path = context.db.run_dir(&run.id).await?;
    let mut unreachable = Unreachable::new(context, &run, &path, process);
    let mut observed = Observed::default();
    loop {
        let models = context.db.models().await?;
        observed = match Watcher::begin(context, &run, project.clone(), models, &path, process).await {
            Ok(mut watcher) => match watcher.follow(&wake).await {
                Ok(()) => watcher.observed(None),
                Err(WatchError::Store(error)) => return Err(error),
                Err(WatchError::Unreadable(unreadable)) => watcher.observed(Some(unreadable)),
            },
            // The output that an earlier watch read still counts.
            Err(unreadable) => Observed { unreadable: Some(unreadable), ..observed },
        };
        if let Some(exit) = unreachable.resolve(&mut observed, &wake).await? {
            context.activity.send_modify(|lines| drop(lines.remove(&run.id)));
            return end::record(context, &run, &exit, &observed).await;
        }
    }
}

/// Adopts a run that is recorded as live: continues to read it, or finds out how it ended.
///
/// # Errors
/// When the store fails.
pub(crate) async fn adopt(context: &RunContext, run: &RunId, wake: WakeHandle) -> db::Result<()> {
    let run = context.db.run(run).await?;
    match context.db.run_process(&run.id).await? {
        Some(process) => {
            tracing::info!(run = %run.id, "run adopted");
            watch(context, run, &process, wake).await
        }
        // The server ended between the reservation and the start.
        None => record_never_started(context, &run, "the server ended before the agent was started".to_owned()).await,
    }
}

/// Whether the card left the status in which a run of `phase` found it: the work is done, or someone moved the card.
pub(crate) fn card_has_moved(card: &Card, phase: AgentKind) -> bool {
    match phase {
        AgentKind::Reviewer => card.status != Status::InReview || card.approved_sha.is_some(),
        AgentKind::Planner | AgentKind::Coder | AgentKind::Orchestrator | AgentKind::Oracle => card.status != Status::InProgress,
    }
}

/// How long a run must be watched without an error before it counts as reachable again.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// A note in the log about output that was not read.
fn left_out(raw: String) -> RunEvent {
    RunEvent::Other { raw, plain: true }
}

enum WatchError {
    Store(db::Error),
    Unreadable(UnreadableRun),
}

impl From<db::Error> for WatchError {
    fn from(error: db::Error) -> Self {
        Self::Store(error)
    }
}

struct Watcher<'a> {
    context: &'a RunContext,
    run: &'a Run,
    project: ProjectId,
    run_dir: RunDir,
    checkout: Arc<str>,
    shim: Option<ShimProcess>,
    control: Option<Control>,
    /// The permission requests whose answer this watch sent.
    answered: BTreeSet<String>,
    tail: Tail,
    /// Shared with the blocking task that writes, which outlives a cancelled watch.
    transcript: Arc<Mutex<Transcript>>,
    /// Present for a run in a jail.
    refusals: Option<Arc<Mutex<RefusalReader>>>,
    checkpoints: Option<Checkpoints>,
    loaded: LoadedFiles,
    state: WatchState,
}

impl<'a> Watcher<'a> {
    async fn begin(
        context: &'a RunContext,
        run: &'a Run,
        project: ProjectId,
        models: BTreeMap<String, ModelInfo>,
        path: &Path,
        process: &RunProcess,
    ) -> Result<Self, UnreadableRun> {
        let path = path.to_owned();
        let opened = spawn_blocking(move || RunDir::open(&path)).await.map_err(|error| UnreadableRun::new("", &error))?;
        let run_dir = opened.map_err(|error| UnreadableRun::new("", &error))?;
        let tail = Tail::open(&run_dir, 0).await.map_err(|error| UnreadableRun::new("", &error))?;
        let opened = run_dir.clone();
        let opened = spawn_blocking(move || {
            let length = opened.file(RAW_OUTPUT_FILE).metadata().map_err(|error| UnreadableRun::new("could not read the output: ", &error))?.len();
            let transcript = Transcript::open(opened.path());
            let transcript = transcript.map_err(|error| UnreadableRun::new("could not open the transcript: ", &error))?;
            Ok((length, transcript, RefusalReader::open(&opened)))
        });
        let (length, transcript, refusals) = opened.await.map_err(|error| UnreadableRun::new("", &error))??;
        let checkout = run.worktree_path.clone().unwrap_or_default();
        let stall_timeout = context.config().agent(run.phase).stall_minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
        let state = WatchState::new(length, checkout.clone(), models, stall_timeout, Instant::now());
        let transcript = Arc::new(Mutex::new(transcript));
        let refusals = refusals.map(|reader| Arc::new(Mutex::new(reader)));
        let (checkout, shim, checkpoints) = (checkout.into(), process.shim, Checkpoints::begin(context, run));
        let (control, answered) = (None, BTreeSet::new());
        Ok(Self {
            context,
            run,
            project,
            run_dir,
            checkout,
            shim,
            control,
            answered,
            tail,
            transcript,
            refusals,
            checkpoints,
            loaded: LoadedFiles::default(),
            state,
        })
    }

    /// Returns at the end of the output.
    async fn follow(&mut self, wake: &WakeHandle) -> Result<(), WatchError> {
        // Something may have happened before the watch began.
        self.handle(Event::Woken).await?;
        let mut settled_at = Some(Instant::now() + SETTLE_TIME);
        loop {
            let recorded_at = self.loaded.due_at(Instant::now());
            let event = tokio::select! {
                line = self.tail.next() => match line.map_err(|error| WatchError::Unreadable(UnreadableRun::new("", &error)))? {
                    None => {
                        if let Some(checkpoints) = self.checkpoints.take() {
                            checkpoints.finish().await;
                        }
                        return self.record_refused_hosts().await;
                    }
                    Some(line) => {
                        let (event, refused) = self.read(line).await.map_err(WatchError::Unreadable)?;
                        if !refused.is_empty() {
                            self.context.db.record_refusals(&self.run.id, refused).await?;
                        }
                        self.observe_changes(&event);
                        self.observe_loaded_files(&event);
                        event
                    }
                },
                () = wake.notified() => Event::Woken,
                () = sleep_until(self.state.next_deadline()) => Event::DeadlinePassed,
                () = sleep_until(recorded_at.unwrap_or_else(Instant::now)), if recorded_at.is_some() => {
                    if let Some(files) = self.loaded.take(Instant::now()) {
                        self.context.db.record_loaded_files(&self.run.id, files).await?;
                    }
                    continue;
                }
                () = sleep_until(settled_at.unwrap_or_else(Instant::now)), if settled_at.is_some() => {
                    settled_at = None;
                    self.show_condition(self.state.condition()).await?;
                    continue;
                }
            };
            self.handle(event).await?;
        }
    }

    fn observe_changes(&mut self, event: &Event) {
        if let (Some(checkpoints), Event::Output { events, .. }) = (&mut self.checkpoints, event) {
            checkpoints.observe(events, &self.checkout);
        }
    }

    /// Output that was read before a restart of the server is recorded already.
    fn observe_loaded_files(&mut self, event: &Event) {
        if let Event::Output { fresh: true, events, .. } = event {
            self.loaded.observe(events, &self.checkout, db::now());
        }
    }

    fn observed(self, unreadable: Option<UnreadableRun>) -> Observed {
        let (output, cause) = self.state.into_result();
        Observed { output, cause, unreadable }
    }

    /// Programs may be refused a host after the last line.
    async fn record_refused_hosts(&self) -> Result<(), WatchError> {
        let Some(reader) = self.refusals.clone() else { return Ok(()) };
        let read = spawn_blocking(move || reader.lock().unwrap_or_else(PoisonError::into_inner).hosts());
        let refused = read.await.map_err(|error| WatchError::Unreadable(UnreadableRun::new("", &error)))?;
        if !refused.is_empty() {
            self.context.db.record_refusals(&self.run.id, refused).await?;
        }
        Ok(())
    }

    /// Decodes a line, writes its transcript entries, and finds what the jail refused.
    async fn read(&self, line: TailLine) -> Result<(Event, Vec<Access>), UnreadableRun> {
        let (transcript, checkout, refusals) = (self.transcript.clone(), self.checkout.clone(), self.refusals.clone());
        let written = spawn_blocking(move || {
            let end = line.end();
            let events = match line {
                TailLine::Text { text, .. } => setup::decode(&text).unwrap_or_else(|| decode(&text)),
                TailLine::TooLong { bytes, .. } => vec![left_out(format!("a line of {bytes} bytes was omitted"))],
                TailLine::Flood { lines, .. } => vec![left_out(format!("{lines} lines that are not messages were omitted"))],
            };
            let mut transcript = transcript.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = !transcript.covers(end);
            let logged = transcript.add(end, &events, &checkout);
            let refused = refusals.map(|reader| reader.lock().unwrap_or_else(PoisonError::into_inner).read(&events));
            logged.map(|logged| (Event::Output { end, fresh, logged, events }, refused.unwrap_or_default()))
        });
        let written = written.await.map_err(|error| UnreadableRun::new("", &error))?;
        written.map_err(|error| UnreadableRun::new("could not write the transcript: ", &error))
    }

    /// Takes a step and executes its effects. The answer to an effect is handled before the next effect.
    async fn handle(&mut self, event: Event) -> db::Result<()> {
        let mut effects = VecDeque::from(self.state.step(event, Instant::now()));
        while let Some(effect) = effects.pop_front() {
            if let Some(answer) = self.execute(effect).await? {
                for effect in self.state.step(answer, Instant::now()).into_iter().rev() {
                    effects.push_front(effect);
                }
            }
        }
        Ok(())
    }

    async fn execute(&mut self, effect: Effect) -> db::Result<Option<Event>> {
        let db = &self.context.db;
        match effect {
            Effect::RecordHeartbeat => {
                db.record_heartbeat(&self.caller()).await?;
            }
            Effect::RecordUsage(usage) => db.run_usage(&self.run.id, usage).await?,
            Effect::RecordModels(models) => db.record_models(models).await?,
            Effect::RecordEcho(id) => db.record_echo(&self.run.id, &id.to_string()).await?,
            Effect::AskPermission { id, call } => {
                let (input, rule) = readable_call(&call);
                db.ask_permission(&self.caller(), NewPermission { key: id, tool: call.name, input, rule }).await?;
            }
            Effect::ClosePermission(id) => db.close_permission(&self.run.id, &id).await?,
            Effect::EndInterrupt(id) => db.interrupt_over(&self.run.id, &id).await?,
            Effect::ConfirmService => parking::confirm_service(db, self.run).await?,
            Effect::PublishActivity(line) => {
                self.context.activity.send_modify(|lines| drop(lines.insert(self.run.id.clone(), line.into())));
            }
            Effect::ReadStore { reason, with_inbox } => return self.read_store(reason, with_inbox).await.map(Some),
            Effect::Send { reason, input } => {
                let delivery = self.send(input).await?;
                return Ok(Some(Event::Sent { reason, input, ids: delivery.ids, failed: delivery.failed }));
            }
            Effect::CloseStdin => self.close_stdin().await,
            Effect::Probe => return Ok(Some(Event::Probed { cpu: self.cpu_time().await })),
            Effect::ShowCondition(condition) => self.show_condition(condition).await?,
            Effect::Terminate => return Ok(Some(Event::Terminated { delivered: self.terminate().await })),
        }
        Ok(None)
    }

    /// The CPU time of the agent's processes; `None` if they cannot be told apart or read.
    async fn cpu_time(&self) -> Option<Duration> {
        let shim = self.shim?;
        off_thread(move || procfs::cpu_time_below(shim.pid)).await.ok()?.ok()
    }

    async fn show_condition(&self, condition: Option<Condition>) -> db::Result<()> {
        let now = db::now();
        let condition = condition.map(|condition| match condition {
            Condition::Quiet { since } => RunCondition::Quiet { since: now.before(since.elapsed()) },
            Condition::RetryingService { detail } => RunCondition::RetryingService { since: now, detail },
        });
        self.context.db.set_run_condition(&self.run.id, condition).await
    }

    async fn read_store(&self, reason: ReadReason, with_inbox: bool) -> db::Result<Event> {
        let db = &self.context.db;
        let run = db.run(&self.run.id).await?;
        let mut view = StoreView {
            reason,
            stop_requested: run.stop_requested_at.is_some(),
            is_emergency: matches!(run.hand_over, Some(HandOverReason::Ordered { word: TriggerWord::MoonCrash, .. })),
            hand_over_requested: run.hand_over.is_some(),
            interrupt: run.interrupt.map(|interrupt| interrupt.id),
            has_permission_answers: db.permission_answers(&self.run.id).await?.iter().any(|answer| !self.answered.contains(&answer.key)),
            has_human_messages: !db.undelivered(&self.run.id).await?.is_empty(),
            unread: Unread::default(),
            card_has_moved: false,
            card_is_closed: false,
            has_asked: false,
        };
        if with_inbox {
            view.unread = db.unread(&self.project, &Run::agent_name(self.run.phase, &self.run.task_id)).await?;
            // Questions are its work.
            view.unread.urgent |= self.run.phase == AgentKind::Oracle && view.unread.blocking_count > 0;
        }
        if reason == ReadReason::TurnEnd {
            let card = db.card(&self.run.task_id).await?;
            view.card_has_moved = card_has_moved(&card, self.run.phase);
            view.card_is_closed = !card.status.is_open();
            view.has_asked = db.has_asked(&self.run.id).await?;
            if self.run.phase == AgentKind::Oracle {
                if let Some(words) = self.state.final_words() {
                    db.answer_in_words(&self.caller(), words).await?;
                }
                view.card_has_moved |= db.oracle_progress(self.run).await?.open == 0;
            }
        }
        Ok(Event::StoreRead(view))
    }

    /// The watched agent as a caller of the store.
    fn caller(&self) -> Caller {
        let (run_id, task_id, phase) = (self.run.id.clone(), self.run.task_id.clone(), self.run.phase);
        Caller::Run(RunCaller { run_id, task_id, project_id: self.project.clone(), phase, call_id: None })
    }
}
