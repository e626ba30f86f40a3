//! Decides what the runner does next from the tasks and runs on record. Pure, so that table tests cover every rule.
//!
//! It must not know what happened before: the first schedule after a start is also the recovery from whatever ended the last server.

mod checks;
mod limits;
mod liveness;
mod merges;
mod open_tasks;
mod overlap;
mod parking;
mod slots;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use db::{LimitSubject, Pause, ReferencedTask, Snapshot};
use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::config::Config;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::limit::LimitUse;
use domain::runs::parking::ParkReason;
use domain::runs::preview::Preview;
use domain::time::Timestamp;

use parking::{BreakerState, breaker_state};

/// One step of the runner. Every action is idempotent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Start an agent of kind `phase` for the task.
    Start { task: TaskId, phase: AgentKind, status: Status },
    /// Take over a live run that no watcher of this process follows, or find out how it ended.
    Adopt { task: TaskId, run: RunId },
    /// Run the quick checks of submitted work.
    Check { task: TaskId },
    /// Merge an approved branch into the project branch. `others` of the same project are merged after it and checked together with it.
    Merge { task: TaskId, others: Vec<TaskId> },
    /// Remove the checkout of a finished task and keep unmerged work.
    Clean { task: TaskId },
    /// Flag a task that only the human can bring forward.
    RequestAttention { task: TaskId, kind: AttentionKind, detail: String },
    /// Tell the agent of a live run to hand over, because a limit is reached.
    HandOver { run: RunId, limit: LimitUse },
    /// Report that a limit is nearly used up.
    WarnOfLimit { subject: LimitSubject, limit: LimitUse },
    /// Flag a task that cannot start before the human raises a limit.
    FlagLimit { task: TaskId, limit: LimitUse },
    /// Clear that flag: the limit is no longer reached.
    SettleLimit { task: TaskId },
    /// Flag a task whose external assignee stopped responding.
    FlagUnresponsiveAssignee { task: TaskId, name: String, detail: String },
    /// Clear that flag: the assignee responds again, or the task no longer waits for it.
    ClearUnresponsiveAssignee { task: TaskId },
    /// Check whether the human restored a project branch that needs a decision.
    RecheckBranch { task: TaskId },
    /// Complete a handshake whose remaining targets are all unresponsive.
    CompleteHandshake { id: i64 },
    /// End the claims of an external agent that no longer answers.
    ExpireClaims { project: ProjectId, agent: String },
    /// Remove an external agent that did not answer an order in time.
    ExpireTrigger { id: i64 },
    /// Remove what is left of a deleted project.
    RemoveProject { project: ProjectId },
    /// Lift a parking that has expired.
    Resume { reason: ParkReason },
}

/// The next actions, the changed wait reasons, and when to schedule again if nothing happens before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    pub actions: Vec<Action>,
    pub wait_reasons: Vec<(TaskId, Option<WaitReason>)>,
    pub next_tick_at: Option<Timestamp>,
}

/// Repositories, by their common `.git` folder, that do not respond, and since when.
pub type NotResponding = BTreeMap<PathBuf, Timestamp>;

/// Makes the schedule. `busy` holds the tasks that a job of this process works on.
pub fn schedule(state: &Snapshot, config: &Config, busy: &BTreeSet<TaskId>, not_responding: &NotResponding, now: Timestamp) -> Schedule {
    let mut scheduler = Scheduler::new(state, config, busy, not_responding, now);
    scheduler.resume_expired_parkings();
    scheduler.adopt_runs();
    scheduler.watch_limits();
    scheduler.settle_questions();
    scheduler.clean_finished_tasks();
    scheduler.remove_deleted_projects();
    scheduler.complete_handshakes();
    scheduler.expire_claims();
    scheduler.expire_triggers();
    scheduler.recheck_branches();
    let candidates = scheduler.classify_open_tasks();
    let candidates = scheduler.take_turns(candidates);
    let candidates = scheduler.hold_back(candidates);
    scheduler.fill_slots(candidates);
    scheduler.schedule
}

struct Scheduler<'a> {
    state: &'a Snapshot,
    config: &'a Config,
    busy: &'a BTreeSet<TaskId>,
    not_responding: &'a NotResponding,
    now: Timestamp,
    /// Cards of the active tasks.
    cards: BTreeMap<&'a TaskId, &'a Card>,
    /// For each project whose branch needs a decision, the task that asks for it.
    branch_decisions: BTreeMap<&'a ProjectId, &'a TaskId>,
    /// The submitted tasks that wait for their quick checks.
    awaiting_checks: BTreeSet<&'a TaskId>,
    /// Whether a task waits for another one.
    has_blocked_tasks: bool,
    /// Whether a task would be a candidate if no person had paused its project.
    has_paused_tasks: bool,
    schedule: Schedule,
}

/// A task that can start now.
struct Candidate<'a> {
    card: &'a Card,
    /// Oracle, review, rework, orchestrator, planner, new coder: started work comes before new work.
    rank: u8,
    phase: AgentKind,
}

