//! The five kinds of managed agents. Must not know any other noun.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The kind of agent that works on a task: `phase` on the wire, *role* on screen.
    AgentKind, "phase" {
        Planner = "planner",
        Coder = "coder",
        Reviewer = "reviewer",
        Orchestrator = "orchestrator",
        /// The expert of one zone, which answers questions.
        Oracle = "oracle",
    }
}
