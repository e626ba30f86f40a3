//! A rejected profile as a refusal. It is apart from the profile, which evidence contains and refusals depend on.

use super::ProfileProblem;
use crate::refusal::Refusal;

impl From<ProfileProblem> for Refusal {
    fn from(ProfileProblem { field, problem, hint }: ProfileProblem) -> Self {
        Self::invalid(field, problem, hint)
    }
}
