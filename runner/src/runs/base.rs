//! Follows the base branch: merges what it and its upstream gained into the project branch, or lets a coder do that if it conflicts.
//!
//! A base that cannot be followed now is followed later, and no other work waits for that. It must not write a branch of the person.

mod fetch;
mod landing;

use std::path::Path;

use db::BaseMerge;
use domain::board::project::Project;
use domain::id::{ProjectId, TaskId};
use domain::runs::check::CheckStage;
use domain::runs::evidence::{Sha, short};
use domain::runs::profile::PullRequests;
use repo::{MergeOutcome, RepoError};

use self::fetch::Freshness;
pub use self::landing::follow_before_landing;
use super::branch::project_branch;
use super::check::{self, Subject, Verdict};
use super::checkout::{CheckoutError, with_files, with_repository};
use super::merge::conflict::Conflicts;
use crate::prompt;
use crate::runs::run::RunContext;

/// Outcome of a merge of the base that moved no branch.
enum Outcome {
    Merged {
        head: Sha,
        tree: Sha,
    },
    Conflict(Conflicts),
    /// The project branch has it already.
    Nothing,
}

/// Follows the base before the approved commit of a task is merged, with the checks that the merge of the task itself would run. If its pull
/// request was merged, the base is read at once.
pub(super) async fn follow_before_merge(context: &RunContext, id: &ProjectId, (task, approved): (&TaskId, &Sha), is_merged: bool) -> Followed {
    let checks = Checks::Of { work: vec![(task.clone(), approved.clone())] };
    let freshness = if is_merged { Freshness::Now } else { Freshness::Recent };
    report(id, follow(context, id, freshness, &checks).await)
}

/// Follows the base before a run starts from the project branch. A project with checks follows before merges and landings only.
pub(super) async fn follow_before_start(context: &RunContext, id: &ProjectId) {
    report(id, follow(context, id, Freshness::Recent, &Checks::None).await);
}

/// How following the base ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Followed {
    /// The project branch has everything that it can have now. The rest has a task of its own, or is not wanted.
    AsFarAsPossible,
    /// The project branch or the profile of the project changed meanwhile, so that following has to start again.
    Interrupted,
    /// The checks could not run on the merge with the base.
    NotChecked { why: String },
}

fn report(id: &ProjectId, followed: Result<Followed, CheckoutError>) -> Followed {
    match followed {
        Ok(followed) => return followed,
        // The next step that needs the project branch asks the person about these.
        Err(CheckoutError::UnapprovedCommits(_)) => {}
        // Someone else was faster.
        Err(CheckoutError::Repository { error: RepoError::Moved { .. } }) => return Followed::Interrupted,
        Err(error) => tracing::warn!(project = %id, %error, "the base branch was not followed; trying again later"),
    }
    Followed::AsFarAsPossible
}

/// Whether checks of the project can run now.
enum Checks {
    /// They cannot, so a project with checks follows later.
    None,
    /// They can, as part of the merge of `work`, or for a landing without one.
    Of { work: Vec<(TaskId, Sha)> },
}

async fn follow(context: &RunContext, id: &ProjectId, freshness: Freshness, checks: &Checks) -> Result<Followed, CheckoutError> {
    let db = &context.db;
    let project = db.project(id).await?;
    if !project.profile.follow_base || project.archived_at.is_some() {
        return Ok(Followed::AsFarAsPossible);
    }
    fetch::fetch(db, &project, freshness).await;
    let has_checks = !project.profile.checks.full.commands.is_empty();
    if has_checks && matches!(checks, Checks::None) {
        return Ok(Followed::AsFarAsPossible);
    }
    let (_, tip) = project_branch(db, &project).await?;
    // Its base may have gained commits since.
    let project = db.project(id).await?;
    let (base_branch, base_head) = (project.base_branch.clone(), project.base_head.clone());
    let lacking = with_repository(Path::new(&project.git_dir), move |repository| repository.unmerged_base_tips(&tip, &base_branch, &base_head));
    for sha in lacking.await? {
        if let Some(ended) = follow_tip(context, &project, &sha, checks).await? {
            return Ok(ended);
        }
    }
    Ok(Followed::AsFarAsPossible)
}

