//! Evidence: facts from a git repository. `repo` collects them, and use cases check moves against them.
//!
//! Must not open a repository or decide whether a move is legal.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::TaskId;
use crate::runs::profile::detection::Detection;
use crate::runs::protected_paths::ProtectedChange;
use crate::runs::repository_finding::{RepositoryFact, RepositoryFinding};

/// A full lowercase hexadecimal object id of 40 digits.
pub type Sha = String;

/// The first seven digits of an object id, as git shows it to a human.
pub fn short(sha: &str) -> &str {
    sha.get(..7).unwrap_or(sha)
}

/// The facts about a task's branch and checkout that a move to review is checked against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Evidence {
    /// The commit at the tip of the task's branch.
    pub head: Sha,
    /// The commit of the project branch that the work is compared with.
    pub base: Sha,
    /// Commits on the branch that are not on the project branch.
    pub ahead: u32,
    /// Paths in the checkout that differ from `head` or are untracked and not ignored, at most [`Evidence::PATHS_SHOWN`].
    pub dirty_paths: Vec<String>,
    /// The total number of such paths.
    pub dirty_count: u32,
    /// Whether the trees of the merge base and `head` are equal.
    pub diff_empty: bool,
    /// Identifies the changes since the merge base with the project branch, regardless of commits and their messages.
    pub patch_id: Sha,
    /// The files that the work changes, by path, at most [`Evidence::MAX_CHANGED_PATHS`].
    pub changed_paths: Vec<String>,
    /// Nested repositories that the work commits as links and that `.gitmodules` does not name, so that nobody else can fetch them.
    pub nested: Vec<String>,
    /// The protected paths that the work changes.
    pub protected: Option<ProtectedChange>,
}

impl Evidence {
    /// The maximum length of `dirty_paths`.
    pub const PATHS_SHOWN: usize = 20;
    /// The maximum length of `changed_paths`.
    pub const MAX_CHANGED_PATHS: usize = 200;

    /// Whether the checkout has no uncommitted files.
    pub fn is_clean(&self) -> bool {
        self.dirty_count == 0
    }
}

/// The facts about the repository that the human chose for a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RepositoryInfo {
    /// The absolute path of the working tree's top folder.
    pub repo_path: String,
    /// The absolute path of the common `.git` folder, recorded once and used for every later access.
    pub git_dir: String,
    /// The branch that agents start from.
    pub base_branch: String,
    /// The tip of the base branch.
    pub base_sha: Sha,
    /// Every local branch, the checked-out one first.
    pub branches: Vec<String>,
    /// The commit identity that the repository resolves: `Name <mail>`.
    pub identity: Option<String>,
    /// The tools that the files of the base branch show, and a profile for them, which a person may confirm.
    #[serde(default)]
    pub detection: Detection,
    /// Unusual facts about the repository, the most important first.
    #[serde(default)]
    pub findings: Vec<RepositoryFinding>,
    /// About how many bytes a checkout of the base branch takes.
    #[serde(default)]
    pub checkout_bytes: u64,
    /// The branch that the base branch follows, if the project can begin there because it is newer.
    #[serde(default)]
    pub newer_upstream: Option<String>,
    /// Branches of remotes without a local branch of the same name, which can become the base.
    #[serde(default)]
    pub remote_branches: Vec<String>,
    /// The remote branch or tag from which the base branch is made, if it does not exist yet.
    #[serde(default)]
    pub base_made_from: Option<String>,
    /// The commit at which the project branch begins, if that is not `base_sha`.
    #[serde(default)]
    pub start: Option<Sha>,
}

/// The uncommitted files of a human's checkout. It takes longer to count them than to read the rest of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UncommittedFiles {
    /// Their number. Agents neither see nor change them.
    pub count: u32,
    /// The finding about them, if there are any.
    #[serde(default)]
    pub finding: Option<RepositoryFinding>,
}

impl UncommittedFiles {
    pub fn new(count: u32) -> Self {
        Self { count, finding: (count > 0).then(|| RepositoryFact::Uncommitted { count }.describe()) }
    }
}

/// The facts about a branch that replaces the base branch of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseEvidence {
    pub branch: String,
    /// The commit at the tip of the branch.
    pub tip: Sha,
    /// The tip if it holds everything that the earlier base branch held, otherwise the earlier one: landing then asks before it brings back
    /// what the branch lacks.
    pub base_head: Sha,
    /// Whether the branch holds what was last landed.
    pub holds_landed: bool,
}

/// The commits and checkouts that identify the repository of projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryRecord {
    pub commits: Vec<KnownCommit>,
    pub checkouts: Vec<CheckoutRecord>,
}

/// A recorded commit, with what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCommit {
    pub name: String,
    pub sha: Sha,
}

/// The checkout of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutRecord {
    pub task: TaskId,
    pub branch: String,
    pub path: String,
}

/// Where a repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryPlace {
    /// The absolute path of the working tree's top folder.
    pub repo_path: String,
    /// The absolute path of the common `.git` folder.
    pub git_dir: String,
}

/// The facts that a move needs from the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceRequest {
    /// The move needs no facts, or the task has no branch.
    Nothing,
    /// The state of the checkout and its branch.
    Evidence {
        git_dir: String,
        worktree: String,
        branch: String,
        /// The branch to compare with.
        base: String,
        /// The globs of protected paths.
        protected: Vec<String>,
    },
    /// The tip of the branch, and the protected paths that it changes.
    Head { git_dir: String, branch: String, base: String, protected: Vec<String> },
}

impl EvidenceRequest {
    /// The repository to read, if any.
    pub fn git_dir(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Evidence { git_dir, .. } | Self::Head { git_dir, .. } => Some(git_dir),
        }
    }
}

/// The facts that a request returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceResult {
    Nothing,
    Evidence(Evidence),
    Head(HeadEvidence),
}

impl EvidenceResult {
    /// The facts about a commit that changes no protected paths.
    pub fn head(sha: impl Into<Sha>) -> Self {
        Self::Head(HeadEvidence { sha: sha.into(), protected: None })
    }
}

/// The facts about the commit that a verdict is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadEvidence {
    /// The commit at the tip of the task's branch.
    pub sha: Sha,
    /// The protected paths that it changes.
    pub protected: Option<ProtectedChange>,
}
