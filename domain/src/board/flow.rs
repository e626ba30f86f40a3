//! Flow: whether the work on a project makes progress, in plain words: agents at work, tasks that are ready or wait, the review queue and the last merge.
//!
//! Must not decide why a task waits, because its card says so.

use crate::board::card::Card;
use crate::board::project::Project;
use crate::board::status::{HeldBy, Status};
use crate::board::wait_reason::{Wait, WaitReason};
use crate::time::{Timestamp, ago};
use crate::wire::RunnerHealth;

/// The facts about the flow of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow {
    pub at_work: u32,
    /// Tasks that wait for nothing but an agent.
    pub ready: u32,
    /// The other waiting tasks by reason, the most frequent one first.
    pub waits: Vec<Wait>,
    /// Whether any of these reasons passes without the human.
    pub passes: bool,
    /// Whether a person paused it.
    pub paused: bool,
    /// Tasks whose next step is a decision of the human, plans included.
    pub needs_you: u32,
    pub review_queue: Option<ReviewQueue>,
}

/// Submitted work without a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewQueue {
    pub total: u32,
    /// The last change of the task that waits longest.
    pub since: Timestamp,
}

/// The most important fact about a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowState {
    /// The runner does not work.
    Stopped,
    /// Agent starts are suspended.
    Parked,
    /// A person paused the project.
    Paused,
    Working,
    /// Tasks are ready, but other projects use all agents.
    Ready,
    /// Nothing can start until a wait reason has passed.
    Waiting,
    NeedsYou,
    /// No open task.
    Idle,
}

impl FlowState {
    /// Describes the state in a few words.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Stopped => "The runner does not respond",
            Self::Parked => "No agents start",
            Self::Paused => "Paused",
            Self::Working => "Agents are working",
            Self::Ready => "Tasks wait for a free agent",
            Self::Waiting => "Nothing to start at the moment",
            Self::NeedsYou => "Everything waits for you",
            Self::Idle => "No open tasks",
        }
    }
}

impl Flow {
    /// The flow of a project with these cards.
    pub fn of<'cards>(cards: impl IntoIterator<Item = &'cards Card>) -> Self {
        let mut flow = Self::default();
        cards.into_iter().for_each(|card| flow.add(card));
        flow.waits.sort_by_key(|wait| std::cmp::Reverse(wait.total));
        flow
    }

    fn add(&mut self, card: &Card) {
        if card.run.is_some() {
            self.at_work += 1;
            return;
        }
        if card.attention.is_some() {
            self.needs_you += 1;
            return;
        }
        if !card.status.is_open() {
            return;
        }
        if card.status == Status::InReview && card.approved_sha.is_none() {
            let (total, since) = self.review_queue.map_or((0, card.updated_at), |queue| (queue.total, queue.since));
            self.review_queue = Some(ReviewQueue { total: total + 1, since: since.min(card.updated_at) });
        }
        match &card.wait_reason {
            // The next schedule says why it waits, or starts an agent.
            None | Some(WaitReason::NoFreeSlot { .. } | WaitReason::KindLimitReached { .. }) => self.ready += 1,
            Some(WaitReason::NeedsAttention | WaitReason::Held { by: HeldBy::Plan }) => self.needs_you += 1,
            Some(reason) => {
                self.passes |= reason.passes();
                self.paused |= matches!(reason, WaitReason::Paused);
                Wait::add(&mut self.waits, reason, &card.id);
            }
        }
    }

    pub fn state(&self, runner: &RunnerHealth) -> FlowState {
        let waiting: u32 = self.waits.iter().map(|wait| wait.total).sum();
        match () {
            () if !runner.is_ticking => FlowState::Stopped,
            () if !runner.parked.is_empty() => FlowState::Parked,
            () if self.paused => FlowState::Paused,
            () if self.at_work > 0 => FlowState::Working,
            () if self.ready > 0 => FlowState::Ready,
            () if self.passes => FlowState::Waiting,
            () if self.needs_you + waiting > 0 => FlowState::NeedsYou,
            () => FlowState::Idle,
        }
    }

    /// The facts behind the state, for display in a row.
    pub fn facts(&self, runner: &RunnerHealth, project: &Project, now: Timestamp) -> Vec<String> {
        let elsewhere = u32::try_from(runner.live_runs.len()).unwrap_or(u32::MAX).saturating_sub(self.at_work);
        let elsewhere = if elsewhere > 0 { format!(", {elsewhere} on other projects") } else { String::new() };
        let parked = runner.parked.iter().map(|parking| format!("{}, noticed {}", parking.reason.sentence(), ago(now.since(parking.since))));
        let mut facts: Vec<String> = parked.collect();
        facts.push(format!("{} of {} agents at work{elsewhere}", self.at_work, runner.max_agents));
        facts.extend((self.ready > 0).then(|| format!("{} ready", self.ready)));
        facts.extend((self.needs_you > 0).then(|| format!("{} {} you", self.needs_you, if self.needs_you == 1 { "needs" } else { "need" })));
        let waiting: u32 = self.waits.iter().map(|wait| wait.total).sum();
        let reasons: Vec<String> = self.waits.iter().map(|wait| format!("{} {}", wait.total, wait.reason)).collect();
        facts.extend((waiting > 0).then(|| format!("{waiting} waiting ({})", reasons.join("; "))));
        facts.extend(self.review_queue.map(|queue| format!("{} to review, the oldest submitted {}", queue.total, ago(now.since(queue.since)))));
        facts.extend(project.merged_at.map(|at| format!("last merge {}", ago(now.since(at)))));
        facts
    }
}

#[cfg(test)]
mod tests;
