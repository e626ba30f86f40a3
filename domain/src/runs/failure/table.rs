//! The table of everything that goes wrong with a task: what its card says, what the runner does, and what the human can do.
//!
//! Must not know how a failure is noticed.

use crate::runs::failure::FailureClass;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// A reason why a task does not end, although no run failed.
    Obstacle, "obstacle" {
        /// The same changes are sent back with the same findings.
        NoProgress = "no_progress",
        /// Reviewers reject it again and again.
        ReviewLimit = "stalled",
        /// Its branch has merge conflicts.
        Conflict = "conflict",
        /// The project branch has commits that no review covers.
        RepositoryChanged = "repository_changed",
        /// A check of the project failed on its work.
        ChecksFailed = "checks_failed",
        /// The checks of the project cannot run.
        ChecksNotRun = "checks",
    }
}

impl Obstacle {
    /// Describes the obstacle.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::NoProgress => "the same changes are sent back with the same findings",
            Self::ReviewLimit => "the reviewer sends it back too often",
            Self::Conflict => "its branch conflicts with the project branch",
            Self::RepositoryChanged => "the project branch changed outside of the board",
            Self::ChecksFailed => "its work fails a check of the project",
            Self::ChecksNotRun => "the checks of the project cannot run",
        }
    }

    /// Says what the runner does.
    pub const fn reaction(self) -> &'static str {
        match self {
            Self::NoProgress => "Starts no agent after `max_repeated_rounds` such rounds. The card needs you.",
            Self::ReviewLimit => "Starts no agent after `max_review_rounds` rejections. The card needs you.",
            Self::Conflict => "Sends the task back to its coder with the paths of the conflict. That counts as a rejection.",
            Self::ChecksFailed => {
                "Sends the task back to its coder with the end of the output. That counts as a rejection. A check that fails on a merge runs once more \
                 first."
            }
            Self::ChecksNotRun => "Starts no reviewer and merges nothing. The card needs you. No attempt is used.",
            Self::RepositoryChanged => "Merges nothing and starts no agent of the project. The card needs you.",
        }
    }

    /// Says what the human can do.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::NoProgress => {
                "Compare the rounds below Changes. Then press Retry\u{2026} with a note or another model, move it to Done to approve it, take it \
                 over, or cancel it."
            }
            Self::ReviewLimit => "Read the thread, comment on what you want, and press Retry.",
            Self::Conflict => "Nothing to do, unless it is sent back too often.",
            Self::ChecksFailed => "Nothing to do, unless it is sent back too often.",
            Self::ChecksNotRun => "Fix the cause, or the checks in the settings of the project, then press Retry.",
            Self::RepositoryChanged => "Press Retry to accept the commits, or remove them from the project branch.",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureRow {
    /// The word for it in the API.
    pub code: &'static str,
    /// The sentence on the card.
    pub card: &'static str,
    /// The next step of the runner.
    pub runner: &'static str,
    /// The next step of the human.
    pub human: &'static str,
}

/// Returns all rows: the failures of runs, then the obstacles.
pub fn failure_table() -> Vec<FailureRow> {
    let failures = FailureClass::ALL.iter().map(|class| FailureRow {
        code: class.as_str(),
        card: class.sentence(),
        runner: class.reaction().sentence(),
        human: class.remedy(),
    });
    let obstacles = Obstacle::ALL.iter().map(|obstacle| FailureRow {
        code: obstacle.as_str(),
        card: obstacle.sentence(),
        runner: obstacle.reaction(),
        human: obstacle.remedy(),
    });
    failures.chain(obstacles).collect()
}
