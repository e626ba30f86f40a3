//! Boards of one line each, and schedules as short texts.

mod checks;
mod projects;
mod protected_paths;
mod review_round;
mod spending;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use db::{AssigneePresence, LimitState, Pause, ReferencedTask, Snapshot, TaskSnapshot};
use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::{Card, CurrentRun};
use domain::board::planned_files::PlannedFiles;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::task::Task;
use domain::board::wait_reason::WaitReason;
use domain::config::Config;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::FailureClass;
use domain::runs::hand_over::HandOverReason;
use domain::runs::limit::{LimitScope, LimitUse};
use domain::runs::parking::{ParkReason, Parking};
use domain::runs::run::Run;
use domain::runs::usage::UsageSums;
use domain::time::Timestamp;

use crate::fixture;
use crate::schedule::{Action, NotResponding, Schedule, schedule};
use projects::project;

pub(super) fn id(number: u64) -> TaskId {
    TaskId::new(number)
}

/// A time on the day of all tests.
pub(super) fn at(hour: i64, minute: i64) -> Timestamp {
    Timestamp::from_milliseconds((hour * 60 + minute) * 60_000)
}

/// The time of every schedule.
pub(super) fn noon() -> Timestamp {
    at(12, 0)
}

/// A task under construction.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    known: TaskSnapshot,
    run: Option<(AgentKind, bool)>,
}

/// A coder's task that can start.
pub(super) fn task(number: u64) -> Draft {
    let card = Card {
        id: id(number),
        project_id: ProjectId::new(1),
        parent_task_id: None,
        title: format!("Task {number}"),
        phase: AgentKind::Coder,
        status: Status::Backlog,
        held_by: None,
        attention: None,
        wait_reason: None,
        cancel_reason: None,
        depends_on: Vec::new(),
        priority: 0,
        position: None,
        approved_sha: None,
        contributors: domain::board::card::Contributors::default(),
        goal_id: None,
        round_of: None,
        round: None,
        run: None,
        comments: 0,
        runs: 0,
        cost_micro_usd: 0,
        tokens: 0,
        near_limit: None,
        protected_paths: None,
        checks: Vec::new(),
        preview: None,
        pull_request: None,
        activity_count: 0,
        old: None,
        created_at: at(9, 0),
        updated_at: at(9, 0),
    };
    let task = Task {
        card,
        description: None,
        worktree_path: None,
        branch: None,
        session_id: None,
        model: None,
        merged_sha: None,
        review_rounds: 0,
        files: PlannedFiles::default(),
        created_by: None,
        result: None,
        completed_at: None,
        verified_at: None,
        from_branch: None,
    };
    let known = TaskSnapshot { task, submitted_sha: None, repeated_rounds: 0, failures: 0, last_failure: None, retry_at: None, assignee: None };
    Draft { known, run: None }
}

impl Draft {
    fn card(mut self, change: impl FnOnce(&mut Card)) -> Self {
        change(&mut self.known.task.card);
        self
    }

    pub(super) fn status(self, status: Status) -> Self {
        self.card(|card| card.status = status)
    }

    pub(super) fn phase(self, phase: AgentKind) -> Self {
        self.card(|card| card.phase = phase)
    }

    pub(super) fn project(self, number: u64) -> Self {
        self.card(|card| card.project_id = ProjectId::new(number))
    }

    pub(super) fn position(self, position: i64) -> Self {
        self.card(|card| card.position = Some(position))
    }

    pub(super) fn priority(self, priority: i64) -> Self {
        self.card(|card| card.priority = priority)
    }

    pub(super) fn parent(self, number: u64) -> Self {
        self.card(|card| card.parent_task_id = Some(id(number)))
    }

    pub(super) fn after(self, numbers: &[u64]) -> Self {
        self.card(|card| card.depends_on = numbers.iter().map(|number| id(*number)).collect())
    }

    pub(super) fn held(self, by: HeldBy) -> Self {
        self.card(|card| card.held_by = Some(by))
    }

    pub(super) fn flagged(self) -> Self {
        self.attention(AttentionKind::Failed)
    }

    pub(super) fn cancelled(self, reason: CancelReason) -> Self {
        self.card(|card| (card.status, card.cancel_reason) = (Status::Cancelled, Some(reason)))
    }

    /// In review, approved.
    pub(super) fn approved(self) -> Self {
        self.card(|card| (card.status, card.approved_sha) = (Status::InReview, Some("a".repeat(40))))
    }

    /// Assigned to an external agent that is connected.
    pub(super) fn assigned(self, name: &str) -> Self {
        let mut draft = self.card(|card| card.contributors.assigned_to = Some(name.to_owned()));
        draft.known.assignee = Some(AssigneePresence { connected: true, last_seen: None });
        draft
    }

