//! One step of the merge queue: merges an approved commit into the project branch, or returns it to its coder with the reason. `batch` does so
//! for several tasks at once.
//!
//! It must not choose the task; the schedule did.

mod batch;
pub(super) mod conflict;
mod message;
mod pull_request;

use std::path::Path;

use db::Db;
use domain::board::card::Card;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::check::CheckStage;
use domain::runs::evidence::Sha;
use domain::runs::profile::{MergeStyle, PullRequests};
use repo::{MergeOutcome, RepoError};

pub(crate) use self::batch::merge_all;
use self::conflict::Conflicts;
use super::base;
use super::branch::{self, project_branch};
use super::check::{self, Subject, Verdict};
use super::checkout::{CheckoutError, with_files};
use crate::runs::publication::Tools;
use crate::runs::run::RunContext;

enum MergeResult {
    Merged {
        head: String,
        tree: Sha,
    },
    Conflict(Conflicts),
    /// The task's branch no longer points to the approved commit.
    Moved,
}

/// Merges the approved commit of `id`, once the checks of its project have passed on the merge. Repeating it is harmless.
///
/// # Errors
/// When the repository or the store fails; the task stays approved.
pub(crate) async fn merge(context: &RunContext, id: &TaskId) -> Result<(), CheckoutError> {
    merge_with(context, &Tools::installed(), id).await
}

/// As [`merge()`], with these programs for pull requests.
pub(crate) async fn merge_with(context: &RunContext, tools: &Tools, id: &TaskId) -> Result<(), CheckoutError> {
    let db = &context.db;
    let task = db.task(id).await?;
    let project = db.project(&task.card.project_id).await?;
    let Some(sha) = task.card.approved_sha.clone().filter(|_| task.card.is_approved()) else { return Ok(()) };
    let is_merged = task.card.was_merged_on_host();
    let followed = base::follow_before_merge(context, &project.id, (id, &sha), is_merged).await;
    // The base may have moved the project branch.
    let project = db.project(&project.id).await?;
    let (branch, tip) = match project_branch(db, &project).await {
        Err(CheckoutError::UnapprovedCommits(found)) => return Ok(branch::request_decision(db, id, &found).await?),
        found => found?,
    };
    let step = Step::new(db, &project, &task, (&branch, &tip), &sha).await?;
    if is_merged {
        return pull_request::finish(context, tools, &step, &followed).await;
    }
    // Others know nothing of the project branch, so what only brings it forward is merged here.
    if project.profile.pull_requests == PullRequests::Task && !step.is_sync {
        return pull_request::open(context, tools, &step).await;
    }
    if !project.profile.checks.full.commands.is_empty() && !has_passed_checks(context, &step).await? {
        return Ok(());
    }
    let merged = match step.in_repository(Merging::Branch).await {
        // Someone moved the branch meanwhile. The task is still approved, so the next tick tries again.
        Err(CheckoutError::Repository { error: RepoError::Moved { .. } }) => return Ok(()),
        merged => merged?,
    };
    let recorded = match merged {
        MergeResult::Merged { head, tree } => db.record_merge(id, &sha, &branch, &head, &tree).await.map(drop),
        MergeResult::Moved => db.revoke_approval(id, &sha).await,
        MergeResult::Conflict(conflicts) => {
            db.record_merge_failure(id, &sha, &conflict::text(&context.config().prompts, &sha, &branch, &conflicts)).await.map(drop)
        }
    };
    settled(db, id, &sha, recorded).await
}

/// Runs the checks of the project on the merge, before the branch moves. Returns false if there is nothing to merge for now: the task went back
/// to its coder, or waits for the person.
async fn has_passed_checks(context: &RunContext, step: &Step<'_>) -> Result<bool, CheckoutError> {
    let (db, id, sha) = (&context.db, &step.task.card.id, step.sha);
    // A conflict needs no check.
    let MergeResult::Merged { head, tree } = step.in_repository(Merging::Nothing).await? else { return Ok(true) };
    // Its tip may be newer than the project that was read.
    let project = db.project(&step.project.id).await?;
    if project.integration_head.as_ref() == Some(&head) {
        return Ok(true);
    }
    let subject = Subject { project, work: vec![(id.clone(), sha.clone())], stage: CheckStage::Full, commit: head, tree };
    match check::check(context, &subject).await? {
        Verdict::Passed => Ok(db.may_record_merge(id, sha, &subject.tree).await?),
        Verdict::Unwanted => Ok(false),
        Verdict::NotRun { why } => {
            check::request_repair(db, id, &why).await?;
            Ok(false)
        }
        Verdict::Failed(failed) => {
            let recorded = db.record_merge_failure(id, sha, &check::text(&context.config().prompts, sha, Some(step.branch), &failed)).await.map(drop);
            settled(db, id, sha, recorded).await.map(|()| false)
        }
    }
}

