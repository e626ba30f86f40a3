//! The plan: from what is wanted (tasks) and what is there (runs), which actions come next. Pure, so that every rule is a table in a test.
//!
//! It plans from state alone, never from what happened; the first plan after a start is the recovery from whatever ended the last one.

mod parking;
mod silence;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use db::{Snapshot, TaskSnapshot};
use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::config::Config;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::{FailureClass, MAX_BACKOFF};
use domain::runs::parking::ParkReason;
use domain::time::Timestamp;

use parking::{Stand, stand};
use silence::{Silence, silence};

/// One thing to be done. Doing it twice is as good as once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Start an agent of `phase` for the task.
    Start { task: TaskId, phase: AgentKind, status: Status },
    /// A run is on record that nobody here watches: take it over, or find out how it ended.
    Adopt { task: TaskId, run: RunId },
    /// Bring an approved branch into the project branch.
    Merge { task: TaskId },
    /// Remove the checkout of a finished task, keeping what was not merged.
    Clean { task: TaskId },
    /// Only a person can go on.
    NeedPerson { task: TaskId, kind: AttentionKind, detail: String },
    /// The agent from outside that has it fell silent: only a person can go on.
    MissAssignee { task: TaskId, name: String, detail: String },
    /// It was heard of, or nobody waits for it any more.
    MissNobody { task: TaskId },
    /// The person was asked about the project branch: see whether they brought it back.
    LookAtBranch { task: TaskId },
    /// Everybody for whom a handshake waits fell silent.
    CompleteHandshake { id: i64 },
    /// The time of a parking is over.
    Resume { reason: ParkReason },
}

/// What to do, why the rest waits, and when to look again if nothing happens before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub actions: Vec<Action>,
    pub whys: Vec<(TaskId, Option<WaitReason>)>,
    pub look_again: Option<Timestamp>,
}

/// Makes the plan. `busy` are the tasks on which an action is under way in this process.
pub fn plan(state: &Snapshot, config: &Config, busy: &BTreeSet<TaskId>, now: Timestamp) -> Plan {
    let mut planner = Planner::new(state, config, busy, now);
    planner.parkings();
    planner.runs();
    planner.finished();
    planner.handshakes();
    planner.branches();
    let mut candidates = planner.judge_open();
    candidates.sort_by_key(|candidate| (candidate.rank, Reverse(candidate.card.priority), candidate.card.id.number()));
    planner.fill_slots(candidates);
    planner.plan
}

struct Planner<'a> {
    state: &'a Snapshot,
    config: &'a Config,
    busy: &'a BTreeSet<TaskId>,
    now: Timestamp,
    cards: BTreeMap<&'a TaskId, &'a Card>,
    /// Projects about whose branch the person is asked, and on which task.
    asked: BTreeMap<&'a ProjectId, &'a TaskId>,
    plan: Plan,
}

/// A task that could be worked on at once.
struct Candidate<'a> {
    card: &'a Card,
    /// Review, rework, orchestrator, planner, new coder: finishing goes before beginning.
    rank: u8,
    phase: AgentKind,
}

impl<'a> Planner<'a> {
    fn new(state: &'a Snapshot, config: &'a Config, busy: &'a BTreeSet<TaskId>, now: Timestamp) -> Self {
        let cards = state.tasks.iter().map(|known| (&known.task.card.id, &known.task.card)).collect();
        let asking = state.tasks.iter().map(|known| &known.task.card).filter(|card| asks_about_branch(card));
        let asked = asking.map(|card| (&card.project_id, &card.id)).collect();
        Self { state, config, busy, now, cards, asked, plan: Plan::default() }
    }

    fn look_again(&mut self, at: Timestamp) {
        self.plan.look_again = Some(self.plan.look_again.map_or(at, |known| known.min(at)));
    }

    fn why(&mut self, card: &Card, why: Option<WaitReason>) {
        if card.wait_reason != why {
            self.plan.whys.push((card.id.clone(), why));
        }
    }

    fn parkings(&mut self) {
        for parking in &self.state.parkings {
            match stand(parking, self.now) {
                Stand::Closed => self.look_again(parking.until),
                Stand::Over => self.plan.actions.push(Action::Resume { reason: parking.reason }),
                Stand::Trial => {}
            }
        }
    }

    fn runs(&mut self) {
        for run in self.state.live.iter().filter(|run| !self.busy.contains(&run.task_id)) {
            self.plan.actions.push(Action::Adopt { task: run.task_id.clone(), run: run.id.clone() });
        }
    }

    fn finished(&mut self) {
        for known in &self.state.tasks {
            let card = &known.task.card;
            let left_over = !card.status.is_open() && known.task.worktree_path.is_some();
            let untouched = card.run.is_none() && card.attention.is_none();
            if left_over && untouched && !self.busy.contains(&card.id) {
                self.plan.actions.push(Action::Clean { task: card.id.clone() });
            }
        }
    }

