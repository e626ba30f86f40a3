//! The world around the schedule and the store: agents, merges and restarts that happen at simulated times.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use db::testing::set_time;
use db::{Caller, Db, MoveRequest, NewRun, RunEnd};
use domain::board::attention::AttentionKind;
use domain::board::status::Status;
use domain::board::task::{NewSubtask, NewTask};
use domain::config::Config;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::checkout::KeptWork;
use domain::runs::evidence::{Evidence, EvidenceResult};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::run::Run;
use domain::runs::sandbox::SandboxTier;
use domain::time::Timestamp;

use super::fault::{Fate, Outage, Random};
use crate::runs::parking;
use crate::schedule::{Action, NotResponding, Schedule, schedule};

/// The tasks that a planner cuts a goal into.
const PARTS: u32 = 5;

/// Something that happens at its time.
#[derive(Debug)]
enum Happening {
    RunEnds {
        run: Box<Run>,
        caller: Caller,
        fate: Fate,
    },
    MergeEnds {
        task: TaskId,
        conflict: bool,
    },
    /// Another server takes over. Its agents live on.
    ServerRestarts,
    /// All processes are gone.
    MachineRestarts,
}

pub(super) struct World {
    pub(super) db: Db,
    pub(super) config: Config,
    pub(super) now: Timestamp,
    random: Random,
    outages: Vec<Outage>,
    /// The second part of the key tells happenings at one time apart.
    happenings: BTreeMap<(Timestamp, u64), Happening>,
    count: u64,
    busy: BTreeSet<TaskId>,
    /// How many runs failed for each reason.
    pub(super) failures: BTreeMap<FailureClass, u32>,
    pub(super) runs: u32,
    /// The runs that each outage cost.
    pub(super) runs_of_outages: Vec<u32>,
}

impl World {
    pub(super) fn new(db: Db, config: Config, start: Timestamp, seed: u64, outages: Vec<Outage>) -> Self {
        let runs_of_outages = vec![0; outages.len()];
        let mut world = Self {
            db,
            config,
            now: start,
            random: Random(seed),
            outages,
            happenings: BTreeMap::new(),
            count: 0,
            busy: BTreeSet::new(),
            failures: BTreeMap::new(),
            runs: 0,
            runs_of_outages,
        };
        for hour in 1..24 {
            let happening = if hour % 8 == 0 { Happening::MachineRestarts } else { Happening::ServerRestarts };
            world.plan(Duration::from_secs(3600 * hour), happening);
        }
        world
    }

    fn plan(&mut self, after: Duration, happening: Happening) {
        self.count += 1;
        self.happenings.insert((self.now.after(after), self.count), happening);
    }