    /// Assigned to an external agent that is not connected; `last_seen` is none when it never was.
    pub(super) fn assigned_offline(self, name: &str, last_seen: Option<Timestamp>) -> Self {
        let mut draft = self.assigned(name);
        draft.known.assignee = Some(AssigneePresence { connected: false, last_seen });
        draft
    }

    pub(super) fn updated(self, when: Timestamp) -> Self {
        self.card(|card| card.updated_at = when)
    }

    pub(super) fn attention(self, kind: AttentionKind) -> Self {
        self.card(|card| card.attention = Some(Attention::new(kind, "x")))
    }

    /// Asks for a decision about the project branch.
    pub(super) fn awaits_branch_decision(self) -> Self {
        self.card(|card| card.attention = Some(Attention::unapproved_commits("a".repeat(40), "x")))
    }

    pub(super) fn why(self, why: WaitReason) -> Self {
        self.card(|card| card.wait_reason = Some(why))
    }

    pub(super) fn files(mut self, paths: &[&str]) -> Self {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        self.known.task.files = PlannedFiles::parse(&paths).unwrap();
        self
    }

    pub(super) fn checkout(mut self) -> Self {
        self.known.task.worktree_path = Some("/worktrees/x".to_owned());
        self
    }

    pub(super) fn retry_at(mut self, when: Timestamp) -> Self {
        (self.known.retry_at, self.known.last_failure) = (Some(when), Some(FailureClass::Crashed));
        self
    }

    /// With a live run of `phase`.
    pub(super) fn running(mut self, phase: AgentKind) -> Self {
        self.run = Some((phase, false));
        self
    }

    /// The task's runs consumed this much.
    pub(super) fn spent(self, cost_micro_usd: i64, tokens: i64) -> Self {
        self.card(|card| (card.cost_micro_usd, card.tokens) = (cost_micro_usd, tokens))
    }

    /// Asks the human to raise a limit.
    pub(super) fn asks_for(self, limit: LimitUse) -> Self {
        self.card(|card| card.attention = Some(Attention::limit_reached(&limit)))
    }

    pub(super) fn stopping(mut self, phase: AgentKind) -> Self {
        self.run = Some((phase, true));
        self
    }
}

/// A complete state.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub(super) state: Snapshot,
    pub(super) config: Config,
    pub(super) busy: BTreeSet<TaskId>,
    not_responding: NotResponding,
}

/// Projects 1 and 2 are on one repository, 3 is on another.
pub(super) fn scene(drafts: impl IntoIterator<Item = Draft>) -> Scene {
    let projects = [(1, "/one/.git"), (2, "/one/.git"), (3, "/two/.git")].map(|(number, git_dir)| project(number, git_dir));
    let mut state = Snapshot {
        projects: BTreeMap::from(projects),
        last_starts: BTreeMap::new(),
        pauses: BTreeMap::new(),
        tasks: Vec::new(),
        referenced: BTreeMap::new(),
        live: Vec::new(),
        worked: BTreeMap::new(),
        spent: BTreeMap::new(),
        spent_today: UsageSums::default(),
        today: "1970-01-01".to_owned(),
        limits: BTreeMap::new(),
        parkings: Vec::new(),
        removable: Vec::new(),
        unanswered: Vec::new(),
        waiting_for_claims: BTreeMap::new(),
        expiring_claims: Vec::new(),
        stop_orders: BTreeMap::new(),
        hot_zones: BTreeMap::new(),
        due_triggers: Vec::new(),
        tracking_since: at(0, 0),
    };
    for Draft { mut known, run } in drafts {
        let card = &mut known.task.card;
        if let Some((phase, stopping)) = run {
            let live = live_run(card.id.number(), phase);
            card.run =
                Some(CurrentRun { id: live.id.clone(), phase, attempt: 1, started_at: live.started_at, stopping, port: None, low_context: None });
            state.live.push(live);
        }
        state.tasks.push(known);
    }
    Scene { state, config: Config::default(), busy: BTreeSet::new(), not_responding: NotResponding::new() }
}

/// The run number `number` of the task with the same number.
pub(super) fn live_run(number: u64, phase: AgentKind) -> Run {
    fixture::live_run(number, id(number), phase, at(11, 0))
}

impl Scene {
    pub(super) fn slots(mut self, agents: u32, reviewers: u32) -> Self {
        (self.config.max_parallel_agents, self.config.agents.reviewer.max_parallel) = (agents, Some(reviewers));
        self
    }

