//! Checkpoints: the files of a task at a moment of a run, to which a person can rewind the task. Must not know how they are kept.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::RunId;
use crate::runs::evidence::Sha;
use crate::time::Timestamp;

/// The files of a task's worktree at a moment of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Checkpoint {
    /// The commit that keeps them.
    pub sha: Sha,
    pub taken_at: Timestamp,
    /// How many files differ from the checkpoint before.
    pub files: u32,
    /// The last action of the agent that may have changed files, in one line.
    pub action: String,
}

impl Checkpoint {
    /// The most checkpoints that a run keeps.
    pub const MAX_PER_RUN: usize = 30;

    /// Adds a checkpoint to those of its run and returns the ones that are no longer kept: the oldest.
    pub fn add_to(self, kept: &mut Vec<Self>) -> Vec<Sha> {
        kept.push(self);
        let surplus = kept.len().saturating_sub(Self::MAX_PER_RUN);
        kept.drain(..surplus).map(|checkpoint| checkpoint.sha).collect()
    }

    /// Tells the next agent that the files of the task are those of this checkpoint of `run`.
    pub fn comment(&self, run: &RunId) -> String {
        format!(
            "The files of this task were set back to the checkpoint that was taken at {} in {run} ({}). Later changes are not in the worktree.",
            self.taken_at.clock(),
            self.action
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_checkpoints_make_room() {
        let taken = |number: usize| Checkpoint {
            sha: number.to_string(),
            taken_at: Timestamp::from_milliseconds(0),
            files: 1,
            action: "edits a.rs".to_owned(),
        };
        let mut kept = Vec::new();
        for number in 0..Checkpoint::MAX_PER_RUN {
            assert_eq!(taken(number).add_to(&mut kept), [""; 0]);
        }
        assert_eq!(taken(99).add_to(&mut kept), ["0"]);
        assert_eq!((kept.len(), kept[0].sha.as_str()), (Checkpoint::MAX_PER_RUN, "1"));
    }
}
