//! What was found in a git repository, as plain facts.
//!
//! `repo` collects, a use-case judges. Nothing here opens a repository or decides whether a move is legal.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A full lowercase hexadecimal object id of 40 digits.
pub type Sha = String;

/// The facts about one task's branch and checkout that decide whether "in review" is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Evidence {
    /// The commit at the tip of the task's branch.
    pub head: Sha,
    /// The commit of the project branch that the work is compared with.
    pub base: Sha,
    /// Commits on the branch that the project branch does not have.
    pub ahead: u32,
    /// Paths in the checkout that differ from `head` or are untracked and not ignored, at most [`Evidence::PATHS_SHOWN`].
    pub dirty_paths: Vec<String>,
    /// How many such paths there are in all.
    pub dirty_count: u32,
    /// Whether the trees of `base` (at the merge base) and `head` are the same.
    pub diff_empty: bool,
}

impl Evidence {
    /// How many dirty paths are named; the rest is only counted.
    pub const PATHS_SHOWN: usize = 20;

    /// Whether the checkout holds nothing that is not committed.
    pub fn is_clean(&self) -> bool {
        self.dirty_count == 0
    }
}

/// What was found at a path that a person named as the project's repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RepositoryInfo {
    /// The absolute path of the working tree's top folder.
    pub repo_path: String,
    /// The absolute path of the common `.git` folder, recorded once and used for every later access.
    pub git_dir: String,
    /// The branch agents will start from.
    pub base_branch: String,
    /// The commit that branch points to.
    pub base_sha: Sha,
    /// Every local branch, the checked-out one first.
    pub branches: Vec<String>,
    /// Files of the person's own checkout that are not committed. They stay untouched and agents do not see them.
    pub uncommitted: u32,
    /// The identity commits will carry, if the repository resolves one: `Name <mail>`.
    pub identity: Option<String>,
}

/// What must be looked up in a repository before a move can be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceRequest {
    /// Nothing: the move needs nothing of it, or the task has no branch.
    Nothing,
    /// Whether the checkout is clean and its branch ahead.
    Evidence {
        git_dir: String,
        worktree: String,
        branch: String,
        /// The branch that the work is compared with.
        base: String,
    },
    /// Where the branch points.
    Head { git_dir: String, branch: String },
}

/// What was found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceResult {
    Nothing,
    Evidence(Evidence),
    Head(Sha),
}
