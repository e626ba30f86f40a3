//! The handoff: what a managed agent learns from earlier ones when it starts. It must not know how a prompt is worded.

use std::cmp::Reverse;

use crate::context::memory::MemorySummary;
use crate::context::session::SessionMessage;
use crate::likeness::Query;
use crate::warroom::handover::Handover;
use crate::warroom::knowledge::Knowledge;
use crate::warroom::raid_log::RaidLogEntry;

/// How many of the newest findings are compared with the task.
pub const CONSIDERED: u32 = 50;
/// How much of a finding is compared, in characters.
const COMPARED: usize = 2_000;

/// Findings and keys that earlier agents left for a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Handoff {
    /// The newest findings of its session.
    pub findings: Vec<SessionMessage>,
    /// The number of older ones.
    pub older: u64,
    /// Keys that its own predecessors kept, the last changed first.
    pub memory: Vec<MemorySummary>,
    /// The handover of the session before it, if no other run has read that.
    pub predecessor: Option<Handover>,
    /// After such a session: the newest entries of the raid log that change the work of others.
    pub log: Vec<RaidLogEntry>,
    /// The live traps of the files that a coder holds, or all of them before it holds any, newest first.
    pub traps: Vec<Knowledge>,
}

impl Handoff {
    /// Puts the findings that have the most to do with a text first, and among them the newest.
    #[must_use]
    pub fn most_relevant_first(mut self, about: &str) -> Self {
        let query = Query::new(about);
        self.findings.sort_by_cached_key(|finding| {
            let text: String = finding.content.chars().take(COMPARED).collect();
            Reverse((query.find(&text).score, finding.id))
        });
        self
    }

    pub const fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.memory.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::metadata::Metadata;
    use crate::context::session::ContextSessionId;
    use crate::context::session::visibility::Visibility;
    use crate::time::Timestamp;

    #[test]
    fn finding_about_the_task_comes_first_and_then_the_newest() {
        let finding = |id: i64, content: &str| SessionMessage {
            id,
            session_id: ContextSessionId::new(1),
            sender: "coder-TASK-002".to_owned(),
            sender_type: "coder".to_owned(),
            run_id: None,
            content: content.to_owned(),
            visibility: Visibility::Public,
            metadata: Metadata::new(),
            timestamp: Timestamp::from_milliseconds(id),
            parent_message_id: None,
        };
        let findings =
            vec![finding(1, "The parser reads one line at a time."), finding(2, "Colours are in tokens.css."), finding(3, "CI runs on push.")];
        let handoff = Handoff { findings, ..Handoff::default() };
        let ids = |about: &str| handoff.clone().most_relevant_first(about).findings.iter().map(|finding| finding.id).collect::<Vec<_>>();
        assert_eq!(ids("Fix the parser"), [1, 3, 2]);
        assert_eq!(ids(""), [3, 2, 1]);
    }
}