    /// Lets everything happen until `end`, or until nothing is left to happen.
    pub(super) async fn pass_until(&mut self, end: Timestamp) {
        loop {
            set_time(self.now);
            let next_tick_at = self.tick().await;
            self.check().await;
            let next_happening = self.happenings.keys().next().map(|(at, _)| *at);
            let Some(next) = next_happening.into_iter().chain(next_tick_at).min().filter(|next| *next < end) else { break };
            // A deadline that has passed without an effect would stop the time.
            self.now = next.max(self.now.after(Duration::from_millis(1)));
            set_time(self.now);
            while let Some(happening) = self.happenings.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let happening = happening.remove();
                self.happen(happening).await;
            }
        }
        self.now = end;
        set_time(end);
    }

    /// As the supervisor does. Only what happens after an action differs.
    async fn tick(&mut self) -> Option<Timestamp> {
        let state = self.db.snapshot().await.unwrap();
        let Schedule { actions, wait_reasons, next_tick_at } = schedule(&state, &self.config, &self.busy, &NotResponding::new(), self.now);
        self.db.set_wait_reasons(wait_reasons).await.unwrap();
        for action in actions {
            match action {
                Action::Start { task, phase, status } => self.start(&task, phase, status).await,
                Action::Merge { task, .. } => {
                    let conflict = self.random.permille(50);
                    self.busy.insert(task.clone());
                    self.plan(Duration::from_secs(2), Happening::MergeEnds { task, conflict });
                }
                Action::Check { task } => panic!("{task}: its project has no checks"),
                // The happening that ends it is planned already.
                Action::Adopt { task, .. } => drop(self.busy.insert(task)),
                Action::Clean { task } => self.db.checkout_removed(&task, KeptWork::default()).await.unwrap(),
                Action::Resume { reason } => {
                    let lasts = self.outage().is_some_and(|(_, outage)| outage.failure.park_reason() == Some(reason));
                    match lasts {
                        true => self.db.park_after_check(reason, "it lasts".to_owned(), self.now.after(Duration::from_secs(30))).await.unwrap(),
                        false => self.db.resume(reason).await.unwrap(),
                    }
                }
                Action::RequestAttention { task, kind, detail } => self.db.request_attention(&task, kind, &detail).await.unwrap(),
                Action::HandOver { run, limit } => self.db.request_hand_over(&run, limit).await.unwrap(),
                Action::FlagLimit { task, limit } => self.db.flag_limit(&task, limit).await.unwrap(),
                other => panic!("nothing in this night leads to {other:?}"),
            }
        }
        next_tick_at
    }

    fn outage(&self) -> Option<(usize, Outage)> {
        self.outages.iter().copied().enumerate().find(|(_, outage)| outage.covers(self.now))
    }

    async fn start(&mut self, task: &TaskId, phase: AgentKind, status: Status) {
        let coder = phase == AgentKind::Coder;
        let worktree = coder.then(|| format!("/w/{task}"));
        if let Some(worktree) = &worktree {
            self.db.record_checkout(task, &format!("vr/{task}/work"), worktree).await.unwrap();
        }
        let sha = if phase == AgentKind::Reviewer { self.head(task).await } else { "base".to_owned() };
        let new = NewRun {
            task: task.clone(),
            phase,
            status,
            sha: Some(sha),
            worktree_path: worktree,
            runs_root: "runs".into(),
            port: None,
            sandbox: SandboxTier::None,
        };
        let reserved = self.db.reserve_run(new).await.unwrap();
        self.db.run_session(&reserved.run.id, &format!("session of {}", reserved.run.id)).await.unwrap();
        let caller = self.db.caller(&reserved.token).await.unwrap().unwrap();
        let (fate, length) = match self.outage() {
            Some((index, outage)) => {
                self.runs_of_outages[index] += 1;
                (Fate::Outage(index), outage.fails_after)
            }
            None => (Fate::draw(&mut self.random, phase == AgentKind::Reviewer), self.random.seconds(120, 1500)),
        };
        self.runs += 1;
        self.busy.insert(task.clone());
        self.plan(length, Happening::RunEnds { run: Box::new(reserved.run), caller, fate });
    }

    /// The commit that the last coder of a task submitted.
    async fn head(&self, task: &TaskId) -> String {
        let runs = self.db.runs(task).await.unwrap();
        let coders = runs.iter().filter(|run| run.phase == AgentKind::Coder && run.end_class == Some(EndClass::Finished));
        format!("{task}-{}", coders.count())
    }

    async fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::RunEnds { run, caller, fate } => {
                self.busy.remove(&run.task_id);
                // A restart of the machine may have ended it before.
                if self.db.run(&run.id).await.unwrap().is_live() {
                    self.end(&run, &caller, fate).await;
                }
            }
            Happening::MergeEnds { task, conflict } => {
                self.busy.remove(&task);
                let known = self.db.task(&task).await.unwrap();
                let sha = known.card.approved_sha.clone().unwrap();
                let branch = self.db.project(&known.card.project_id).await.unwrap().integration_branch;
                match conflict {
                    true => self.db.record_merge_failure(&task, &sha, "It conflicts with the project branch").await.unwrap(),
                    false => self.db.record_merge(&task, &sha, &branch, &format!("merge of {task}"), "tree").await.unwrap(),
                };
            }
            Happening::ServerRestarts => self.busy.retain(|task| {
                let merges = |happening: &Happening| matches!(happening, Happening::MergeEnds { task: merged, .. } if merged == task);
                self.happenings.values().any(merges)
            }),
            Happening::MachineRestarts => {
                for run in self.db.live_runs().await.unwrap() {
                    self.busy.remove(&run.task_id);
                    self.record_end(&run, EndClass::Parked, None).await;
                }
            }
        }
    }

    async fn end(&mut self, run: &Run, caller: &Caller, fate: Fate) {
        let task = &run.task_id;
        match fate {
            Fate::Outage(index) => {
                let outage = self.outages[index];
                self.fail(run, outage.failure, outage.limited_until()).await;
                return;
            }
            Fate::Fails(failure) => {
                self.fail(run, failure, None).await;
                return;
            }
            Fate::Asks => {
                self.db.ask_question(caller, "Which one?", Vec::new(), None).await.unwrap();
                self.record_end(run, EndClass::AwaitingAnswer, None).await;
                return;
            }
            Fate::Rejects => self.move_to(caller, task, Status::InProgress, Some(format!("Fix what {} found", run.id))).await,
            Fate::Works => match run.phase {
                AgentKind::Coder => self.move_to(caller, task, Status::InReview, None).await,
                AgentKind::Planner => {
                    let part = |number| NewSubtask { title: format!("Part {number}"), ..NewSubtask::default() };
                    self.db.create_subtasks(caller, task, (1..=PARTS).map(part).collect()).await.unwrap();
                    self.move_to(caller, task, Status::Done, None).await;
                }
                AgentKind::Reviewer | AgentKind::Orchestrator => self.move_to(caller, task, Status::Done, None).await,
                // The runner finishes its task when no question is open, and nobody asks in this night.
                AgentKind::Oracle => {}
            },
        }
        parking::confirm_service(&self.db, run).await.unwrap();
        parking::confirm_disk(&self.db, run).await.unwrap();
        self.record_end(run, EndClass::Finished, None).await;
    }

    async fn move_to(&self, caller: &Caller, task: &TaskId, to: Status, reason: Option<String>) {
        let found = match to {
            // The run that submits counts only once it has ended.
            Status::InReview => EvidenceResult::Evidence(Evidence {
                head: self.head_after(task).await,
                base: "base".to_owned(),
                ahead: 1,
                dirty_paths: Vec::new(),
                dirty_count: 0,
                diff_empty: false,
                patch_id: self.head_after(task).await,
                changed_paths: Vec::new(),
                nested: Vec::new(),
                protected: None,
            }),
            Status::Done if self.db.task(task).await.unwrap().card.phase == AgentKind::Coder => EvidenceResult::head(self.head(task).await),
            _ => EvidenceResult::Nothing,
        };
        self.db.move_task(caller, task, MoveRequest { to, reason, merge: true }, found).await.unwrap();
    }

    async fn head_after(&self, task: &TaskId) -> String {
        let head = self.head(task).await;
        let (task, count) = head.rsplit_once('-').unwrap();
        format!("{task}-{}", count.parse::<u32>().unwrap() + 1)
    }

    /// As a watch records a failure.
    async fn fail(&mut self, run: &Run, failure: FailureClass, limited_until: Option<i64>) {
        *self.failures.entry(failure).or_default() += 1;
        let error = format!("{failure} in {}", run.id);
        let class = if failure.is_limit() { EndClass::Limited } else { parking::park(&self.db, failure, limited_until, Some(&error)).await.unwrap() };
        self.record_end(run, class, Some((failure, error))).await;
    }

    async fn record_end(&self, run: &Run, class: EndClass, failure: Option<(FailureClass, String)>) {
        let (failure, error) = failure.unzip();
        let end = RunEnd { failure, cause: error.clone(), error, turn_ended: true, ..RunEnd::new(class, self.config.max_attempts) };
        self.db.end_run(&run.id, end).await.unwrap();
    }

    /// Every card without an agent says why, and no task has two.
    async fn check(&self) {
        let state = self.db.snapshot().await.unwrap();
        for known in &state.tasks {
            let card = &known.task.card;
            let is_explained = card.run.is_some() || card.wait_reason.is_some() || card.attention.is_some() || self.busy.contains(&card.id);
            assert!(is_explained || !card.status.is_open(), "at {}: {card:?}", self.now);
        }
        let live: BTreeSet<&TaskId> = state.live.iter().map(|run| &run.task_id).collect();
        assert_eq!(live.len(), state.live.len());
    }

    /// Tasks that a person added in the evening. Every third one depends on the one before.
    pub(super) async fn add_tasks(&self, project: &ProjectId, count: u32) {
        let mut before = Vec::new();
        for number in 0..count {
            let depends_on = if number % 3 == 2 { before.clone() } else { Vec::new() };
            let new = NewTask { title: format!("Task {number}"), start: true, depends_on, ..NewTask::default() };
            before = vec![self.db.create_task(&Caller::owner(), project, new).await.unwrap().card.id];
        }
    }

    /// The tasks that are finished, that wait for the person, and that wait for one of those; and all others.
    pub(super) async fn morning(&self) -> Morning {
        let state = self.db.snapshot().await.unwrap();
        let mut morning = Morning::default();
        let asks = |id: &TaskId| state.tasks.iter().any(|known| known.task.card.id == *id && known.task.card.attention.is_some());
        let mut settled: BTreeSet<TaskId> = BTreeSet::new();
        let open = || state.tasks.iter().map(|known| &known.task.card).filter(|card| card.status.is_open());
        for card in open().filter(|card| asks(&card.id)) {
            settled.insert(card.id.clone());
            *morning.asking.entry(card.attention.as_ref().unwrap().kind).or_default() += 1;
        }
        for _ in open() {
            for card in open().filter(|card| !settled.contains(&card.id)).collect::<Vec<_>>() {
                if card.depends_on.iter().chain(&card.parent_task_id).any(|id| settled.contains(id)) {
                    settled.insert(card.id.clone());
                    morning.behind += 1;
                }
            }
        }
        morning.others = open().filter(|card| !settled.contains(&card.id)).map(|card| format!("{} {:?}", card.id, card.wait_reason)).collect();
        morning
    }
}

/// The open tasks of the next morning.
#[derive(Debug, Default)]
pub(super) struct Morning {
    /// How many tasks ask the person, by reason.
    pub(super) asking: BTreeMap<AttentionKind, u32>,
    /// How many tasks wait for those.
    pub(super) behind: u32,
    pub(super) others: Vec<String>,
}
