//! The roles of participants. Must not know any other noun but the kinds of agents.

use crate::runs::agent_kind::AgentKind;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The role of a participant. The last four are older names that remain valid.
    Role, "role" {
        /// Assigns and reviews work and receives copies of messages. Only the human can grant it.
        Lead = "lead",
        Builder = "builder",
        Fixer = "fixer",
        Tester = "tester",
        Reviewer = "reviewer",
        Productionalizer = "productionalizer",
        Pen = "pen",
        Shipper = "shipper",
        Researcher = "researcher",
        Coder = "coder",
        Maintainer = "maintainer",
        Demoer = "demoer",
        Deliverer = "deliverer",
        Pusher = "pusher",
    }
}

impl From<AgentKind> for Role {
    /// The role of a managed agent.
    fn from(phase: AgentKind) -> Self {
        match phase {
            AgentKind::Planner | AgentKind::Orchestrator => Self::Lead,
            AgentKind::Coder => Self::Coder,
            AgentKind::Reviewer => Self::Reviewer,
            AgentKind::Oracle => Self::Researcher,
        }
    }
}

/// Whether an agent leads: only a trusted one does.
pub fn is_lead(trusted: bool, roles: &[Role]) -> bool {
    trusted && roles.contains(&Role::Lead)
}
