//! What agents do. A leaf: it knows no other noun but the kinds of agents.

use crate::runs::agent_kind::AgentKind;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// What an agent does. The last four are older names that are still taken.
    Role, "role" {
        /// Is copied on what others write, hands out work and judges it. Given by the person alone.
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
    /// The role in which an agent of a phase takes part.
    fn from(phase: AgentKind) -> Self {
        match phase {
            AgentKind::Planner | AgentKind::Orchestrator => Self::Lead,
            AgentKind::Coder => Self::Coder,
            AgentKind::Reviewer => Self::Reviewer,
        }
    }
}
