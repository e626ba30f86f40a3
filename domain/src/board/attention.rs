//! What only a person can settle. On screen: "Needs you".

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::evidence::Sha;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// Why the runner leaves a card alone until a person acts.
    AttentionKind, "attention" {
        /// Its attempts are used up.
        Failed = "failed",
        /// It was sent back as often as is allowed, or made no progress.
        ReviewLimit = "stalled",
        WaitingPermission = "waiting_permission",
        /// The agent asked a question.
        NeedsInput = "needs_input",
        /// Its work cannot be merged.
        Conflict = "conflict",
        /// A check is red.
        ChecksFailed = "checks",
        /// It would cost more than was allowed.
        Budget = "budget",
        /// A planner created nothing.
        EmptyPlan = "empty_plan",
        /// A task that it builds on was given up.
        DependencyCancelled = "dependency_cancelled",
        /// The repository cannot be worked with.
        Repository = "repository",
        /// An agent ended without saying what became of its task, twice.
        NoOutcome = "protocol",
        /// The agent from outside that has it was not heard of for long.
        AssigneeUnresponsive = "silent",
    }
}

impl AttentionKind {
    /// Whether it remains when its task is started or retried: a question ends with its answer, a cancelled dependency with its removal,
    /// and an unresponsive assignee with a heartbeat or another assignee.
    pub const fn survives_release(self) -> bool {
        matches!(self, Self::NeedsInput | Self::DependencyCancelled | Self::AssigneeUnresponsive)
    }

    /// Whether it remains when its task gets an assignee, who may settle anything but a cancelled dependency.
    pub const fn survives_assignment(self) -> bool {
        matches!(self, Self::DependencyCancelled)
    }

    /// Whether it remains when its task loses its assignee: only what the assignee caused ends.
    pub const fn survives_unassignment(self) -> bool {
        !matches!(self, Self::ReviewLimit | Self::AssigneeUnresponsive)
    }
}

/// What a person must settle, with a sentence that says what happened and what they can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attention {
    pub kind: AttentionKind,
    pub detail: String,
    /// Where the project branch was found that nobody of ours brought there. Retry takes it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tip: Option<Sha>,
}

impl Attention {
    pub fn new(kind: AttentionKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), tip: None }
    }

    /// That the project branch is at `tip`, which nobody approved.
    pub fn unapproved_commits(tip: Sha, detail: impl Into<String>) -> Self {
        Self { kind: AttentionKind::Repository, detail: detail.into(), tip: Some(tip) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(survives: fn(AttentionKind) -> bool) -> Vec<&'static str> {
        AttentionKind::ALL.iter().filter(|kind| survives(**kind)).map(|kind| kind.as_str()).collect()
    }

    #[test]
    fn attention_survives_only_what_does_not_settle_it() {
        assert_eq!(kinds(AttentionKind::survives_release), ["needs_input", "dependency_cancelled", "silent"]);
        assert_eq!(kinds(AttentionKind::survives_assignment), ["dependency_cancelled"]);
        assert_eq!(kinds(|kind| !kind.survives_unassignment()), ["stalled", "silent"]);
    }
}