impl<'a> Scheduler<'a> {
    fn new(state: &'a Snapshot, config: &'a Config, busy: &'a BTreeSet<TaskId>, not_responding: &'a NotResponding, now: Timestamp) -> Self {
        let cards = state.tasks.iter().map(|known| (&known.task.card.id, &known.task.card)).collect();
        let deciding = state.tasks.iter().map(|known| &known.task.card).filter(|card| awaits_branch_decision(card));
        let branch_decisions = deciding.map(|card| (&card.project_id, &card.id)).collect();
        Self {
            state,
            config,
            busy,
            not_responding,
            now,
            cards,
            branch_decisions,
            awaiting_checks: checks::awaiting(state),
            has_blocked_tasks: false,
            has_paused_tasks: false,
            schedule: Schedule::default(),
        }
    }

    fn tick_at(&mut self, at: Timestamp) {
        self.schedule.next_tick_at = Some(self.schedule.next_tick_at.map_or(at, |known| known.min(at)));
    }

    fn set_wait_reason(&mut self, card: &Card, reason: Option<WaitReason>) {
        if card.wait_reason != reason {
            self.schedule.wait_reasons.push((card.id.clone(), reason));
        }
    }

    /// Reads the facts about a task that an open task refers to; none when no such task is on record.
    fn referenced(&self, id: &TaskId) -> Option<ReferencedTask> {
        let active = |card: &&Card| ReferencedTask { phase: card.phase, status: card.status, satisfies_dependents: card.satisfies_dependents() };
        self.cards.get(id).map(active).or_else(|| self.state.referenced.get(id).copied())
    }

    /// The pause of a task's project.
    fn pause(&self, card: &Card) -> Pause {
        self.state.pauses.get(&card.project_id).copied().unwrap_or_default()
    }

    /// Since when the repository of a task does not respond; none if it does.
    fn silent_since(&self, card: &Card) -> Option<Timestamp> {
        let project = self.state.projects.get(&card.project_id)?;
        self.not_responding.get(Path::new(&project.git_dir)).copied()
    }

    fn resume_expired_parkings(&mut self) {
        for parking in &self.state.parkings {
            match breaker_state(parking, self.now) {
                BreakerState::Open => self.tick_at(parking.until),
                BreakerState::Expired => self.schedule.actions.push(Action::Resume { reason: parking.reason }),
                BreakerState::HalfOpen => {}
            }
        }
    }

    fn adopt_runs(&mut self) {
        for run in self.state.live.iter().filter(|run| !self.busy.contains(&run.task_id)) {
            self.schedule.actions.push(Action::Adopt { task: run.task_id.clone(), run: run.id.clone() });
        }
    }

    fn clean_finished_tasks(&mut self) {
        for known in &self.state.tasks {
            let card = &known.task.card;
            let has_leftover = !card.status.is_open() && known.task.worktree_path.is_some();
            // Its app ends first, because that writes to the checkout.
            let is_idle = card.run.is_none() && card.attention.is_none() && !card.preview.as_ref().is_some_and(Preview::is_live);
            if has_leftover && is_idle && !self.busy.contains(&card.id) && self.silent_since(card).is_none() {
                self.schedule.actions.push(Action::Clean { task: card.id.clone() });
            }
        }
    }

    fn remove_deleted_projects(&mut self) {
        let removals = self.state.removable.iter().map(|project| Action::RemoveProject { project: project.clone() });
        self.schedule.actions.extend(removals);
    }

    fn complete_handshakes(&mut self) {
        for (id, unresponsive_at) in &self.state.unanswered {
            if *unresponsive_at <= self.now {
                self.schedule.actions.push(Action::CompleteHandshake { id: *id });
            } else {
                self.tick_at(*unresponsive_at);
            }
        }
    }

    fn expire_claims(&mut self) {
        for (project, agent, at) in &self.state.expiring_claims {
            if *at <= self.now {
                self.schedule.actions.push(Action::ExpireClaims { project: project.clone(), agent: agent.clone() });
            } else {
                self.tick_at(*at);
            }
        }
    }

    fn expire_triggers(&mut self) {
        for (id, at) in &self.state.due_triggers {
            if *at <= self.now {
                self.schedule.actions.push(Action::ExpireTrigger { id: *id });
            } else {
                self.tick_at(*at);
            }
        }
    }

    fn recheck_branches(&mut self) {
        let responds = |task: &&&TaskId| self.cards.get(**task).is_none_or(|card| self.silent_since(card).is_none());
        let tasks = self.branch_decisions.values().filter(|task| !self.busy.contains(**task)).filter(responds);
        let rechecks: Vec<Action> = tasks.map(|task| Action::RecheckBranch { task: (*task).clone() }).collect();
        self.schedule.actions.extend(rechecks);
    }
}

fn awaits_branch_decision(card: &Card) -> bool {
    card.run.is_none() && card.attention.as_ref().is_some_and(|attention| attention.tip.is_some())
}

#[cfg(test)]
mod tests;
