//! Checks: commands of a project's profile that judge the files of a commit, and their results.
//!
//! Must not know how a command runs. The commands of a project are in `profile/checks`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::TaskId;
use crate::refusal::category::refusals;
use crate::runs::evidence::Sha;
use crate::runs::profile::checks::{CheckList, Checks};
use crate::text::excerpt;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The most approved tasks that are merged together, so that their checks run once for all of them.
pub const MAX_MERGE_BATCH: usize = 8;
/// The part of a command that a sentence quotes.
const QUOTED_CHARACTERS: usize = 120;

vocabulary! {
    /// When a check runs.
    CheckStage, "check stage" {
        /// On submitted work, before its reviewer starts.
        Quick = "quick",
        /// On the merge of approved work, before the project branch moves to it.
        Full = "full",
    }
}

impl CheckStage {
    /// The commands of this stage.
    pub fn list(self, checks: &Checks) -> &CheckList {
        match self {
            Self::Quick => &checks.quick,
            Self::Full => &checks.full,
        }
    }
}

vocabulary! {
    /// The outcome of a check.
    CheckOutcome, "check outcome" {
        Passed = "passed",
        Failed = "failed",
    }
}

vocabulary! {
    /// How far the checks of a commit are.
    CheckState, "check state" {
        Running = "running",
        Passed = "passed",
        Failed = "failed",
        /// They could not run, and a person was asked.
        NotRun = "not_run",
    }
}

events! {
    /// A change of the checks of a task.
    CheckEvent {
        /// The checks of a stage started, or all of them ended.
        Changed "checks_changed" { stage: CheckStage, state: CheckState }
        /// One command has a result.
        Ended "check_ended" { command: String, outcome: CheckOutcome }
    }
}

impl CheckEvent {
    /// Words the event.
    pub(crate) fn sentence(&self, task: &str) -> String {
        match self {
            Self::Changed { stage, state: CheckState::Running } => format!("started the {stage} checks of {task}"),
            Self::Changed { stage, state: CheckState::NotRun } => format!("could not run the {stage} checks of {task}"),
            Self::Changed { stage, state } => format!("saw that the {stage} checks of {task} {state}"),
            Self::Ended { command, outcome } => format!("checked {task} with `{}`, which {outcome}", excerpt(command, QUOTED_CHARACTERS)),
        }
    }
}

refusals! {
    /// Why the store refuses what only follows from passed checks.
    CheckRefusal {
        #[error("the merge of {task} has not passed {}", commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(", "))]
        NotPassed { task: TaskId, commands: Vec<String> } => Conflict "checks-not-passed",
    }
}

impl CheckRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotPassed { .. } => "Wait until the runner has checked the merge, or remove the command from the checks of the project.".to_owned(),
        }
    }
}

/// The checks of a task at one stage. Its card shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskChecks {
    pub stage: CheckStage,
    pub state: CheckState,
    /// The commit of the task that they judge.
    pub sha: Sha,
    /// The files on which they run: those of the commit, or of its merge.
    pub tree: Sha,
    /// The version of the profile whose commands they are.
    pub profile_version: u32,
}

/// The result of one command on one tree. It holds for every commit with these files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CheckResult {
    pub id: i64,
    pub command: String,
    pub outcome: CheckOutcome,
    /// How often the command ran. One that fails on a merge runs twice.
    pub attempts: u32,
    /// How long its last run took.
    pub duration_ms: u64,
    /// The end of what it printed.
    pub tail: String,
    pub ended_at: Timestamp,
}

/// The checks of a task at one stage with the results so far, in the order of the commands. A command without a result has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StageResults {
    #[serde(flatten)]
    pub checks: TaskChecks,
    pub results: Vec<CheckResult>,
}

impl CheckResult {
    /// Describes the result in one line without the command.
    pub fn sentence(&self) -> String {
        let again = match self.outcome {
            CheckOutcome::Passed if self.attempts > 1 => " at the second attempt",
            CheckOutcome::Failed if self.attempts > 1 => " twice",
            _ => "",
        };
        format!("{}{again} after {}", self.outcome, duration(self.duration_ms))
    }
}

/// Returns the commands of `wanted` that have no result, in order.
pub fn missing<'a>(wanted: &'a [String], results: &[CheckResult]) -> Vec<&'a String> {
    wanted.iter().filter(|command| results.iter().all(|result| result.command != **command)).collect()
}

/// Returns the results of the commands of `wanted` that failed, in order.
pub fn failed<'a>(wanted: &[String], results: &'a [CheckResult]) -> Vec<&'a CheckResult> {
    let result_of = |command: &String| results.iter().find(|result| result.command == *command);
    wanted.iter().filter_map(result_of).filter(|result| result.outcome == CheckOutcome::Failed).collect()
}

/// Whether submitted work waits for its quick checks: those in `known` have not passed on the commit `submitted`.
pub fn await_quick(known: &[TaskChecks], submitted: Option<&Sha>, checks: &Checks, profile_version: u32) -> bool {
    let Some(submitted) = submitted.filter(|_| !checks.quick.commands.is_empty()) else { return false };
    let is_passed = |known: &TaskChecks| known.stage == CheckStage::Quick && known.state == CheckState::Passed;
    !known.iter().any(|known| is_passed(known) && known.sha == *submitted && known.profile_version == profile_version)
}

fn duration(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        0 => "less than 1 s".to_owned(),
        seconds @ 1..=119 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests;
