//! Attention: a decision that only the human can make. The UI says "Needs you".

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::Status;
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::runs::failure::FailureClass;
use crate::runs::failure::table::Obstacle;
use crate::runs::limit::{LimitScope, LimitUse};
use crate::runs::protected_paths::ProtectedChange;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The reason why a card waits for the human.
    AttentionKind, "attention" {
        /// The maximum number of attempts failed.
        Failed = "failed",
        /// It was sent back the maximum number of times, or its assignee left.
        ReviewLimit = "stalled",
        /// The same changes were sent back with the same findings.
        NoProgress = "no_progress",
        /// The agent asked a question.
        NeedsInput = "needs_input",
        /// Its branch has merge conflicts.
        Conflict = "conflict",
        /// A limit of time, requests or money is reached. Raising it is the action.
        Budget = "budget",
        /// The planner created no tasks.
        EmptyPlan = "empty_plan",
        /// A dependency was cancelled.
        DependencyCancelled = "dependency_cancelled",
        /// The repository is not usable.
        Repository = "repository",
        /// An agent ended without an outcome, twice.
        NoOutcome = "protocol",
        /// The assignee sent no heartbeat for too long.
        AssigneeUnresponsive = "silent",
        /// Its assignee did not answer the order to report, and was removed.
        AssigneeRemoved = "assignee_removed",
        /// Its assignee updated it again and again.
        OftenUpdated = "often_updated",
        /// Its approved commit changes protected paths, and a person must approve it too.
        ProtectedPaths = "protected_paths",
        /// A person reviews the work of its project.
        Review = "review",
        /// Its agent asks whether it may use a tool.
        Permission = "permission",
        /// A setup command of the project failed in its checkout.
        Setup = "setup",
        /// Its checks could not run.
        Checks = "checks",
        /// A person interrupted its agent, which waits for a message.
        Interrupted = "interrupted",
        /// Its pull request cannot be opened, or someone has to look at it.
        PullRequest = "pull_request",
    }
}

impl AttentionKind {
    /// Whether it remains when its task is started or retried: a question ends with its answer, a cancelled dependency with its removal,
    /// an unresponsive assignee with a heartbeat or another assignee, an interrupt with a message, and a
    /// permission request with its answer.
    pub const fn survives_release(self) -> bool {
        matches!(self, Self::NeedsInput | Self::DependencyCancelled | Self::AssigneeUnresponsive | Self::Permission | Self::Interrupted)
    }

    /// Whether a person decides it in the review of the task.
    pub const fn is_review(self) -> bool {
        matches!(self, Self::ProtectedPaths | Self::Review)
    }

    /// Whether it remains when its task gets an assignee, who can resolve anything but a cancelled dependency.
    pub const fn survives_assignment(self) -> bool {
        matches!(self, Self::DependencyCancelled)
    }

    /// Whether it remains when its task loses its assignee: only attention that the assignee caused ends.
    pub const fn survives_unassignment(self) -> bool {
        !matches!(self, Self::ReviewLimit | Self::AssigneeUnresponsive | Self::AssigneeRemoved | Self::OftenUpdated)
    }
}

vocabulary! {
    /// The action of the human that settles an attention.
    AttentionAction, "action" {
        /// Answer the agent's question.
        Answer = "answer",
        /// Raise the limit that is reached.
        Raise = "raise",
        /// Start another attempt.
        Retry = "retry",
        /// Accept the state of a finished task.
        Accept = "accept",
        /// Remove the cancelled dependency, or start that task again.
        EditDependencies = "edit_dependencies",
        /// Assign the task to another agent, or to none.
        Assign = "assign",
        /// Allow or deny what the agent asks for.
        Permit = "permit",
        /// Write to the agent.
        Message = "message",
        /// Let an investigator look at what an agent left. It settles nothing by itself.
        Assess = "assess",
    }
}

