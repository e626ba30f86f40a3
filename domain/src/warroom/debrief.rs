//! Debriefs: what leads write about the common work of a session before they end it.
//!
//! A session of the war room lasts from the end of the one before. It must not know how long other things of a session are kept.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{ProjectId, RunId, TaskId};
use crate::refusal::category::refusals;
use crate::refusal::general::GeneralRefusal;
use crate::text::validate_body;
use crate::time::Timestamp;

/// The longest debrief, in bytes.
pub const MAX_DEBRIEF_BYTES: usize = 20_000;
/// The most open tasks that a refusal names.
pub const MAX_NAMED: usize = 10;

/// A debrief. It is never changed; a session can have several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Debrief {
    pub id: i64,
    pub project_id: ProjectId,
    /// The lead that filed it.
    pub author: String,
    /// The run of a managed agent.
    pub run_id: Option<RunId>,
    pub summary: String,
    pub created_at: Timestamp,
    /// When its session ended.
    pub session_ended_at: Option<Timestamp>,
}

/// The arguments of a new debrief.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDebrief {
    /// Goals that were reached, goals that were not, and the first step of the next session. At most 20,000 bytes.
    pub summary: String,
}

impl NewDebrief {
    /// Returns the text of the debrief.
    ///
    /// # Errors
    /// When it is blank, too long, or contains U+0000.
    pub fn text(&self) -> Result<String, GeneralRefusal> {
        let summary = validate_body("summary", &self.summary)?;
        if summary.len() > MAX_DEBRIEF_BYTES {
            let problem = format!("it has {} bytes, more than the {MAX_DEBRIEF_BYTES} allowed", summary.len());
            return Err(GeneralRefusal::invalid(
                "summary",
                problem,
                "Name what was achieved and what is left; the results of tasks have the details.",
            ));
        }
        Ok(summary)
    }
}

/// The changes that the end of a session made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionEnd {
    pub ended_at: Timestamp,
    /// The battle plans that are completed.
    pub plans: Vec<i64>,
    /// How many entries of low priority left the raid log.
    pub log_entries: u64,
    /// Tasks that nobody has begun, the first ten. The lead of the next session decides about them.
    pub waiting: Vec<TaskId>,
}

events! {
    /// A debrief was filed, or a session ended. It never contains the text.
    DebriefEvent {
        Filed "debrief_filed" { debrief: i64 }
        SessionEnded "war_room_session_ended" {}
    }
}

refusals! {
    /// Why a session does not end.
    DebriefRefusal {
        #[error("BLOCKED: the session cannot end, because {} still open: {}{}", are(tasks.len() + more), named(tasks), and_more(*more))]
        OpenTasks { tasks: Vec<TaskId>, more: usize } => Conflict "session-has-open-tasks",
        #[error("BLOCKED: the session cannot end, because no debrief was filed in it")]
        Missing => Conflict "debrief-missing",
    }
}

impl DebriefRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::OpenTasks { .. } => {
                "Close each with close_task, or have it marked as failed with update_task; list_tasks shows who has it.".to_owned()
            }
            Self::Missing => "Call debrief with what was achieved and what the next session should start with, then end_session.".to_owned(),
        }
    }
}

fn are(count: usize) -> String {
    if count == 1 { "1 task is".to_owned() } else { format!("{count} tasks are") }
}

pub(super) fn named(tasks: &[TaskId]) -> String {
    tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}

pub(super) fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debrief_is_a_bounded_text() {
        let text = |summary: String| NewDebrief { summary }.text();
        assert_eq!(text("We won".to_owned()).unwrap(), "We won");
        assert!(text("x".repeat(MAX_DEBRIEF_BYTES)).is_ok());
        for bad in [String::new(), " \n".to_owned(), "a\0".to_owned(), "x".repeat(MAX_DEBRIEF_BYTES + 1), "x".repeat(1 << 20)] {
            assert!(text(bad).is_err());
        }
    }

    #[test]
    fn refusal_names_some_open_tasks() {
        let refused = |count: u64, more| DebriefRefusal::OpenTasks { tasks: (1..=count).map(TaskId::new).collect(), more }.to_string();
        assert_eq!(refused(1, 0), "BLOCKED: the session cannot end, because 1 task is still open: TASK-001");
        assert_eq!(refused(2, 7), "BLOCKED: the session cannot end, because 9 tasks are still open: TASK-001, TASK-002 and 7 more");
    }
}
