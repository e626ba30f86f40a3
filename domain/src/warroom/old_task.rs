//! Tasks that are left from a session that ended: a lead decides about each before they create new ones.
//!
//! It must not know what a decision changes.

use crate::id::TaskId;
use crate::refusal::category::refusals;
use crate::vocabulary::vocabulary;
use crate::warroom::debrief::{and_more, named};

vocabulary! {
    /// The decision of a lead about a task that nobody had begun when its session ended.
    OldTask, "old task" {
        /// Nothing yet.
        Unreviewed = "unreviewed",
        /// It may still be needed, and does not start.
        Stale = "stale",
    }
}

/// A decision about an old task that leaves it on the board. One that is obsolete is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OldTaskDecision {
    Stale,
    Open,
}

refusals! {
    /// Why a lead does not begin new work.
    OldTaskRefusal {
        #[error("BLOCKED: {action} waits for your review of {} from the session that ended: {}{}", old(tasks.len() + more), named(tasks), and_more(*more))]
        Unreviewed { action: String, tasks: Vec<TaskId>, more: usize } => Conflict "old-tasks",
    }
}

impl OldTaskRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Unreviewed { .. } => {
                "Call update_task for each with the status stale, obsolete, or ready if it is still open; get_task shows what it is.".to_owned()
            }
        }
    }
}

fn old(count: usize) -> String {
    if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_names_the_tasks_and_the_call() {
        let refusal = OldTaskRefusal::Unreviewed { action: "creating tasks".to_owned(), tasks: vec![TaskId::new(1), TaskId::new(2)], more: 3 };
        let said = "BLOCKED: creating tasks waits for your review of 5 tasks from the session that ended: TASK-001, TASK-002 and 3 more";
        assert_eq!(refusal.to_string(), said);
        assert!(refusal.hint().contains("update_task"));
    }
}
