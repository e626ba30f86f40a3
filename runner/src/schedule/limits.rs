//! Limits of time, requests and money: who is told to hand over, who does not start, and who is warned.
//!
//! It must not know how an agent hands over, or how a limit is raised.

use std::collections::BTreeSet;
use std::time::Duration;

use db::{LimitState, LimitSubject};
use domain::board::card::Card;
use domain::board::wait_reason::WaitReason;
use domain::id::ProjectId;
use domain::runs::limit::{LimitMeasure, LimitScope, LimitUse};
use domain::runs::run::Run;
use domain::runs::usage::UsageSums;

use super::{Action, Candidate, Scheduler};

impl<'a> Scheduler<'a> {
    /// Tells live runs that reached a limit to hand over, and warns of limits that are nearly used up.
    pub(super) fn watch_limits(&mut self) {
        let state = self.state;
        for run in state.live.iter().filter(|run| run.stop_requested_at.is_none()) {
            let of_run = self.limits_of_run(run);
            let shared = self.cards.get(&run.task_id).map(|card| self.limits_of_card(card)).unwrap_or_default();
            let reached = of_run.iter().chain(shared.iter().map(|(_, limit)| limit)).find(|limit| limit.is_reached());
            if let Some(limit) = reached.filter(|_| run.hand_over.is_none()) {
                self.schedule.actions.push(Action::HandOver { run: run.id.clone(), limit: *limit });
            }
            let subject = LimitSubject::Run { run: run.id.clone(), task: run.task_id.clone() };
            self.warn(subject, of_run.iter().find(|limit| limit.is_near()));
        }
        let mut seen = BTreeSet::new();
        let open = state.tasks.iter().map(|known| &known.task.card).filter(|card| card.status.is_open());
        for (subject, limit) in open.flat_map(|card| self.limits_of_card(card)).collect::<Vec<_>>() {
            if seen.insert(subject.clone()) {
                self.warn(subject, Some(&limit).filter(|limit| limit.is_near()));
            }
        }
    }

    /// Holds back candidates whose task, project or day used up its limit. One card for each limit asks the human to raise it; the others say
    /// why they wait.
    pub(super) fn hold_back(&mut self, candidates: Vec<Candidate<'a>>) -> Vec<Candidate<'a>> {
        let mut asked: BTreeSet<(LimitScope, Option<&ProjectId>)> = self.pending_questions();
        let mut free = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let card = candidate.card;
            let Some((_, limit)) = self.limits_of_card(card).into_iter().find(|(_, limit)| limit.is_reached()) else {
                free.push(candidate);
                continue;
            };
            let asks = limit.scope == LimitScope::Task || asked.insert(question(limit.scope, card));
            if asks {
                self.schedule.actions.push(Action::FlagLimit { task: card.id.clone(), limit });
            }
            self.set_wait_reason(card, Some(if asks { WaitReason::NeedsAttention } else { WaitReason::OverLimit { limit } }));
        }
        free
    }

    /// Settles questions about limits that are no longer reached: another day began, the configuration changed, or a raise came in between.
    pub(super) fn settle_questions(&mut self) {
        let state = self.state;
        for card in state.tasks.iter().map(|known| &known.task.card).filter(|card| card.status.is_open()) {
            let scope = card.attention.as_ref().and_then(|attention| attention.limit);
            let Some(scope) = scope.filter(|scope| *scope != LimitScope::Run) else { continue };
            let is_reached = self.limits_of_card(card).iter().any(|(_, limit)| limit.scope == scope && limit.is_reached());
            if !is_reached && !self.busy.contains(&card.id) {
                self.schedule.actions.push(Action::SettleLimit { task: card.id.clone() });
            }
        }
    }

    /// The limits that some card asks to raise already.
    fn pending_questions(&self) -> BTreeSet<(LimitScope, Option<&'a ProjectId>)> {
        let cards = self.state.tasks.iter().map(|known| &known.task.card).filter(|card| card.status.is_open());
        cards.filter_map(|card| Some(question(card.attention.as_ref()?.limit?, card))).collect()
    }

    fn limits_of_run(&mut self, run: &Run) -> Vec<LimitUse> {
        let worked = self.state.worked.get(&run.id).copied().unwrap_or_default();
        let limits = self.config.limits.of_run(run.consumed(), worked, run.context());
        // Only time passes without an event.
        for limit in limits.iter().filter(|limit| limit.measure == LimitMeasure::Time && !limit.is_reached()) {
            let near = limit.limit * 4 / 5;
            let next = if limit.used < near { near } else { limit.limit };
            let rest = Duration::from_secs(u64::try_from(next).unwrap_or_default()).saturating_sub(worked);
            self.tick_at(self.now.after(rest));
        }
        limits
    }

    /// The limits that a task shares with its runs: its own, that of its project and that of the day.
    fn limits_of_card(&self, card: &Card) -> Vec<(LimitSubject, LimitUse)> {
        let (state, limits) = (self.state, &self.config.limits);
        let raises = |subject: &LimitSubject| self.limit_state(subject).raises;
        let own = UsageSums { cost_micro_usd: card.cost_micro_usd, input_tokens: card.tokens, ..UsageSums::default() };
        let (task, project) = (LimitSubject::Task(card.id.clone()), LimitSubject::Project(card.project_id.clone()));
        let day = LimitSubject::Day(state.today.clone());
        let budget = state.projects.get(&card.project_id).and_then(|project| project.budget_micro_usd);
        let spent = state.spent.get(&card.project_id).copied().unwrap_or_default();
        let uses =
            [limits.of_task(own, raises(&task)), limits.of_project(spent, budget, raises(&project)), limits.of_day(state.spent_today, raises(&day))];
        [task, project, day].into_iter().zip(uses).filter_map(|(subject, limit)| Some((subject, limit?))).collect()
    }

    fn limit_state(&self, subject: &LimitSubject) -> LimitState {
        self.state.limits.get(&(subject.scope(), subject.key().to_owned())).copied().unwrap_or_default()
    }

    fn warn(&mut self, subject: LimitSubject, near: Option<&LimitUse>) {
        if let Some(limit) = near.filter(|_| !self.limit_state(&subject).warned) {
            self.schedule.actions.push(Action::WarnOfLimit { subject, limit: *limit });
        }
    }
}

/// The question that one card asks for all that wait for the same limit.
fn question(scope: LimitScope, card: &Card) -> (LimitScope, Option<&ProjectId>) {
    (scope, (scope == LimitScope::Project).then_some(&card.project_id))
}