impl AttentionAction {
    /// Describes the action as an imperative that starts in lower case.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Answer => "answer the question",
            Self::Raise => "raise the limit",
            Self::Retry => "retry the task",
            Self::Accept => "accept it",
            Self::EditDependencies => "remove the dependency, or start the cancelled task again",
            Self::Assign => "assign it to another agent, or to none",
            Self::Permit => "allow or deny it",
            Self::Message => "write to the agent, or stop it",
            Self::Assess => "let an investigator look at what its agent left",
        }
    }
}

/// A pending decision, with a sentence about what happened and what the human can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attention {
    pub kind: AttentionKind,
    pub detail: String,
    /// The unapproved tip of the project branch. Retry accepts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<Sha>,
    /// The limit that is reached. Raising it settles the attention.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitScope>,
    /// The agent that was removed. Its knowledge stays, and its successor reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Attention {
    pub fn new(kind: AttentionKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), tip: None, limit: None, agent: None }
    }

    /// Returns the one action that settles it, for a task of this status.
    pub fn action(&self, status: Status) -> AttentionAction {
        match self.kind {
            _ if self.limit.is_some() => AttentionAction::Raise,
            AttentionKind::NeedsInput => AttentionAction::Answer,
            AttentionKind::DependencyCancelled => AttentionAction::EditDependencies,
            AttentionKind::AssigneeUnresponsive => AttentionAction::Assign,
            AttentionKind::Permission => AttentionAction::Permit,
            AttentionKind::Interrupted => AttentionAction::Message,
            _ if status.is_open() => AttentionAction::Retry,
            _ => AttentionAction::Accept,
        }
    }

    /// Returns the actions that the human chooses from, for a task of this status. Empty if there is only the one that settles it.
    pub fn choices(&self, status: Status) -> &'static [AttentionAction] {
        match self.kind {
            AttentionKind::AssigneeRemoved if status.is_open() => &[AttentionAction::Assign, AttentionAction::Assess, AttentionAction::Retry],
            _ => &[],
        }
    }

    /// Creates the attention for a task whose assignee was silent since the order to report, and was removed.
    pub fn assignee_removed(agent: &str, asked_at: Timestamp) -> Self {
        let detail = format!(
            "{agent} did not answer the order sitrep of {} and was removed. Assign the task to another agent, which continues with cold_start \
             and predecessor={agent}; or let an investigator assess what {agent} left; or press Finish, and the runner finishes it.",
            asked_at.clock()
        );
        Self { agent: Some(agent.to_owned()), ..Self::new(AttentionKind::AssigneeRemoved, detail) }
    }

    /// Creates the attention for a project branch whose tip nobody approved.
    pub fn unapproved_commits(tip: Sha, detail: impl Into<String>) -> Self {
        Self { tip: Some(tip), ..Self::new(AttentionKind::Repository, detail) }
    }

    /// Creates the attention for a task that its assignee updates again and again.
    pub fn often_updated(assignee: &str, updates: u32) -> Self {
        let detail = format!(
            "{assignee} and others updated it {updates} times, which often means that the approach or the agent is wrong. Press Retry to let \
             {assignee} continue, or assign it to another agent."
        );
        Self::new(AttentionKind::OftenUpdated, detail)
    }

    /// Creates the attention for work that repeats itself in `rounds` review rounds.
    pub fn no_progress(rounds: u32) -> Self {
        let detail = format!("The same changes were sent back {rounds} times with the same findings. {}", Obstacle::NoProgress.remedy());
        Self::new(AttentionKind::NoProgress, detail)
    }

    /// Creates the attention for an approved commit that changes protected paths.
    pub fn protected_paths(change: &ProtectedChange) -> Self {
        let detail = format!("The approved commit changes protected paths: {}. Press Approve to merge it, or send it back.", change.named());
        Self::new(AttentionKind::ProtectedPaths, detail)
    }

    /// Creates the attention for work that a person reviews, perhaps after an agent approved it.
    pub fn review(is_approved: bool) -> Self {
        let who = if is_approved {
            "An agent approved it. A person also reviews the work of this project"
        } else {
            "A person reviews the work of this project"
        };
        Self::new(AttentionKind::Review, format!("{who}. Press Approve to merge it, or send it back."))
    }

    /// Creates the attention for a checkout that could not be set up.
    pub fn setup_failed(error: &str) -> Self {
        let failure = FailureClass::Setup;
        Self::new(AttentionKind::Setup, format!("No agent started: {error}. No attempt was used. {}", failure.remedy()))
    }

    /// Creates the attention for checks that could not run.
    pub fn checks_not_run(why: &str) -> Self {
        let detail = format!("Its checks could not run: {why}. No attempt was used. {}", Obstacle::ChecksNotRun.remedy());
        Self::new(AttentionKind::Checks, detail)
    }

    /// Creates the attention for a limit that the agent program enforced itself.
    pub fn program_limit_reached(failure: FailureClass) -> Self {
        let detail = format!(
            "Stopped at a limit of the agent program: {}. No attempt was used. Change the program's arguments, or press Raise to let a new \
             attempt continue the session.",
            failure.sentence()
        );
        Self { limit: Some(LimitScope::Run), ..Self::new(AttentionKind::Budget, detail) }
    }

    /// Creates the attention for a task that fills one conversation after the other.
    pub fn sessions_used_up(sessions: i64, phase: AgentKind) -> Self {
        let detail = format!(
            "{sessions} conversations of its {phase} became full. No attempt was used. Split the task into smaller ones, or press Raise to \
             continue in a new conversation."
        );
        Self { limit: Some(LimitScope::Run), ..Self::new(AttentionKind::Budget, detail) }
    }

    /// Creates the attention for a limit that is reached.
    pub fn limit_reached(limit: &LimitUse) -> Self {
        let allowance = match limit.scope {
            LimitScope::Run => "a new attempt with the full limits continues the session",
            LimitScope::Task => "agents continue its task",
            LimitScope::Project => "agents continue all its tasks",
            LimitScope::Day => "agents continue all projects",
        };
        let detail = format!("Stopped at a limit: {}. No attempt was used. Press Raise, and {allowance}.", limit.sentence());
        Self { limit: Some(limit.scope), ..Self::new(AttentionKind::Budget, detail) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(survives: fn(AttentionKind) -> bool) -> Vec<&'static str> {
        AttentionKind::ALL.iter().filter(|kind| survives(**kind)).map(|kind| kind.as_str()).collect()
    }

    #[test]
    fn attention_survives_only_changes_that_do_not_resolve_it() {
        assert_eq!(kinds(AttentionKind::survives_release), ["needs_input", "dependency_cancelled", "silent", "permission", "interrupted"]);
        assert_eq!(kinds(AttentionKind::survives_assignment), ["dependency_cancelled"]);
        assert_eq!(kinds(|kind| !kind.survives_unassignment()), ["stalled", "silent", "assignee_removed", "often_updated"]);
    }

    #[test]
    fn task_of_a_removed_agent_offers_three_actions_of_which_one_settles_it() {
        let removed = Attention::assignee_removed("ben", Timestamp::from_milliseconds(0));
        let offered = removed.choices(Status::InProgress);
        assert_eq!(offered, [AttentionAction::Assign, AttentionAction::Assess, AttentionAction::Retry]);
        assert!(offered.contains(&removed.action(Status::InProgress)));
        assert!(removed.choices(Status::Done).is_empty(), "a finished task needs nobody");
        for kind in AttentionKind::ALL.iter().copied().filter(|kind| *kind != AttentionKind::AssigneeRemoved) {
            assert!(Attention::new(kind, "").choices(Status::InProgress).is_empty(), "{kind}");
        }
    }

    #[test]
    fn retry_is_offered_exactly_for_attention_that_a_retry_settles() {
        for kind in AttentionKind::ALL.iter().copied() {
            let attention = Attention::new(kind, "");
            assert_eq!(attention.action(Status::InProgress) == AttentionAction::Retry, !kind.survives_release(), "{kind}");
            assert_eq!(attention.action(Status::Done) == AttentionAction::Accept, !kind.survives_release(), "{kind}");
            let limited = Attention { limit: Some(LimitScope::Task), ..attention };
            assert_eq!(limited.action(Status::InProgress), AttentionAction::Raise, "{kind}");
        }
    }
}
