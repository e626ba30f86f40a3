//! Hats: the role in which an agent works on one task, and which hats one agent may not wear in the same project.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::Status;
use crate::id::TaskId;
use crate::team::role::Role;
use crate::time::Timestamp;

use Role::{Builder, Fixer, Pen, Reviewer, Shipper, Tester};

/// Hats that are kept apart, each with those it excludes. It holds both ways round.
pub const CONFLICTS: &[(Role, &[Role])] = &[
    (Builder, &[Tester, Reviewer]),
    (Tester, &[Builder, Shipper]),
    (Reviewer, &[Builder]),
    (Fixer, &[Reviewer, Tester]),
    (Shipper, &[Tester]),
    (Pen, &[Builder]),
];

/// The hat that verifying is.
pub const VERIFIER_HAT: Role = Tester;

/// Whether nobody may wear both hats in one project.
pub fn hats_conflict(one: Role, other: Role) -> bool {
    let excludes = |one, other| CONFLICTS.iter().any(|(hat, excluded)| *hat == one && excluded.contains(&other));
    excludes(one, other) || excludes(other, one)
}

/// Who wore which hat for which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HatAssignment {
    pub agent_name: String,
    pub role_hat: Role,
    pub task_id: TaskId,
    pub title: String,
    pub status: Status,
    pub since: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_hold_both_ways_round() {
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