async fn settled(db: &Db, id: &TaskId, sha: &str, recorded: db::Result<()>) -> Result<(), CheckoutError> {
    match recorded {
        // The human moved the card meanwhile, and that decision stands.
        Err(db::Error::Refused(_)) if !is_approved_at(&db.card(id).await?, sha) => Ok(()),
        recorded => Ok(recorded?),
    }
}

fn is_approved_at(card: &Card, sha: &str) -> bool {
    card.is_approved() && card.approved_sha.as_deref() == Some(sha)
}

/// The effect of a merge on the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Merging {
    /// Nothing: it only shows what the project branch would be.
    Nothing,
    Branch,
}

/// One merge: into the `tip` that was compared with the record, and into no other.
struct Step<'a> {
    project: &'a Project,
    task: &'a Task,
    branch: &'a str,
    tip: &'a Sha,
    /// The approved commit.
    sha: &'a Sha,
    /// Whether the task brings the base branch and the project branch together.
    is_sync: bool,
}

impl<'a> Step<'a> {
    async fn new(db: &Db, project: &'a Project, task: &'a Task, (branch, tip): (&'a str, &'a Sha), sha: &'a Sha) -> db::Result<Self> {
        let is_sync = db.open_sync_task(&project.id).await?.as_ref() == Some(&task.card.id);
        Ok(Self { project, task, branch, tip, sha, is_sync })
    }

    /// How the work of the task comes to the project branch.
    fn style(&self) -> MergeStyle {
        // The base must become an ancestor of the project branch.
        if self.is_sync { MergeStyle::Merge } else { self.project.profile.merge_style }
    }

    async fn in_repository(&self, merging: Merging) -> Result<MergeResult, CheckoutError> {
        let (git_dir, into, tip, sha) = (Path::new(&self.project.git_dir), self.branch.to_owned(), self.tip.clone(), self.sha.clone());
        let own_branch = self.task.branch.clone();
        let style = self.style();
        let message = message::of(self.task, style);
        // A landing of the same repository reads the project branch and must not see it move.
        let exclusive = repo::exclusive(git_dir).await?;
        // A signature may wait for the person.
        with_files(git_dir, move |repository| {
            let _exclusive = exclusive;
            let own_tip = match &own_branch {
                Some(branch) => repository.ref_sha(branch)?,
                None => None,
            };
            if own_tip.is_some_and(|own_tip| own_tip != sha) {
                return Ok(MergeResult::Moved);
            }
            let identity = repository.identity("runner")?;
            // Nobody keeps what only shows a merge.
            let identity = if merging == Merging::Nothing { identity.unsigned() } else { identity };
            let merged = match (merging, style) {
                (Merging::Nothing, MergeStyle::Merge) => repository.merge_commit(&tip, &sha, &message, &identity)?,
                (Merging::Nothing, MergeStyle::Squash) => repository.squash_commit(&tip, &sha, &message, &identity)?,
                (Merging::Branch, MergeStyle::Merge) => repository.merge(&into, &tip, &sha, &message, &identity)?,
                (Merging::Branch, MergeStyle::Squash) => repository.squash(&into, &tip, &sha, &message, &identity)?,
            };
            Ok(match merged {
                MergeOutcome::Merged { sha: head, .. } => MergeResult::Merged { tree: repository.tree_of(&head)?, head },
                MergeOutcome::Conflict { paths } => MergeResult::Conflict(Conflicts { paths, files: repository.conflicts(&tip, &sha)? }),
            })
        })
        .await
    }
}

#[cfg(test)]
mod tests;
