//! Follows the base branch: merges what it and its upstream gained into the project branch, or lets a coder do that if it conflicts.
//!
//! A base that cannot be followed now is followed later, and no other work waits for that. It must not write a branch of the person.

mod fetch;

use std::path::Path;

use db::{BaseMerge, Db};
use domain::board::project::Project;
use domain::id::{ProjectId, TaskId};
use domain::runs::check::CheckStage;
use domain::runs::evidence::{Sha, short};
use repo::{MergeOutcome, RepoError};

use self::fetch::Freshness;
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

/// Follows the base before the approved commit of a task is merged, with the checks that the merge of the task itself would run.
pub(super) async fn follow_before_merge(context: &RunContext, id: &ProjectId, task: &TaskId, approved: &Sha) {
    let checks = Checks::Of { context, task, approved };
    report(id, follow(&context.db, id, Freshness::Recent, checks).await);
}

/// Follows the base before a run starts from the project branch. A project with checks follows before its merges only.
pub(super) async fn follow_before_start(db: &Db, id: &ProjectId) {
    report(id, follow(db, id, Freshness::Recent, Checks::None).await);
}

/// Follows the base before the project branch lands on it. A project with checks follows before its merges only.
pub async fn follow_before_landing(db: &Db, id: &ProjectId) {
    report(id, follow(db, id, Freshness::Now, Checks::None).await);
}

fn report(id: &ProjectId, followed: Result<(), CheckoutError>) {
    match followed {
        // The next step that needs the project branch asks the person about these.
        Ok(()) | Err(CheckoutError::UnapprovedCommits(_)) => {}
        // Somebody else was faster.
        Err(CheckoutError::Repository { error: RepoError::Moved { .. } }) => {}
        Err(error) => tracing::warn!(project = %id, %error, "the base branch was not followed; trying again later"),
    }
}

/// The work as part of which checks of the project can run.
#[derive(Clone, Copy)]
enum Checks<'a> {
    /// Nobody: a merge of the base waits for one of a task.
    None,
    /// The merge of an approved commit.
    Of { context: &'a RunContext, task: &'a TaskId, approved: &'a Sha },
}

async fn follow(db: &Db, id: &ProjectId, freshness: Freshness, checks: Checks<'_>) -> Result<(), CheckoutError> {
    let project = db.project(id).await?;
    if !project.profile.follow_base || project.archived_at.is_some() {
        return Ok(());
    }
    fetch::fetch(db, &project, freshness).await;
    let has_checks = !project.profile.checks.full.commands.is_empty();
    if has_checks && matches!(checks, Checks::None) {
        return Ok(());
    }
    let (_, tip) = project_branch(db, &project).await?;
    // Its base may have gained commits since.
    let project = db.project(id).await?;
    let (base_branch, base_head) = (project.base_branch.clone(), project.base_head.clone());
    let lacking = with_repository(Path::new(&project.git_dir), move |repository| repository.unmerged_base_tips(&tip, &base_branch, &base_head));
    for sha in lacking.await? {
        if !follow_tip(db, &project, &sha, checks).await? {
            break;
        }
    }
    Ok(())
}

/// Merges one tip. Returns false if that was not possible.
async fn follow_tip(db: &Db, project: &Project, sha: &Sha, checks: Checks<'_>) -> Result<bool, CheckoutError> {
    let (branch, tip) = project_branch(db, project).await?;
    let (head, tree) = match try_merge(project, &branch, &tip, sha).await? {
        Outcome::Merged { head, tree } => (head, tree),
        Outcome::Nothing => return Ok(true),
        Outcome::Conflict(conflicts) => {
            let details = conflicts.to_markdown(short(&tip), short(sha));
            return request_sync(db, project, &branch, sha, "conflicts in:", &details).await.map(|()| false);
        }
    };
    if let Checks::Of { context, task, approved } = checks
        && !project.profile.checks.full.commands.is_empty()
    {
        let (project, task) = (project.clone(), task.clone());
        let subject = Subject { project, task, stage: CheckStage::Full, sha: approved.clone(), commit: head.clone(), tree };
        match check::check(context, &subject).await? {
            Verdict::Passed => {}
            Verdict::Failed(failed) => {
                let details = check::results_markdown(&failed);
                return request_sync(db, &subject.project, &branch, sha, "fails these checks:", &details).await.map(|()| false);
            }
            // The merge of the task itself says why.
            Verdict::NotRun { .. } | Verdict::Unwanted => return Ok(false),
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
    Ok(true)
}

async fn try_merge(project: &Project, branch: &str, tip: &Sha, sha: &Sha) -> Result<Outcome, CheckoutError> {
    let message = format!("Merge {} into {branch}\n\nProject: {}\n", project.base_branch, project.id);
    let (tip, sha) = (tip.clone(), sha.clone());
    // A signature may wait for the person.
    with_files(Path::new(&project.git_dir), move |repository| {
        Ok(match repository.merge_commit(&tip, &sha, &message, &repository.identity("runner")?)? {
            MergeOutcome::Merged { already: true, .. } => Outcome::Nothing,
            MergeOutcome::Merged { sha: head, .. } => Outcome::Merged { tree: repository.tree_of(&head)?, head },
            // The lines of the project branch come first, as in the worktree of the coder.
            MergeOutcome::Conflict { paths } => Outcome::Conflict(Conflicts { paths, files: repository.conflicts(&sha, &tip)? }),
        })
    })
    .await
}

/// Creates the task that brings both sides together, unless there is one.
async fn request_sync(db: &Db, project: &Project, branch: &str, sha: &Sha, problem: &str, details: &str) -> Result<(), CheckoutError> {
    let base_branch = &project.base_branch;
    let description = prompt::sync(base_branch, sha, branch, problem, details);
    if let Some(task) = db.create_sync_task(&project.id, sha, &format!("Merge {base_branch} into the project branch"), &description).await? {
        tracing::info!(project = %project.id, %task, %sha, "the base branch needs a coder to follow it");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
