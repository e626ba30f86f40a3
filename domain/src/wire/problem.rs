//! The body of every refused or failed request. Must not know which refusals there are.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::Status;
use crate::board::transition::Target;
use crate::runs::land::ReturningCommits;

/// An error, as `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    pub status: u16,
    /// A stable code for programs.
    pub code: String,
    /// The attempted action and the reason why it failed.
    pub detail: String,
    /// The next legal step.
    pub hint: String,
    /// The kind of thing that does not exist, such as `task`, for the code `not-found`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The status of the task, for an illegal move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Status>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Status>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Target>,
    /// The commits that landing would bring back to the base branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returning: Option<Box<ReturningCommits>>,
}

impl Problem {
    /// Builds a problem without the fields that only some codes have.
    pub fn new(status: u16, code: &str, detail: String, hint: String) -> Self {
        Self { status, code: code.to_owned(), detail, hint, missing: None, from: None, to: None, allowed: Vec::new(), returning: None }
    }
}