/// Merges one tip. Returns how following ended if that was not possible.
async fn follow_tip(context: &RunContext, project: &Project, sha: &Sha, checks: &Checks) -> Result<Option<Followed>, CheckoutError> {
    let db = &context.db;
    let ended = Ok(Some(Followed::AsFarAsPossible));
    let (branch, tip) = project_branch(db, project).await?;
    let (head, tree) = match try_merge(project, &branch, &tip, sha).await? {
        Outcome::Merged { head, tree } => (head, tree),
        Outcome::Nothing => return Ok(None),
        Outcome::Conflict(conflicts) => {
            let details = conflicts.to_markdown(short(&tip), short(sha));
            request_sync(context, project, &branch, sha, "conflicts in:", &details).await?;
            return ended;
        }
    };
    if let Checks::Of { work } = checks
        && !project.profile.checks.full.commands.is_empty()
    {
        let (project, work) = (project.clone(), work.clone());
        let subject = Subject { project, work, stage: CheckStage::Full, commit: head.clone(), tree };
        match check::check(context, &subject).await? {
            Verdict::Passed => {}
            Verdict::Failed(failed) => {
                let details = check::results_markdown(&failed);
                request_sync(context, &subject.project, &branch, sha, "fails these checks:", &details).await?;
                return ended;
            }
            Verdict::NotRun { why } => return Ok(Some(Followed::NotChecked { why })),
            Verdict::Unwanted => return Ok(Some(Followed::Interrupted)),
        }
    }
    let git_dir = Path::new(&project.git_dir);
    let exclusive = repo::exclusive(git_dir).await?;
    let (name, from, to) = (branch.clone(), tip.clone(), head.clone());
    with_repository(git_dir, move |repository| {
        let _exclusive = exclusive;
        repository.advance(&name, &from, &to, "vibe-relay: followed the base branch")
    })
    .await?;
    let merge = BaseMerge { from: tip, branch, head, base_branch: project.base_branch.clone(), sha: sha.clone() };
    db.record_base_merge(&project.id, merge).await?;
    Ok(None)
}

async fn try_merge(project: &Project, branch: &str, tip: &Sha, sha: &Sha) -> Result<Outcome, CheckoutError> {
    let message = format!("Merge {} into {branch}\n\nProject: {}\n", project.base_branch, project.id);
    let (tip, sha, landed) = (tip.clone(), sha.clone(), project.landed_by_pull_request().cloned());
    // All work goes through the base, so the pull requests of the next tasks need no merges of it.
    let goes_along = project.profile.pull_requests == PullRequests::Task;
    // A signature may wait for the person.
    with_files(Path::new(&project.git_dir), move |repository| {
        if goes_along && repository.is_ancestor(&tip, &sha)? {
            return Ok(if tip == sha { Outcome::Nothing } else { Outcome::Merged { tree: repository.tree_of(&sha)?, head: sha } });
        }
        Ok(match repository.merge_base_commit(&tip, &sha, landed.as_ref(), &message, &repository.identity("runner")?)? {
            MergeOutcome::Merged { already: true, .. } => Outcome::Nothing,
            MergeOutcome::Merged { sha: head, .. } => Outcome::Merged { tree: repository.tree_of(&head)?, head },
            // The lines of the project branch come first, as in the worktree of the coder.
            MergeOutcome::Conflict { paths } => Outcome::Conflict(Conflicts { paths, files: repository.conflicts(&sha, &tip)? }),
        })
    })
    .await
}

/// Creates the task that brings both sides together, unless there is one.
async fn request_sync(context: &RunContext, project: &Project, branch: &str, sha: &Sha, problem: &str, details: &str) -> Result<(), CheckoutError> {
    let (db, base_branch) = (&context.db, &project.base_branch);
    let description = prompt::sync(&context.config().prompts, base_branch, sha, branch, problem, details);
    if let Some(task) = db.create_sync_task(&project.id, sha, &format!("Merge {base_branch} into the project branch"), &description).await? {
        tracing::info!(project = %project.id, %task, %sha, "the base branch needs a coder to follow it");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
