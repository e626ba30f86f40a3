//! Landing: merging the project branch into the base branch. Must not know how git does it.

pub mod blocking;
pub mod preview;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::id::{ProjectId, TaskId};
use crate::refusal::category::refusals;
use crate::runs::evidence::{Sha, short};
use crate::runs::land::blocking::BlockingFiles;
use crate::text::excerpt;
use crate::time::Timestamp;

/// How many commits the sentence of a refusal names.
const MAX_NAMED: usize = 5;
const SUBJECT_CHARACTERS: usize = 80;
const AUTHOR_CHARACTERS: usize = 40;

/// A landing that happened. The newest one of a project is part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Landing {
    pub id: i64,
    pub base_branch: String,
    /// The tip of the base branch afterwards.
    pub sha: Sha,
    /// The tip of the base branch before.
    pub before_sha: Sha,
    /// The tip of the project branch.
    pub tip: Sha,
    pub at: Timestamp,
    pub by: Actor,
    /// The number of tasks whose work it brought.
    pub tasks: u32,
    /// The number of commits that it added to the base branch.
    pub commits: u32,
    /// When it was undone. Its tasks wait to be landed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<Timestamp>,
    /// The pull request by which it landed, on the base branch of the remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
}

/// The facts that a repository knows about a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandingEvidence {
    pub base_branch: String,
    pub sha: Sha,
    pub before_sha: Sha,
    pub tip: Sha,
    pub commits: u32,
}

/// Commits that the base branch once had, that someone removed from it, and that the project branch still holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReturningCommits {
    pub total: u32,
    /// The newest of them, at most [`ReturningCommits::SHOWN`].
    pub commits: Vec<ReturningCommit>,
    /// Stands for exactly these commits. Landing with it brings them back.
    pub confirmation: String,
}

impl ReturningCommits {
    /// The maximum length of `commits`.
    pub const SHOWN: usize = 20;

    /// Whether `given` confirms exactly these commits.
    pub fn is_confirmed(&self, given: Option<&str>) -> bool {
        given == Some(self.confirmation.as_str())
    }
}

/// One commit that landing would bring back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReturningCommit {
    pub sha: Sha,
    /// The first line of the message.
    pub subject: String,
    pub author: String,
}

refusals! {
    /// Why a project branch may not be landed.
    LandRefusal {
        #[error("there is nothing to land: {detail}")]
        NothingToLand { detail: String } => Unprocessable "nothing-to-land",
        #[error("landing would bring commits back to {base_branch} that were removed from it: {}; nothing was changed", named(returning))]
        CommitsReturn { project: ProjectId, base_branch: String, returning: Box<ReturningCommits> } => Conflict "commits-return",
        #[error("{base_branch} gained changes that conflict with the project branch, and {task} resolves the conflict; nothing was changed")]
        SyncPending { base_branch: String, task: TaskId } => Conflict "sync-pending",
        #[error("{base_branch} gained changes, and the checks of {project} are still running on the merge with them; nothing was changed")]
        BaseChecking { project: ProjectId, base_branch: String } => Conflict "base-checking",
        #[error("{base_branch} gained changes, and the checks of {project} cannot run on the merge with them: {why}; nothing was changed")]
        BaseNotChecked { project: ProjectId, base_branch: String, why: String } => Conflict "base-not-checked",
        #[error("the base branch {base_branch} of {project} does not exist{}; nothing was changed", similar_branches(near))]
        BaseMissing { project: ProjectId, base_branch: String, near: Vec<String> } => Unprocessable "base-missing",
        #[error("{project} has no landing that can be undone")]
        NothingToUndo { project: ProjectId } => Unprocessable "nothing-to-undo",
        #[error("landing {landing} is not the last one of {project}, which is {last}; nothing was changed")]
        NotTheLastLanding { project: ProjectId, landing: i64, last: i64 } => Conflict "not-the-last-landing",
        #[error("{base_branch} is {}, no longer at {} where the landing left it; nothing was changed", at(found.as_ref()), short(landed))]
        MovedSinceLanding { base_branch: String, landed: Sha, found: Option<Sha> } => Conflict "moved-since-landing",
        #[error("{remote_branch} already has the landed commit {}; nothing was changed", short(landed))]
        LandingPushed { remote_branch: String, landed: Sha, is_merge: bool } => Conflict "landing-pushed",
        #[error("your checkout has changes in {} that {action} would overwrite; nothing was changed", files.named())]
        CheckoutDirty { action: &'static str, files: Box<BlockingFiles> } => Unprocessable "checkout-dirty",
    }
}

impl LandRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::BaseMissing { project, .. } => format!("{}, then land again.", replace_base(project)),
            Self::SyncPending { task, .. } => format!("Land when {task} is done, or cancel it to land without these changes."),
            Self::BaseChecking { .. } => "Land again when they have ended.".to_owned(),
            Self::BaseNotChecked { project, .. } => format!(
                "Fix the cause, then land again; or run `vibe-relay profile edit {project} --follow-base false` to land without these changes."
            ),
            Self::CheckoutDirty { files, .. } => format!("{} Then try again.", files.steps()),
            Self::NothingToUndo { .. } => "See the landings on its landing page.".to_owned(),
            Self::NotTheLastLanding { .. } => "Undo the last landing first.".to_owned(),
            Self::MovedSinceLanding { .. } => "Remove the later commits, then try again; or revert the landed commits with `git revert`.".to_owned(),
            Self::LandingPushed { landed, is_merge: true, .. } => {
                format!("Others may have it. Undo it with a new commit: `git revert -m 1 {}`.", short(landed))
            }
            Self::LandingPushed { landed, is_merge: false, .. } => {
                format!("Others may have it. Undo it with new commits: `git revert` its commits, the newest of which is {}.", short(landed))
            }
            Self::NothingToLand { .. } => "Wait until a task is merged into the project branch.".to_owned(),
            Self::CommitsReturn { project, returning, .. } => {
                let confirmation = &returning.confirmation;
                format!(
                    "To exclude them, cherry-pick the other commits manually. To bring them back, run `vibe-relay land {project} --bring-back \
                     {confirmation}`, or send {{\"bring_back\": \"{confirmation}\"}}."
                )
            }
        }
    }
}

/// Names a commit to a human. Its subject and author are shortened, because anyone may have written them.
pub fn commit_line(sha: &str, subject: &str, author: &str) -> String {
    format!("{} “{}” by {}", short(sha), excerpt(subject, SUBJECT_CHARACTERS), excerpt(author, AUTHOR_CHARACTERS))
}

/// The step that gives a project another base branch, as the beginning of a sentence.
pub fn replace_base(project: &ProjectId) -> String {
    format!("Name the branch that replaces it with `vibe-relay project edit {project} --base-branch BRANCH`")
}

fn at(found: Option<&Sha>) -> String {
    found.map_or_else(|| "gone".to_owned(), |sha| format!("at {}", short(sha)))
}

/// Names branches with a similar name, as the end of a clause.
pub fn similar_branches(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; similar branches: {}", near.join(", ")) }
}

fn named(returning: &ReturningCommits) -> String {
    let commits = returning.commits.iter().take(MAX_NAMED).map(|commit| commit_line(&commit.sha, &commit.subject, &commit.author));
    let mut named: Vec<String> = commits.collect();
    let rest = returning.total.saturating_sub(u32::try_from(named.len()).unwrap_or(u32::MAX));
    if rest > 0 {
        named.push(format!("and {rest} more"));
    }
    named.join(", ")
}
