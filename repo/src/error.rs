//! Errors of this crate: each has a sentence, a stable code and a hint for the next step.
//!
//! Must not know HTTP or tools. Each adapter converts `code`, the sentence and `hint` into its own format.

use std::io;
use std::path::PathBuf;

use domain::runs::evidence::Sha;
use domain::runs::land::similar_branches;

/// A refusal or failure of this crate. `Display` includes the cause, so `source` is empty.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    #[error("the folder {path} does not exist")]
    PathMissing { path: PathBuf },
    #[error("the repository {path} does not exist")]
    RepositoryMissing { path: PathBuf },
    #[error("{path} is not inside a git repository")]
    NotARepository { path: PathBuf },
    #[error("{path} is a bare repository and has no checked-out files")]
    Bare { path: PathBuf },
    #[error("the repository at {path} has no commit yet")]
    NoCommit { path: PathBuf },
    #[error("{path} has no branch checked out (detached HEAD)")]
    DetachedHead { path: PathBuf },
    #[error("the branch {branch} does not exist{}", similar_branches(near))]
    BranchMissing { branch: String, near: Vec<String> },
    #[error("{named} is a {}, not a local branch", if *is_tag { "tag" } else { "branch of a remote" })]
    BranchNotLocal { named: String, local: String, is_tag: bool, exists: bool },
    #[error("{branch} does not follow a branch of a remote that was fetched")]
    NoUpstream { branch: String },
    #[error("{branch} has commits that {upstream} lacks")]
    Diverged { branch: String, upstream: String },
    #[error("the checkout {path} is not at the tip of {branch}, so a snapshot of its files cannot continue that branch")]
    CheckoutElsewhere { path: PathBuf, branch: String },
    #[error("a snapshot cannot hold {}", paths.join(", "))]
    SnapshotIncomplete { paths: Vec<String> },
    #[error("the repository stores its objects as sha256, which is not supported yet")]
    Sha256Objects,
    #[error("the repository stores its branches as a reftable, which is not supported yet")]
    Reftable,
    #[error("the repository is a partial clone: some of its objects are only on the server")]
    PartialClone,
    #[error("the repository uses the git extension {name}, which is not supported")]
    UnknownExtension { name: String },
    #[error("the repository at {path} belongs to another user")]
    WrongOwner { path: PathBuf },
    #[error("{path} uses the git filter {driver}, which only the configuration of the repository has; agents could change it")]
    FilterInRepository { driver: String, path: String },
    #[error("{path} uses the git filter {driver}, which is not installed")]
    FilterMissing { driver: String, path: String },
    #[error("could not {attempted}: git is not installed")]
    GitMissing { attempted: String },
    #[error("could not {attempted}: {output}")]
    GitFailed { attempted: String, output: String },
    #[error("the submodule {path} could not be filled: {output}")]
    SubmoduleNotFilled { path: String, output: String },
    #[error("the commit was not signed: {output}")]
    NotSigned { output: String },
    #[error("the path {path} is not valid UTF-8")]
    PathNotUtf8 { path: PathBuf },
    #[error("the branch {existing} conflicts with the branch name {wanted}")]
    BranchNameConflict { existing: String, wanted: String },
    #[error("{name} was not moved: it is at {}, not at {}", display_sha(found), display_sha(expected))]
    Moved { name: String, expected: Option<Sha>, found: Option<Sha> },
    #[error("{name} stayed locked by another program for {seconds} seconds")]
    Locked { name: String, lock: PathBuf, seconds: u64 },
    #[error("{name} is a symbolic reference to {target}, not a branch of its own")]
    Symbolic { name: String, target: String },
    #[error("{sha} is not a full commit id")]
    NotASha { sha: String },
    #[error("the commit {sha} is not in the repository")]
    CommitMissing { sha: Sha },
    #[error("{name} cannot be the name of a checkout: {why}")]
    CheckoutName { name: String, why: &'static str },
    #[error("{path} contains files that do not belong to this checkout")]
    PathOccupied { path: PathBuf },
    #[error("the checkout {path} does not exist")]
    CheckoutMissing { path: PathBuf },
    #[error("the branch {branch} is checked out at {path}")]
    CheckedOut { branch: String, path: PathBuf },
    #[error("a {operation} is in progress at {path}")]
    OperationInProgress { operation: &'static str, path: PathBuf },
    #[error("{path} is a sparse checkout, so missing files cannot be distinguished from deleted ones")]
    SparseCheckout { path: PathBuf },
    #[error("the index of {path} cannot be read: {reason}")]
    IndexUnreadable { path: PathBuf, reason: String },
    #[error("the branch {branch} was not deleted: neither {kept_by} nor a rescue ref contains its tip")]
    CommitsNotKept { branch: String, kept_by: String },
    #[error("{name} cannot be used as a rescue ref: it must begin with {prefix}")]
    ReferenceOutsidePrefix { name: String, prefix: &'static str },
    #[error("the work left in {} has {} MiB, more than the {} MiB that are kept", path.display(), bytes >> 20, limit >> 20)]
    RescueTooLarge { path: PathBuf, bytes: u64, limit: u64 },
    #[error("the branch {branch} already exists")]
    BranchExists { branch: String },
    #[error("{branch} cannot be the name of a branch")]
    BranchName { branch: String },
    #[error("{reference} does not exist")]
    RescueMissing { reference: String },
    #[error("{reference} already keeps other work")]
    RescueTaken { reference: String },
    #[error("the repository at {path} has not responded for {seconds} seconds")]
    NotResponding { path: PathBuf, seconds: u64 },
    #[error("other work on the repository at {path} has not ended for {seconds} seconds")]
    Busy { path: PathBuf, seconds: u64 },
    #[error("the work on the repository was interrupted")]
    Interrupted,
    #[error("could not {attempted}: {}", reason.message())]
    Git { attempted: String, reason: git2::Error },
    #[error("could not {attempted}: {reason}")]
    Io { attempted: String, reason: io::Error },
}

impl RepoError {
    /// Returns the stable code for programs. The sentence may change; the code does not.
    pub fn code(&self) -> &'static str {
        match self {
            Self::PathMissing { .. } => "path-missing",
            Self::RepositoryMissing { .. } => "repository-missing",
            Self::NotARepository { .. } => "not-a-repository",
            Self::Bare { .. } => "bare-repository",
            Self::NoCommit { .. } => "no-commit",
            Self::DetachedHead { .. } => "detached-head",
            Self::BranchMissing { .. } => "branch-missing",
            Self::BranchNotLocal { .. } => "branch-not-local",
            Self::NoUpstream { .. } => "no-upstream",
            Self::Diverged { .. } => "upstream-diverged",
            Self::CheckoutElsewhere { .. } => "checkout-elsewhere",
            Self::SnapshotIncomplete { .. } => "snapshot-incomplete",
            Self::Sha256Objects => "sha256-objects",
            Self::Reftable => "reftable",
            Self::PartialClone => "partial-clone",
            Self::UnknownExtension { .. } => "unknown-extension",
            Self::WrongOwner { .. } => "foreign-owner",
            Self::FilterInRepository { .. } => "filters",
            Self::FilterMissing { .. } => "filter-missing",
            Self::GitMissing { .. } => "program-missing",
            Self::GitFailed { .. } => "git-failed",
            Self::SubmoduleNotFilled { .. } => "submodule-not-filled",
            Self::NotSigned { .. } => "not-signed",
            Self::PathNotUtf8 { .. } => "path-not-utf8",
            Self::BranchNameConflict { .. } => "name-blocked",
            Self::Moved { .. } => "branch-moved",
            Self::Locked { .. } => "branch-locked",
            Self::Symbolic { .. } => "branch-symbolic",
            Self::NotASha { .. } => "not-a-sha",
            Self::CommitMissing { .. } => "commit-missing",
            Self::CheckoutName { .. } => "checkout-name",
            Self::PathOccupied { .. } => "path-occupied",
            Self::CheckoutMissing { .. } => "checkout-missing",
            Self::CheckedOut { .. } => "branch-checked-out",
            Self::OperationInProgress { .. } => "operation-under-way",
            Self::SparseCheckout { .. } => "sparse-checkout",
            Self::IndexUnreadable { .. } => "index-unreadable",
            Self::CommitsNotKept { .. } => "branch-not-kept",
            Self::ReferenceOutsidePrefix { .. } => "foreign-reference",
            Self::RescueTooLarge { .. } => "rescue-too-large",
            Self::BranchExists { .. } => "branch-exists",
            Self::BranchName { .. } => "branch-name",
            Self::RescueMissing { .. } => "rescue-missing",
            Self::RescueTaken { .. } => "rescue-taken",
            Self::NotResponding { .. } => "repository-not-responding",
            Self::Busy { .. } => "repository-busy",
            Self::Interrupted => "interrupted",
            Self::Git { .. } => "git",
            Self::Io { .. } => "io",
        }
    }

    /// Whether the machine of the person lacks something, such as a program or its network, which says nothing about the work.
    pub fn is_of_machine(&self) -> bool {
        matches!(self, Self::FilterMissing { .. } | Self::GitMissing { .. } | Self::GitFailed { .. } | Self::SubmoduleNotFilled { .. })
    }

    /// Whether the repository could not be used at all for now, which says nothing about the work.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::NotResponding { .. } | Self::Busy { .. })
    }

    /// Returns the next step for the human.
    pub fn hint(&self) -> String {
        match self {
            Self::PathMissing { .. } => "Check the path; it must be a folder on this machine.".into(),
            Self::RepositoryMissing { .. } => {
                "Mount the drive that it is on, or name its new folder with `vibe-relay project relocate PROJECT FOLDER`.".into()
            }
            Self::NotARepository { .. } => "Name a folder of a git repository, or run `git init` and commit there first.".into(),
            Self::Bare { .. } => "Name a checkout (a working tree) of the repository instead.".into(),
            Self::NoCommit { .. } => "Create a first commit; it may be empty: `git commit --allow-empty -m start`.".into(),
            Self::DetachedHead { .. } => "Name the base branch, or check one out with `git switch`.".into(),
            Self::BranchMissing { .. } => "Name an existing local branch as the base.".into(),
            Self::BranchNotLocal { local, exists: true, .. } => {
                format!("Name the local branch {local}; the project can start from its newer upstream.")
            }
            Self::BranchNotLocal { named, local, .. } => {
                format!("Create the local branch {local} from it: `--make-base`, `\"make_base\": true`, or `git branch {local} {named}`.")
            }
            Self::NoUpstream { branch } => format!("Fetch, or set it with `git branch --set-upstream-to REMOTE/BRANCH {branch}`."),
            Self::Diverged { branch, upstream } => format!("Merge {upstream} into {branch}, or rebase it, then create the project."),
            Self::CheckoutElsewhere { branch, .. } => format!("Switch it to {branch}, or create the project without a snapshot."),
            Self::SnapshotIncomplete { .. } => {
                "Commit or ignore these files, which are larger than 50 MiB or cannot be read, or create the project without a snapshot.".into()
            }
            Self::Sha256Objects => "Use a repository with sha1 objects (`git init --object-format=sha1`).".into(),
            Self::Reftable => "Run `git refs migrate --ref-format=files` (git 2.46 or newer).".into(),
            Self::PartialClone => "Create a full clone without `--filter` and name that.".into(),
            Self::UnknownExtension { name } => format!("Name a clone without `extensions.{name}`."),
            Self::WrongOwner { path } => {
                format!("Run as its owner, or trust it with `git config --global --add safe.directory {}`.", path.display())
            }
            Self::FilterInRepository { driver, .. } => {
                format!("Configure it for all repositories: `git config --global filter.{driver}.clean …`, and so on for smudge and process.")
            }
            Self::FilterMissing { .. } => "Install `git-lfs` and run `git lfs install`, then try again.".into(),
            Self::GitMissing { .. } => "Install git, then try again.".into(),
            Self::SubmoduleNotFilled { path, .. } => {
                format!("Run `git submodule update --init --recursive {path}` in your checkout, then try again.")
            }
            Self::NotSigned { .. } => {
                "Sign a commit in a terminal to unlock your key, or name one with `git config --global user.signingKey KEY`; then try again.".into()
            }
            Self::GitFailed { .. } => "Run `git lfs pull` or the command that failed in your checkout to see what it needs, then try again.".into(),
            Self::PathNotUtf8 { .. } => "Rename the folder.".into(),
            Self::BranchNameConflict { existing, .. } => {
                format!("Rename your branch: `git branch -m {existing} my-{}`.", existing.replace('/', "-"))
            }
            Self::Moved { .. } => "Another process moved the branch. Read its tip again, then try again.".into(),
            Self::Locked { lock, .. } => format!("If no git program is running, delete the stale lock file {}.", lock.display()),
            Self::Symbolic { name, .. } => format!("Remove it with `git symbolic-ref --delete {name}`, then try again."),
            Self::NotASha { .. } => "Give all 40 hexadecimal digits.".into(),
            Self::CommitMissing { .. } => "`git gc` may have removed it. Check the rescue refs.".into(),
            Self::CheckoutName { .. } => "Use one path component of letters, digits, `-`, `_` and `.`.".into(),
            Self::PathOccupied { .. } => "Move the files away, or choose another folder for worktrees.".into(),
            Self::CheckoutMissing { .. } => "Add the checkout again. Its branch still holds all commits.".into(),
            Self::CheckedOut { path, .. } => format!("Switch {} to another branch, or remove that checkout.", path.display()),
            Self::OperationInProgress { operation, .. } => format!("Finish or abort the {operation}, then try again."),
            Self::SparseCheckout { .. } => {
                "Switch that checkout to another branch (`git switch --detach`) or run `git sparse-checkout disable`, then try again.".into()
            }
            Self::IndexUnreadable { .. } => {
                "Switch that checkout to another branch (`git switch --detach`), or write a plain index with `git update-index --no-split-index`."
                    .into()
            }
            Self::CommitsNotKept { .. } => "Rescue the tip of the branch first.".into(),
            Self::ReferenceOutsidePrefix { prefix, .. } => format!("Use a name below {prefix}."),
            Self::RescueTooLarge { .. } => "Delete there what nobody needs, or move it elsewhere.".into(),
            Self::BranchExists { .. } => "Choose the name of a new branch.".into(),
            Self::BranchName { .. } => "Choose a name that `git check-ref-format --branch` accepts.".into(),
            Self::RescueMissing { .. } => "Look it up with `vibe-relay rescue list PROJECT`.".into(),
            Self::RescueTaken { .. } => "Choose another rescue name.".into(),
            Self::NotResponding { .. } => "Check the drive or network mount that it is on. Work continues automatically when it responds.".into(),
            Self::Busy { .. } => "Try again when the other work has ended.".into(),
            Self::Interrupted => "Try again.".into(),
            Self::Git { .. } => "Run `git fsck` in the repository. If it reports no errors, try again.".into(),
            Self::Io { .. } => "Check permissions and free space, then try again.".into(),
        }
    }
}

fn display_sha(sha: &Option<Sha>) -> &str {
    sha.as_deref().unwrap_or("no commit")
}

/// Adds the attempted action to an error of a lower layer.
pub(crate) trait Attempt<T> {
    /// Converts the error. `what` completes the sentence "could not …".
    fn attempting(self, what: impl FnOnce() -> String) -> Result<T, RepoError>;
}

impl<T> Attempt<T> for Result<T, git2::Error> {
    fn attempting(self, what: impl FnOnce() -> String) -> Result<T, RepoError> {
        self.map_err(|reason| RepoError::Git { attempted: what(), reason })
    }
}

impl<T> Attempt<T> for io::Result<T> {
    fn attempting(self, what: impl FnOnce() -> String) -> Result<T, RepoError> {
        self.map_err(|reason| RepoError::Io { attempted: what(), reason })
    }
}

#[cfg(test)]
mod tests;