    fn handshakes(&mut self) {
        for (id, lost_at) in &self.state.unanswered {
            if *lost_at <= self.now {
                self.plan.actions.push(Action::CompleteHandshake { id: *id });
            } else {
                self.look_again(*lost_at);
            }
        }
    }

    fn branches(&mut self) {
        let asked = self.asked.values().filter(|task| !self.busy.contains(**task));
        self.plan.actions.extend(asked.map(|task| Action::LookAtBranch { task: (*task).clone() }));
    }

    /// Gives every open task without a run its reason to wait, or makes it a candidate.
    fn judge_open(&mut self) -> Vec<Candidate<'a>> {
        let mut candidates = Vec::new();
        let mut merging: BTreeSet<&str> = self.merging();
        let state = self.state;
        for known in state.tasks.iter().filter(|known| known.task.card.status.is_open()) {
            let card = &known.task.card;
            if card.run.is_some() || self.busy.contains(&card.id) {
                let stopping = card.run.as_ref().is_some_and(|run| run.stopping);
                let merging = card.run.is_none() && card.is_approved();
                self.why(card, if stopping { Some(WaitReason::Stopping) } else { merging.then_some(WaitReason::MergeQueued) });
                continue;
            }
            let waits = self.waits(card);
            if self.misses_assignee(known, waits.is_some()) || card.attention.is_some() {
                self.why(card, Some(WaitReason::NeedsAttention));
                continue;
            }
            if let Some(why) = waits {
                self.why(card, Some(why));
                continue;
            }
            let asked = self.asked.get(&card.project_id).map(|task| WaitReason::UnapprovedCommits { task: (*task).clone() });
            if card.is_approved() && asked.is_some() {
                self.why(card, asked);
                continue;
            }
            if card.is_approved() {
                let repository = self.repository(card);
                if merging.insert(repository) {
                    self.plan.actions.push(Action::Merge { task: card.id.clone() });
                }
                self.why(card, Some(WaitReason::MergeQueued));
                continue;
            }
            // Somebody from outside works on it, and a lead reviews it by the rules of the board: no agent of ours joins in.
            if let Some(name) = card.contributors.assigned_to.clone() {
                self.why(card, Some(if card.status == Status::InReview { WaitReason::AwaitingLead { name } } else { WaitReason::Assigned { name } }));
                continue;
            }
            if self.sent_back_too_often(known) {
                self.why(card, Some(WaitReason::NeedsAttention));
                continue;
            }
            if let Some(until) = known.retry_at.filter(|until| !until.is_due(self.now, MAX_BACKOFF)) {
                self.look_again(until);
                let after = known.last_failure.unwrap_or(FailureClass::Crashed);
                self.why(card, Some(WaitReason::Backoff { until, after }));
                continue;
            }
            if asked.is_some() {
                self.why(card, asked);
                continue;
            }
            candidates.push(candidate(card));
        }
        candidates
    }

    /// Repositories in which a merge is under way.
    fn merging(&self) -> BTreeSet<&'a str> {
        let approved = self.state.tasks.iter().map(|known| &known.task.card).filter(|card| card.is_approved() && self.busy.contains(&card.id));
        approved.map(|card| self.repository(card)).collect()
    }

    fn repository(&self, card: &Card) -> &'a str {
        self.state.projects.get(&card.project_id).map_or("", |project| project.git_dir.as_str())
    }

    /// Puts a task before the person whose assignee fell silent, and takes that back when it is no longer so. Answers whether it is news.
    fn misses_assignee(&mut self, known: &TaskSnapshot, waits: bool) -> bool {
        let card = &known.task.card;
        let asked = card.attention.as_ref().map(|attention| attention.kind);
        let silence = silence(known, self.state, waits, self.now);
        if let Silence::None { until: Some(until) } | Silence::Unjudged { until } = silence {
            self.look_again(until);
        }
        match (silence, asked) {
            (Silence::Lost { name, detail }, None) => {
                self.plan.actions.push(Action::MissAssignee { task: card.id.clone(), name, detail });
                true
            }
            (Silence::None { .. }, Some(AttentionKind::AssigneeUnresponsive)) => {
                self.plan.actions.push(Action::MissNobody { task: card.id.clone() });
                false
            }
            _ => false,
        }
    }

    /// What a task waits for before anybody may work on it, whatever else is free.
    fn waits(&self, card: &Card) -> Option<WaitReason> {
        if let Some(by) = card.held_by {
            return Some(WaitReason::Held { by });
        }
        if card.status != Status::Backlog {
            return None;
        }
        let parent = card.parent_task_id.as_ref().and_then(|parent| self.cards.get(parent));
        // Not done: a plan that was given up in the middle does not begin.
        if let Some(parent) = parent.filter(|parent| parent.phase == AgentKind::Planner && parent.status != Status::Done) {
            return Some(WaitReason::PlanUnfinished { task: parent.id.clone() });
        }
        let open = |id: &&TaskId| self.cards.get(id).is_none_or(|dependency| !dependency.satisfies_dependents());
        let tasks: Vec<TaskId> = card.depends_on.iter().filter(open).cloned().collect();
        (!tasks.is_empty()).then_some(WaitReason::BlockedBy { tasks })
    }

    fn sent_back_too_often(&mut self, known: &TaskSnapshot) -> bool {
        let card = &known.task.card;
        let too_often = card.status == Status::InProgress && known.task.review_rounds >= self.config.max_review_rounds;
        if too_often {
            let detail =
                format!("It was sent back {} times. Read the thread, say what you want in a comment, and press Retry.", known.task.review_rounds);
            self.plan.actions.push(Action::NeedPerson { task: card.id.clone(), kind: AttentionKind::ReviewLimit, detail });
        }
        too_often
    }

    fn fill_slots(&mut self, mut candidates: Vec<Candidate<'a>>) {
        let working: BTreeSet<&TaskId> = self.state.live.iter().map(|run| &run.task_id).chain(self.starting()).collect();
        let most = self.config.max_parallel_agents;
        let mut free = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(working.len());
        let reviewers = working.iter().filter(|id| self.cards.get(**id).is_some_and(|card| works_as_reviewer(card))).count();
        let mut free_reviewers = usize::try_from(self.config.max_parallel_reviewers).unwrap_or(usize::MAX).saturating_sub(reviewers);
        let (trials, parked): (Vec<_>, Vec<_>) = self.state.parkings.iter().partition(|parking| stand(parking, self.now) == Stand::Trial);
        // Also one whose time is over: it ends by being resumed, which looks whether its cause is gone. The first in the order of reasons,
        // which stays the same when their times move.
        let mut parked = parked.into_iter().min_by_key(|parking| parking.reason);
        let trial = trials.iter().copied().max_by_key(|parking| parking.until);
        // Whose turn it is changes from trial to trial: what fails for one card alone must not keep all others waiting.
        if let Some(trial) = trial
            && !candidates.is_empty()
        {
            let turn = usize::try_from(trial.until.milliseconds()).unwrap_or_default() % candidates.len();
            candidates.rotate_left(turn);
        }
        match trial.filter(|_| parked.is_none()) {
            Some(trial) if self.is_tried_since(trial.until) => parked = Some(trial),
            // Nobody waits for it.
            Some(_) if candidates.is_empty() && self.busy.is_empty() => {
                self.plan.actions.extend(trials.iter().map(|parking| Action::Resume { reason: parking.reason }));
            }
            _ => {}
        }
        for Candidate { card, phase, .. } in candidates {
            let reviews = phase == AgentKind::Reviewer;
            if let Some(parking) = parked {
                self.why(card, Some(parking::why(parking)));
            } else if reviews && free_reviewers == 0 {
                self.why(card, Some(WaitReason::KindLimitReached { phase: AgentKind::Reviewer }));
            } else if free == 0 {
                self.why(card, Some(WaitReason::NoFreeSlot { limit: most }));
            } else {
                free -= 1;
                free_reviewers -= usize::from(reviews);
                self.plan.actions.push(Action::Start { task: card.id.clone(), phase, status: card.status });
                parked = trial;
            }
        }
    }

    /// Whether an agent is at work or about to be that began at that time or later. Who began before has nothing new to tell.
    fn is_tried_since(&self, then: Timestamp) -> bool {
        let live = |id: &TaskId| self.state.live.iter().any(|run| run.task_id == *id);
        self.state.live.iter().any(|run| run.started_at >= then) || self.starting().any(|id| !live(id))
    }

    /// Tasks whose agent is about to be on record.
    fn starting(&self) -> impl Iterator<Item = &'a TaskId> {
        self.busy.iter().filter(|id| self.cards.get(id).is_some_and(|card| card.status.is_open() && !card.is_approved()))
    }
}

/// The agent that a task which stands here needs next.
fn candidate(card: &Card) -> Candidate<'_> {
    let (rank, phase) = match (card.status, card.phase) {
        (Status::InReview, _) => (0, AgentKind::Reviewer),
        (Status::InProgress, AgentKind::Coder) => (1, AgentKind::Coder),
        (_, AgentKind::Orchestrator) => (2, AgentKind::Orchestrator),
        (_, AgentKind::Planner) => (3, AgentKind::Planner),
        (_, phase) => (4, phase),
    };
    Candidate { card, rank, phase }
}

/// Whether the card needs the person because of what was found on the project branch.
fn asks_about_branch(card: &Card) -> bool {
    card.run.is_none() && card.attention.as_ref().is_some_and(|attention| attention.tip.is_some())
}

fn works_as_reviewer(card: &Card) -> bool {
    match &card.run {
        Some(run) => run.phase == AgentKind::Reviewer,
        None => card.status == Status::InReview,
    }
}

#[cfg(test)]
mod tests;
