//! The party: the agents that are present in a project, with what each can do, has left of its context and works on.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::Status;
use crate::id::TaskId;
use crate::team::agent::Agent;
use crate::warroom::claim::ClaimPath;

/// The most tasks of one agent that are listed.
pub const MAX_TASKS: usize = 5;
/// The most claims of one agent that are listed.
pub const MAX_CLAIMS: usize = 5;

/// One agent of the party.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PartyMember {
    pub agent: Agent,
    /// The task of its run, or the open tasks that are assigned to it: at most five, those in progress first.
    pub tasks: Vec<PartyTask>,
    /// Tasks beyond those.
    pub further_tasks: u32,
    /// The updates of its open tasks.
    #[serde(default)]
    pub activity_count: u32,
    /// Some of the paths that it holds, and how many more there are.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub claims: Vec<ClaimPath>,
    #[serde(default)]
    pub further_claims: u32,
    /// Whether its report about its context is older than its class allows.
    #[serde(default)]
    pub is_report_due: bool,
}

/// A task that an agent works on, or that it was assigned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PartyTask {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
}
