//! Gives free slots to candidates, and lets one of them probe when agents are parked.
//!
//! It must not know why a task became a candidate.

use std::collections::{BTreeMap, BTreeSet};

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::parking::Parking;
use domain::time::Timestamp;

use super::parking::{self, BreakerState, breaker_state};
use super::{Action, Candidate, Scheduler};

/// Free slots.
struct Slots {
    free: usize,
    /// For each kind of agent with a limit of its own.
    of_kind: BTreeMap<AgentKind, usize>,
    /// For reviewers while other work waits.
    reviewer_share: usize,
    /// For the coders of each project with a limit of its own.
    coders: BTreeMap<ProjectId, usize>,
}

impl Slots {
    /// Whether a limit on this kind of agent, everywhere or in the project of its task, leaves no slot.
    fn is_kind_full(&self, card: &Card, phase: AgentKind) -> bool {
        let coders = self.coders.get(&card.project_id).filter(|_| phase == AgentKind::Coder);
        self.of_kind.get(&phase) == Some(&0) || coders == Some(&0)
    }

    fn take(&mut self, card: &Card, phase: AgentKind) {
        self.free -= 1;
        self.of_kind.entry(phase).and_modify(|free| *free -= 1);
        if phase == AgentKind::Coder {
            self.coders.entry(card.project_id.clone()).and_modify(|free| *free -= 1);
        }
    }
}

impl<'a> Scheduler<'a> {
    /// Starts candidates in order while slots are free; the others get the reason why they wait.
    pub(super) fn fill_slots(&mut self, mut candidates: Vec<Candidate<'a>>) {
        let limit = self.config.max_parallel_agents;
        let mut slots = self.free_slots();
        let share = self.reviewer_share(&candidates, &slots);
        candidates = share_with_reviewers(candidates, share);
        let (probed, parked): (Vec<_>, Vec<_>) =
            self.state.parkings.iter().partition(|parking| breaker_state(parking, self.now) == BreakerState::HalfOpen);
        // An expired parking still blocks: resuming it checks first whether its cause is gone. The order of reasons keeps the choice stable
        // while their times change.
        let mut blocking = parked.into_iter().min_by_key(|parking| parking.reason);
        let probe = probed.iter().copied().max_by_key(|parking| parking.until);
        if let Some(probe) = probe {
            rotate(&mut candidates, probe);
        }
        match probe.filter(|_| blocking.is_none()) {
            Some(probe) if self.is_probe_running(probe.until) => blocking = Some(probe),
            // No candidate is left to probe, so lift it.
            Some(_) if candidates.is_empty() && self.busy.is_empty() && !self.has_paused_tasks => {
                self.schedule.actions.extend(probed.iter().map(|parking| Action::Resume { reason: parking.reason }));
            }
            _ => {}
        }
        for (Candidate { card, phase, .. }, shared) in self.overlapping_last(candidates, slots.free) {
            if let Some(parking) = blocking {
                self.set_wait_reason(card, Some(parking::wait_reason(parking)));
            } else if slots.is_kind_full(card, phase) {
                self.set_wait_reason(card, Some(WaitReason::KindLimitReached { phase }));
            } else if slots.free == 0 {
                self.set_wait_reason(card, Some(shared.unwrap_or(WaitReason::NoFreeSlot { limit })));
            } else {
                slots.take(card, phase);
                self.schedule.actions.push(Action::Start { task: card.id.clone(), phase, status: card.status });
                blocking = probe;
            }
        }
    }

    fn free_slots(&self) -> Slots {
        let working = self.working_tasks();
        let mut used: BTreeMap<AgentKind, usize> = BTreeMap::new();
        let mut coders: BTreeMap<&ProjectId, usize> = BTreeMap::new();
        for card in working.iter().filter_map(|id| self.cards.get(*id)) {
            let kind = kind_at_work(card);
            *used.entry(kind).or_default() += 1;
            *coders.entry(&card.project_id).or_default() += usize::from(kind == AgentKind::Coder);
        }
        let used_by = |phase: &AgentKind| used.get(phase).copied().unwrap_or_default();
        let free = |limit: u32, used: usize| usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(used);
        let limited = AgentKind::ALL.iter().filter_map(|phase| Some((*phase, free(self.config.agent(*phase).max_parallel?, used_by(phase)))));
        let limited_coders = self.state.projects.iter().filter_map(|(id, project)| {
            let used = coders.get(id).copied().unwrap_or_default();
            Some((id.clone(), free(project.max_coders?, used)))
        });
        Slots {
            coders: limited_coders.collect(),
            free: free(self.config.max_parallel_agents, working.len()),
            of_kind: limited.collect(),
            reviewer_share: free(self.config.max_parallel_agents.div_ceil(2), used_by(&AgentKind::Reviewer)),
        }
    }

    /// How many reviews may start before other work. Where nothing else is left to do, the last new tasks come before the reviews: started
    /// later, they would leave agents idle at the end.
    fn reviewer_share(&self, candidates: &[Candidate<'_>], slots: &Slots) -> usize {
        let others: Vec<Status> = candidates.iter().map(|candidate| candidate.card.status).filter(|status| *status != Status::InReview).collect();
        let are_last_tasks = u32::try_from(others.len()).is_ok_and(|count| count < self.config.max_parallel_agents)
            && others.iter().all(|status| *status == Status::Backlog)
            && !self.has_blocked_tasks;
        let must_choose = candidates.len() > slots.free;
        if are_last_tasks && must_choose { 0 } else { slots.reviewer_share }
    }

    /// Tasks with a live run, or with a job that starts one.
    pub(super) fn working_tasks(&self) -> BTreeSet<&'a TaskId> {
        self.state.live.iter().map(|run| &run.task_id).chain(self.about_to_start()).collect()
    }

    /// Whether an agent that started at `since` or later works or is about to. A run that started earlier proves nothing.
    fn is_probe_running(&self, since: Timestamp) -> bool {
        let is_live = |id: &TaskId| self.state.live.iter().any(|run| run.task_id == *id);
        self.state.live.iter().any(|run| run.started_at >= since) || self.about_to_start().any(|id| !is_live(id))
    }

    /// Tasks with a job that starts an agent whose run is not on record yet, or whose run is live.
    fn about_to_start(&self) -> impl Iterator<Item = &'a TaskId> {
        let starts = |card: &Card| card.status.is_open() && !card.is_approved() && !self.awaiting_checks.contains(&card.id);
        self.busy.iter().filter(move |id| self.cards.get(id).is_some_and(|card| starts(card)))
    }
}

/// Moves reviews beyond their share behind all other work, so that they use slots that would stay empty.
fn share_with_reviewers(candidates: Vec<Candidate<'_>>, share: usize) -> Vec<Candidate<'_>> {
    let mut reviews = 0;
    let (within, beyond): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| {
        reviews += usize::from(candidate.phase == AgentKind::Reviewer);
        candidate.phase != AgentKind::Reviewer || reviews <= share
    });
    within.into_iter().chain(beyond).collect()
}

/// Rotates the probing card from probe to probe, because one failing card must not block the others.
fn rotate(candidates: &mut [Candidate<'_>], probe: &Parking) {
    if !candidates.is_empty() {
        let turn = usize::try_from(probe.until.milliseconds()).unwrap_or_default() % candidates.len();
        candidates.rotate_left(turn);
    }
}

fn kind_at_work(card: &Card) -> AgentKind {
    match &card.run {
        Some(run) => run.phase,
        None if card.status == Status::InReview => AgentKind::Reviewer,
        None => card.phase,
    }
}
