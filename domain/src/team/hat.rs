//! Hats: the role an agent takes on one task, and the hats that exclude each other in one project.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::Status;
use crate::event::kinds::events;
use crate::id::TaskId;
use crate::refusal::category::refusals;
use crate::team::role::Role;
use crate::time::Timestamp;

use Role::{Builder, Fixer, Pen, Reviewer, Shipper, Tester};

/// Hats and the hats they exclude. A conflict applies in both directions.
pub const CONFLICTS: &[(Role, &[Role])] = &[
    (Builder, &[Tester, Reviewer]),
    (Tester, &[Builder, Shipper]),
    (Reviewer, &[Builder]),
    (Fixer, &[Reviewer, Tester]),
    (Shipper, &[Tester]),
    (Pen, &[Builder]),
];

/// The hat of a verifier.
pub const VERIFIER_HAT: Role = Tester;

/// Whether one agent cannot take both hats in one project.
pub fn hats_conflict(one: Role, other: Role) -> bool {
    let excludes = |one, other| CONFLICTS.iter().any(|(hat, excluded)| *hat == one && excluded.contains(&other));
    excludes(one, other) || excludes(other, one)
}

/// One hat that an agent took on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HatAssignment {
    pub agent_name: String,
    pub role_hat: Role,
    pub task_id: TaskId,
    pub title: String,
    pub status: Status,
    pub since: Timestamp,
}

events! {
    /// A change of the hats of a task.
    HatEvent {
        Assigned "hat_assigned" { agent: String, hat: Role }
    }
}

refusals! {
    /// Why an agent may not take a hat.
    HatRefusal {
        #[error("{agent} cannot take the hat {hat}, because it had the hat {worn} on {task}")]
        Conflict { agent: String, hat: Role, worn: Role, task: TaskId } => Conflict "hat-conflict",
    }
}

impl HatRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Conflict { .. } => "Give the hat to another agent; call hat_history to see all hats.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_apply_in_both_directions() {
        let pairs: Vec<String> = Role::ALL
            .iter()
            .flat_map(|one| Role::ALL.iter().map(move |other| (*one, *other)))
            .filter(|(one, other)| one < other && hats_conflict(*one, *other))
            .map(|(one, other)| format!("{one}-{other}"))
            .collect();
        assert_eq!(pairs, ["builder-tester", "builder-reviewer", "builder-pen", "fixer-tester", "fixer-reviewer", "tester-shipper"]);
        assert!(Role::ALL.iter().all(|one| Role::ALL.iter().all(|other| hats_conflict(*one, *other) == hats_conflict(*other, *one))));
    }

    #[test]
    fn no_hat_conflicts_with_itself() {
        assert!(Role::ALL.iter().all(|hat| !hats_conflict(*hat, *hat)));
    }
}
