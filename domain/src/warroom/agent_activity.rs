//! How often agents touch their tasks, and what they last changed: signs that an agent is stuck or gone.
//!
//! It must not know how files are found.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::TaskId;
use crate::time::Timestamp;
use crate::warroom::claim::ClaimPath;

/// The updates of a task from which on each answer warns, and those after which a person is asked, each time again.
pub const WARN_AT: u32 = 4;
pub const ASK_AFTER: u32 = 6;
/// An agent whose files, tasks and calls are all older than this may be gone.
pub const QUIET_AFTER: Duration = Duration::from_secs(10 * 60);

/// Warns about a task that needed many updates.
pub fn warning(updates: u32) -> Option<String> {
    (updates >= WARN_AT).then(|| {
        format!(
            "WARNING: activity count at {updates}, consider reassessing. A task that needs so many updates often has the wrong approach or the \
             wrong agent, or waits for something that nobody has seen."
        )
    })
}

/// Whether a person has to decide about a task, if they decided last after `decided` updates.
pub const fn asks_person(updates: u32, decided: u32) -> bool {
    updates.saturating_sub(decided) >= ASK_AFTER
}

/// The signs that an agent is at work: its files, or those of its zones if it holds none, its tasks, and its calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentActivity {
    pub agent: String,
    /// The paths that it holds, each with its newest change.
    pub claims: Vec<FileChange>,
    /// The paths of its zones, if it holds nothing.
    pub zone: Vec<FileChange>,
    /// When one of its tasks changed last.
    pub last_task_update: Option<TaskChange>,
    pub last_seen: Option<Timestamp>,
    /// The updates of its open tasks.
    pub activity_count: u32,
}

/// The newest change of the files that a path stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileChange {
    #[schema(value_type = String)]
    pub path: ClaimPath,
    /// The file that changed last, if the path is a folder or a pattern.
    pub file: Option<String>,
    /// Nothing if no such file exists.
    pub modified_at: Option<Timestamp>,
}

/// The newest change of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskChange {
    pub task: TaskId,
    pub at: Timestamp,
}

impl AgentActivity {
    /// The newest sign of work.
    pub fn newest(&self) -> Option<Timestamp> {
        let files = self.claims.iter().chain(&self.zone).filter_map(|change| change.modified_at);
        files.chain(self.last_task_update.as_ref().map(|change| change.at)).chain(self.last_seen).max()
    }

    /// Whether nothing shows that the agent is at work.
    pub fn is_quiet(&self, now: Timestamp) -> bool {
        self.newest().is_none_or(|at| now.since(at) >= QUIET_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fourth_update_warns_and_the_sixth_asks_a_person() {
        assert_eq!((0..8).map(|updates| warning(updates).is_some()).collect::<Vec<_>>(), [false, false, false, false, true, true, true, true]);
        assert!(warning(4).unwrap().starts_with("WARNING: activity count at 4, consider reassessing."));
        assert_eq!((5..8).map(|updates| asks_person(updates, 0)).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!((11..14).map(|updates| asks_person(updates, 7)).collect::<Vec<_>>(), [false, false, true]);
        assert!(!asks_person(0, 3));
    }

    #[test]
    fn newest_sign_of_work_counts() {
        let at = |minutes: i64| Timestamp::from_milliseconds(minutes * 60_000);
        let change = |minutes: Option<i64>| FileChange { path: "a.rs".parse().unwrap(), file: None, modified_at: minutes.map(at) };
        let mut activity = AgentActivity {
            agent: "ole".to_owned(),
            claims: vec![change(None), change(Some(7))],
            zone: Vec::new(),
            last_task_update: Some(TaskChange { task: TaskId::new(1), at: at(3) }),
            last_seen: Some(at(5)),
            activity_count: 0,
        };
        assert_eq!(activity.newest(), Some(at(7)));
        assert_eq!([16, 17].map(|minutes| activity.is_quiet(at(minutes))), [false, true]);
        activity.claims.clear();
        activity.last_task_update = None;
        activity.last_seen = None;
        assert!(activity.is_quiet(at(0)), "nothing is known of it");
    }
}
