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

impl AgentKind {
    /// Returns the kind with its article, for sentences.
    pub const fn with_article(self) -> &'static str {
        match self {
            Self::Planner => "a planner",
            Self::Coder => "a coder",
            Self::Reviewer => "a reviewer",
            Self::Orchestrator => "an orchestrator",
            Self::Oracle => "an oracle",
        }
    }
}
