//! The resources that the agents of a scene have used, and the state of its limits.

use super::*;

impl Scene {
    /// The live run of the task with this number made requests for an amount, and worked for some minutes.
    pub(in crate::schedule::tests) fn used(mut self, number: u64, turns: i64, cost_micro_usd: i64, minutes: u64) -> Self {
        self.state.worked.insert(RunId::new(number), Duration::from_secs(minutes * 60));
        let run = self.state.live.iter_mut().find(|run| run.id == RunId::new(number)).unwrap();
        (run.turns, run.cost_micro_usd) = (turns, cost_micro_usd);
        self
    }

    /// The agent of the task with this number was told to hand over.
    pub(in crate::schedule::tests) fn told_to_hand_over(mut self, number: u64, limit: LimitUse) -> Self {
        self.state.live.iter_mut().find(|run| run.id == RunId::new(number)).unwrap().hand_over = Some(HandOverReason::Limit { limit });
        self
    }

    pub(in crate::schedule::tests) fn project_spent(mut self, number: u64, cost_micro_usd: i64) -> Self {
        self.state.spent.insert(ProjectId::new(number), UsageSums { cost_micro_usd, ..UsageSums::default() });
        self
    }
    pub(in crate::schedule::tests) fn today_spent(mut self, cost_micro_usd: i64) -> Self {
        self.state.spent_today.cost_micro_usd = cost_micro_usd;
        self
    }

    pub(in crate::schedule::tests) fn limit_state(mut self, scope: LimitScope, subject: &str, raises: u32, warned: bool) -> Self {
        self.state.limits.insert((scope, subject.to_owned()), LimitState { raises, warned });
        self
    }
}
