//! Agents as participants: what a roster shows about each, and how one registers.
//!
//! Must not know tokens, which decide who can use a name.

mod health;
mod name;
pub mod refusal;

pub use health::Health;
pub use name::{
    EVERYONE, HUMAN, MANAGED, MAX_NAME_BYTES, NameError, RUNNER, full_name, have_same_short_name, is_managed_name, is_short_for, resolve,
};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{ProjectId, RunId, TaskId};
use crate::team::role::Role;
use crate::time::Timestamp;
use crate::warroom::class::AgentClass;
use crate::warroom::context_left::{ContextLeft, LastReport};
use crate::warroom::lead::LeadRole;
use crate::warroom::transport::Transport;

/// The command with which the human creates a token for an external agent.
pub const TOKEN_COMMAND: &str = "vibe-relay token new --agent NAME --role ROLE";

/// A participant of a project: a managed agent, or an external agent in a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Agent {
    pub project_id: ProjectId,
    /// The name, after its team if it has one: `platform/mara`.
    pub name: String,
    pub team: Option<String>,
    pub roles: Vec<Role>,
    /// Its capabilities. The kind of a managed agent decides them.
    pub class: AgentClass,
    /// How far it leads, if its class is lead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_role: Option<LeadRole>,
    /// The zone of a zone lead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The model that an external agent named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub transport: Transport,
    pub description: Option<String>,
    /// Status text set by the agent.
    pub status: Option<String>,
    /// Whether the human created its token, or it is a managed agent. Other agents can send messages and take tasks, but cannot lead,
    /// approve or verify.
    pub trusted: bool,
    /// The run of a managed agent.
    pub run_id: Option<RunId>,
    /// The task it works on.
    pub task_id: Option<TaskId>,
    /// The part of its context that is left: measured of a managed agent at work, and reported by others.
    pub context_left: Option<ContextLeft>,
    /// Its own words about what is in its context.
    pub context: Option<String>,
    /// When it reported its context itself.
    pub context_reported_at: Option<Timestamp>,
    pub health: Health,
    /// Whether it has an open connection that can receive notifications.
    pub connected: bool,
    /// Messages not delivered to it yet, including copies.
    pub unread: u32,
    pub registered_at: Timestamp,
    /// The time of its last call or connection.
    pub last_seen: Option<Timestamp>,
    pub last_inbox_check: Option<Timestamp>,
    /// The time it left or its last run ended.
    pub left_at: Option<Timestamp>,
}

impl Agent {
    /// Whether it is an active lead: leads receive copies of messages and can judge work.
    pub fn is_lead(&self) -> bool {
        self.left_at.is_none() && AgentClass::leads(Some(self.class), self.trusted, &self.roles)
    }

    /// Its last report about its own context. A managed agent, which is measured, has none.
    pub fn last_report(&self) -> Option<LastReport> {
        self.context_reported_at.filter(|_| self.run_id.is_none()).map(|at| LastReport { class: self.class, at })
    }
}

/// The arguments of a registration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    pub name: String,
    #[serde(default)]
    pub roles: Vec<Role>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub team: Option<String>,
    /// Its capabilities. A class that was named never changes.
    #[serde(default)]
    pub class: Option<AgentClass>,
    /// How far a lead reaches: commander of the project if it is missing. Only a person changes it.
    #[serde(default)]
    pub lead_role: Option<LeadRole>,
    /// The zone of a zone lead.
    #[serde(default)]
    pub zone: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub transport: Option<Transport>,
}

events! {
    /// A change of an agent.
    AgentEvent {
        /// An agent registered, or changed its registration.
        Registered "agent_registered" { agent: String, roles: Vec<Role> }
        StatusSet "agent_status" { agent: String, status: Option<String> }
        /// An external agent reported how much of its context is left, in percent.
        ContextReported "agent_context" { agent: String, percent_left: Option<u64> }
        Left "agent_left" { agent: String }
        /// It continues under another name. Live state moves with it, and history keeps the former name.
        Renamed "agent_renamed" { agent: String, new_name: String }
    }
}

#[cfg(test)]
mod tests;