    /// A repository that has not responded since 11:50.
    pub(super) fn not_responding(mut self, git_dir: &str) -> Self {
        self.not_responding.insert(git_dir.into(), at(11, 50));
        self
    }

    pub(super) fn busy(mut self, numbers: &[u64]) -> Self {
        self.busy = numbers.iter().map(|number| id(*number)).collect();
        self
    }

    /// A run found the outage.
    pub(super) fn parked(mut self, reason: ParkReason, until: Timestamp) -> Self {
        self.state.parkings.push(Parking { reason, since: noon(), until, detail: String::new(), failed_probes: 1 });
        self
    }

    /// A check found the outage before any run.
    pub(super) fn parked_by_check(mut self, reason: ParkReason, until: Timestamp) -> Self {
        self.state.parkings.push(Parking { reason, since: noon(), until, detail: String::new(), failed_probes: 0 });
        self
    }

    /// Handshake `id` waits only for targets that are unresponsive from that time on.
    pub(super) fn unanswered(mut self, id: i64, unresponsive_at: Timestamp) -> Self {
        self.state.unanswered.push((id, unresponsive_at));
        self
    }

    /// The process started at that time.
    pub(super) fn tracking_since(mut self, when: Timestamp) -> Self {
        self.state.tracking_since = when;
        self
    }

    /// Keeps what the store reads: active tasks, and the facts about finished ones that open tasks refer to.
    pub(super) fn narrowed(mut self) -> Self {
        let (active, finished): (Vec<_>, Vec<_>) = self.state.tasks.into_iter().partition(|known| is_active(&known.task));
        let open = active.iter().map(|known| &known.task.card).filter(|card| card.status.is_open());
        let ids: BTreeSet<&TaskId> = open.flat_map(|card| card.depends_on.iter().chain(&card.parent_task_id)).collect();
        let facts = |card: &Card| ReferencedTask { phase: card.phase, status: card.status, satisfies_dependents: card.satisfies_dependents() };
        let cards = finished.iter().map(|known| &known.task.card).filter(|card| ids.contains(&card.id));
        self.state.referenced = cards.map(|card| (card.id.clone(), facts(card))).collect();
        self.state.tasks = active;
        self
    }

    pub(super) fn schedule(&self) -> Schedule {
        schedule(&self.state, &self.config, &self.busy, &self.not_responding, noon())
    }

    pub(super) fn actions(&self) -> Vec<String> {
        self.schedule().actions.iter().map(show).collect()
    }

    pub(super) fn wait_reasons(&self) -> Vec<String> {
        let wait_reasons = self.schedule().wait_reasons;
        wait_reasons.iter().map(|(task, why)| format!("{task}: {}", why.as_ref().map_or("-".to_owned(), WaitReason::sentence))).collect()
    }
}

fn is_active(task: &Task) -> bool {
    let card = &task.card;
    let awaits_decision = card.attention.as_ref().is_some_and(|attention| attention.tip.is_some());
    card.status.is_open() || card.run.is_some() || task.worktree_path.is_some() || awaits_decision
}

fn show(action: &Action) -> String {
    match action {
        Action::Start { task, phase, status } => format!("start {phase} {task} in {status}"),
        Action::Adopt { task, run } => format!("adopt {run} of {task}"),
        Action::Merge { task, others } => [task].into_iter().chain(others).fold("merge".to_owned(), |text, task| format!("{text} {task}")),
        Action::Check { task } => format!("check {task}"),
        Action::Clean { task } => format!("clean {task}"),
        Action::RequestAttention { task, kind, .. } => format!("flag {task}: {kind}"),
        Action::HandOver { run, limit } => format!("{run} hands over: {}", limit.sentence()),
        Action::WarnOfLimit { subject, limit } => format!("warn {}: {}", subject.key(), limit.sentence()),
        Action::FlagLimit { task, limit } => format!("flag {task}: {}", limit.sentence()),
        Action::SettleLimit { task } => format!("settle the limit of {task}"),
        Action::FlagUnresponsiveAssignee { task, name, detail } => format!("flag {task}, {name} is unresponsive: {detail}"),
        Action::ClearUnresponsiveAssignee { task } => format!("clear the assignee flag of {task}"),
        Action::RecheckBranch { task } => format!("recheck the branch for {task}"),
        Action::CompleteHandshake { id } => format!("complete handshake {id}"),
        Action::ExpireTrigger { id } => format!("expire trigger {id}"),
        Action::ExpireClaims { project, agent } => format!("expire claims of {agent} in {project}"),
        Action::RemoveProject { project } => format!("remove {project}"),
        Action::Resume { reason } => format!("resume {reason}"),
    }
}
