//! Gives free slots to candidates, and lets one of them probe when agents are parked.
//!
//! It must not know why a task became a candidate.

use std::collections::BTreeSet;

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::parking::Parking;
use domain::time::Timestamp;

use super::parking::{self, BreakerState, breaker_state};
use super::{Action, Candidate, Scheduler};

impl<'a> Scheduler<'a> {
    /// Starts candidates in order while slots are free; the others get the reason why they wait.
    pub(super) fn fill_slots(&mut self, mut candidates: Vec<Candidate<'a>>) {
        let limit = self.config.max_parallel_agents;
        let (mut free, mut free_reviewers) = self.free_slots();
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
            Some(_) if candidates.is_empty() && self.busy.is_empty() => {
                self.schedule.actions.extend(probed.iter().map(|parking| Action::Resume { reason: parking.reason }));
            }
            _ => {}
        }
        for Candidate { card, phase, .. } in candidates {
            let is_review = phase == AgentKind::Reviewer;
            if let Some(parking) = blocking {
                self.set_wait_reason(card, Some(parking::wait_reason(parking)));
            } else if is_review && free_reviewers == 0 {
                self.set_wait_reason(card, Some(WaitReason::KindLimitReached { phase: AgentKind::Reviewer }));
            } else if free == 0 {
                self.set_wait_reason(card, Some(WaitReason::NoFreeSlot { limit }));
            } else {
                free -= 1;
                free_reviewers -= usize::from(is_review);
                self.schedule.actions.push(Action::Start { task: card.id.clone(), phase, status: card.status });
                blocking = probe;
            }
        }
    }

    /// Counts the free slots for agents of any kind, and those for reviewers.
    fn free_slots(&self) -> (usize, usize) {
        let working: BTreeSet<&TaskId> = self.state.live.iter().map(|run| &run.task_id).chain(self.about_to_start()).collect();
        let reviewing = working.iter().filter(|id| self.cards.get(**id).is_some_and(|card| works_as_reviewer(card))).count();
        let free = |limit: u32, used: usize| usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(used);
        (free(self.config.max_parallel_agents, working.len()), free(self.config.max_parallel_reviewers, reviewing))
    }

    /// Whether an agent that started at `since` or later works or is about to. A run that started earlier proves nothing.
    fn is_probe_running(&self, since: Timestamp) -> bool {
        let is_live = |id: &TaskId| self.state.live.iter().any(|run| run.task_id == *id);
        self.state.live.iter().any(|run| run.started_at >= since) || self.about_to_start().any(|id| !is_live(id))
    }

    /// Tasks with a job that starts an agent whose run is not on record yet, or whose run is live.
    fn about_to_start(&self) -> impl Iterator<Item = &'a TaskId> {
        self.busy.iter().filter(|id| self.cards.get(id).is_some_and(|card| card.status.is_open() && !card.is_approved()))
    }
}

/// Rotates the probing card from probe to probe, because one failing card must not block the others.
fn rotate(candidates: &mut [Candidate<'_>], probe: &Parking) {
    if !candidates.is_empty() {
        let turn = usize::try_from(probe.until.milliseconds()).unwrap_or_default() % candidates.len();
        candidates.rotate_left(turn);
    }
}

fn works_as_reviewer(card: &Card) -> bool {
    match &card.run {
        Some(run) => run.phase == AgentKind::Reviewer,
        None => card.status == Status::InReview,
    }
}
