//! Sorts open tasks: those that wait, with the reason, those to merge, and those that can start.
//!
//! It must not know how many agents may work at once; `slots` decides that.

use db::TaskSnapshot;
use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::board::project::ReviewPolicy;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::backoff::MAX_BACKOFF;
use domain::runs::failure::FailureClass;
use domain::runs::failure::table::Obstacle;
use domain::runs::hand_over::HandOverReason;
use domain::time::Timestamp;

use super::checks::are_running;
use super::liveness::{AssigneeLiveness, assignee_liveness};
use super::{Action, Candidate, Scheduler};

impl<'a> Scheduler<'a> {
    /// Sets the wait reason of every open task without a run, or makes it a candidate.
    pub(super) fn classify_open_tasks(&mut self) -> Vec<Candidate<'a>> {
        let mut candidates = Vec::new();
        let mut queue = self.merge_queue();
        let mut checking = self.checking_projects();
        let state = self.state;
        for known in state.tasks.iter().filter(|known| known.task.card.status.is_open()) {
            let card = &known.task.card;
            if card.run.is_some() || self.busy.contains(&card.id) {
                let stopping = card.run.as_ref().is_some_and(|run| run.stopping);
                let checks = card.run.is_none() && self.has_checks(card) && (are_running(card) || !card.is_approved());
                let merging = card.run.is_none() && card.is_approved();
                let handing_over = self.hand_over(card).map(|reason| WaitReason::HandingOver { reason });
                let stopping = stopping.then_some(WaitReason::Stopping);
                let merging = merging.then_some(WaitReason::MergeQueued);
                let checks = checks.then_some(WaitReason::Checks);
                self.set_wait_reason(card, self.impaired_run(card).or(stopping).or(handing_over).or(checks).or(merging));
                continue;
            }
            let pause = self.pause(card);
            if pause.paused_at.is_some() && card.held_by.is_none() && card.attention.is_none() {
                self.has_paused_tasks = true;
                self.set_wait_reason(card, Some(if pause.is_archived { WaitReason::Archived } else { WaitReason::Paused }));
                continue;
            }
            let wait_reason = self.wait_reason(card);
            self.has_blocked_tasks |= matches!(wait_reason, Some(WaitReason::BlockedBy { .. } | WaitReason::PlanUnfinished { .. }));
            if self.check_assignee(known, wait_reason.is_some()) || card.attention.is_some() {
                self.set_wait_reason(card, Some(WaitReason::NeedsAttention));
                continue;
            }
            if wait_reason.is_some() {
                self.set_wait_reason(card, wait_reason);
                continue;
            }
            if let Some(since) = self.silent_since(card).filter(|_| card.is_approved() || card.contributors.assigned_to.is_none()) {
                self.set_wait_reason(card, Some(WaitReason::RepositoryNotResponding { since }));
                continue;
            }
            let undecided = self.branch_decisions.get(&card.project_id).map(|task| WaitReason::UnapprovedCommits { task: (*task).clone() });
            if card.is_approved() && undecided.is_some() {
                self.set_wait_reason(card, undecided);
                continue;
            }
            if let Some(Attention { kind, detail, .. }) = self.review_by_person(card) {
                self.schedule.actions.push(Action::RequestAttention { task: card.id.clone(), kind, detail });
                self.set_wait_reason(card, Some(WaitReason::NeedsAttention));
                continue;
            }
            if card.awaits_pull_request() {
                self.set_wait_reason(card, Some(WaitReason::PullRequest));
                continue;
            }
            if card.is_approved() {
                self.queue_merge(card, &mut queue, &mut checking);
                self.set_wait_reason(card, Some(WaitReason::MergeQueued));
                continue;
            }
            // An external agent works on it and a lead reviews it, so the runner starts no managed agent.
            if let Some(name) = card.contributors.assigned_to.clone() {
                let reason = if card.status == Status::InReview { WaitReason::AwaitingLead { name } } else { WaitReason::Assigned { name } };
                self.set_wait_reason(card, Some(reason));
                continue;
            }
            if self.makes_no_progress(known) || self.review_limit_reached(known) {
                self.set_wait_reason(card, Some(WaitReason::NeedsAttention));
                continue;
            }
            if let Some((word, by)) = state.stop_orders.get(&card.project_id).cloned() {
                self.has_paused_tasks = true;
                self.set_wait_reason(card, Some(WaitReason::StoppedByOrder { word, by }));
                continue;
            }
            if let Some((path, holder)) = state.waiting_for_claims.get(&card.id).filter(|_| card.status == Status::InProgress) {
                self.set_wait_reason(card, Some(WaitReason::FileClaimed { path: path.to_string(), holder: holder.clone() }));
                continue;
            }
            if let Some(until) = known.retry_at.filter(|until| !until.is_due(self.now, MAX_BACKOFF)) {
                self.tick_at(until);
                let after = known.last_failure.unwrap_or(FailureClass::Crashed);
                self.set_wait_reason(card, Some(WaitReason::Backoff { until, after }));
                continue;
            }
            if undecided.is_some() {
                self.set_wait_reason(card, undecided);
                continue;
            }
            if self.awaiting_checks.contains(&card.id) {
                if checking.insert(&card.project_id) {
                    self.schedule.actions.push(Action::Check { task: card.id.clone() });
                }
                self.set_wait_reason(card, Some(WaitReason::Checks));
                continue;
            }
            candidates.push(candidate(card));
        }
        candidates
    }

    /// The review that only a person can do: of submitted work, or of work that an agent approved.
    fn review_by_person(&self, card: &Card) -> Option<Attention> {
        let policy = self.state.projects.get(&card.project_id).map_or_else(ReviewPolicy::default, |project| project.review);
        let lacks_person = card.lacks_approval_of_a_person();
        let protected = card.protected_paths.as_ref().filter(|_| self.config.protected_paths_need_human && lacks_person);
        // Red checks send work back before a person looks at it.
        let is_submitted = card.status == Status::InReview && !card.is_approved() && !self.awaiting_checks.contains(&card.id);
        let asks = if lacks_person { policy.needs_person() } else { is_submitted && policy == ReviewPolicy::Human };
        asks.then(|| Attention::review(lacks_person)).or_else(|| protected.map(Attention::protected_paths))
    }

    fn impaired_run(&self, card: &Card) -> Option<WaitReason> {
        let run = self.state.live.iter().find(|run| run.task_id == card.id)?;
        run.condition.clone().map(|condition| WaitReason::Impaired { run: run.id.clone(), condition })
    }

    /// Why the agent of the card was told to hand over.
    fn hand_over(&self, card: &Card) -> Option<HandOverReason> {
        let run = card.run.as_ref()?;
        self.state.live.iter().find(|live| live.id == run.id)?.hand_over.clone()
    }

    /// Flags a task whose assignee is unresponsive, or clears the flag. Returns whether it flagged the task.
    fn check_assignee(&mut self, known: &TaskSnapshot, waits: bool) -> bool {
        let card = &known.task.card;
        let attention = card.attention.as_ref().map(|attention| attention.kind);
        let liveness = assignee_liveness(known, self.tracking_since(card), waits, self.now);
        if let AssigneeLiveness::Responsive { recheck_at: Some(at) } | AssigneeLiveness::Unknown { recheck_at: at } = liveness {
            self.tick_at(at);
        }
        match (liveness, attention) {
            (AssigneeLiveness::Unresponsive { name, detail }, None) => {
                self.schedule.actions.push(Action::FlagUnresponsiveAssignee { task: card.id.clone(), name, detail });
                true
            }
            (AssigneeLiveness::Responsive { .. }, Some(AttentionKind::AssigneeUnresponsive)) => {
                self.schedule.actions.push(Action::ClearUnresponsiveAssignee { task: card.id.clone() });
                false
            }
            _ => false,
        }
    }

    /// Since when the silence of a task's assignee counts.
    fn tracking_since(&self, card: &Card) -> Timestamp {
        let since = self.state.tracking_since;
        self.pause(card).resumed_at.map_or(since, |resumed| resumed.max(since))
    }

    /// Returns what a task waits for before anyone may work on it, regardless of free slots.
    fn wait_reason(&self, card: &Card) -> Option<WaitReason> {
        if let Some(by) = card.held_by {
            return Some(WaitReason::Held { by });
        }
        if card.status != Status::Backlog {
            return None;
        }
        // Only a done plan starts its tasks: a cancelled one may be half of a plan.
        let parent = card.parent_task_id.as_ref().and_then(|id| Some((id, self.referenced(id)?)));
        if let Some((id, _)) = parent.filter(|(_, parent)| parent.phase == AgentKind::Planner && parent.status != Status::Done) {
            return Some(WaitReason::PlanUnfinished { task: id.clone() });
        }
        let is_unfinished = |id: &&TaskId| self.referenced(id).is_none_or(|dependency| !dependency.satisfies_dependents);
        let tasks: Vec<TaskId> = card.depends_on.iter().filter(is_unfinished).cloned().collect();
        (!tasks.is_empty()).then_some(WaitReason::BlockedBy { tasks })
    }

    fn makes_no_progress(&mut self, known: &TaskSnapshot) -> bool {
        let card = &known.task.card;
        let repeats = card.status == Status::InProgress && known.repeated_rounds >= self.config.max_repeated_rounds;
        if repeats {
            let Attention { kind, detail, .. } = Attention::no_progress(known.repeated_rounds);
            self.schedule.actions.push(Action::RequestAttention { task: card.id.clone(), kind, detail });
        }
        repeats
    }

    fn review_limit_reached(&mut self, known: &TaskSnapshot) -> bool {
        let card = &known.task.card;
        let rounds = known.task.review_rounds;
        let reached = card.status == Status::InProgress && rounds >= self.config.max_review_rounds;
        if reached {
            let detail = format!("A reviewer rejected it {rounds} times. {}", Obstacle::ReviewLimit.remedy());
            self.schedule.actions.push(Action::RequestAttention { task: card.id.clone(), kind: AttentionKind::ReviewLimit, detail });
        }
        reached
    }
}

/// Picks the kind of agent that a task needs next.
fn candidate(card: &Card) -> Candidate<'_> {
    let (rank, phase) = match (card.status, card.phase) {
        (Status::InReview, _) => (1, AgentKind::Reviewer),
        // Someone at work waits for it.
        (_, AgentKind::Oracle) => (0, AgentKind::Oracle),
        (Status::InProgress, AgentKind::Coder) => (2, AgentKind::Coder),
        (_, AgentKind::Orchestrator) => (3, AgentKind::Orchestrator),
        (_, AgentKind::Planner) => (4, AgentKind::Planner),
        (_, phase) => (5, phase),
    };
    Candidate { card, rank, phase }
}
