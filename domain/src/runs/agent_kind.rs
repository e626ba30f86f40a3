//! The four kinds of agents. A leaf: it knows no other noun.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// Which kind of agent works on a task: `phase` on the wire, *role* on screen.
    AgentKind, "phase" {
        Planner = "planner",
        Coder = "coder",
        Reviewer = "reviewer",
        Orchestrator = "orchestrator",
    }
}
