//! One step of the merge queue: merges an approved commit into the project branch, or returns it to its coder with the reason.
//!
//! It must not choose the task; the schedule did.

use std::path::Path;

use db::Db;
use domain::board::card::Card;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::evidence::Sha;
use repo::{MergeOutcome, RepoError};

use super::branch::{self, project_branch};
use super::checkout::{CheckoutError, with_repository};
use crate::prompt;

/// How many conflicting files the comment lists.
const MAX_LISTED_PATHS: usize = 50;

enum MergeResult {
    Merged {
        head: String,
    },
    Conflict {
        paths: Vec<String>,
    },
    /// The task's branch no longer points to the approved commit.
    Moved,
}

/// Merges the approved commit of `id`. Repeating it is harmless.
///
/// # Errors
/// When the repository or the store fails; the task stays approved.
pub(crate) async fn merge(db: &Db, id: &TaskId) -> Result<(), CheckoutError> {
    let task = db.task(id).await?;
    let project = db.project(&task.card.project_id).await?;
    let Some(sha) = task.card.approved_sha.clone().filter(|_| task.card.is_approved()) else { return Ok(()) };
    let (branch, tip) = match project_branch(db, &project).await {
        Err(CheckoutError::UnapprovedCommits(found)) => return Ok(branch::request_decision(db, id, &found).await?),
        found => found?,
    };
    let merged = match merge_in_repository(&project, &task, &branch, tip, &sha).await {
        // Somebody moved the branch meanwhile. The task is still approved, so the next tick tries again.
        Err(CheckoutError::Repository { error: RepoError::Moved { .. } }) => return Ok(()),
        merged => merged?,
    };
    let recorded = match merged {
        MergeResult::Merged { head } => db.record_merge(id, &sha, &branch, &head).await.map(drop),
        MergeResult::Moved => db.revoke_approval(id, &sha).await,
        MergeResult::Conflict { paths } => db.record_merge_failure(id, &sha, &conflict_text(&sha, &branch, &paths)).await.map(drop),
    };
    match recorded {
        // The human moved the card meanwhile, and that decision stands.
        Err(db::Error::Refused(_)) if !is_approved_at(&db.card(id).await?, &sha) => Ok(()),
        recorded => Ok(recorded?),
    }
}

fn is_approved_at(card: &Card, sha: &str) -> bool {
    card.is_approved() && card.approved_sha.as_deref() == Some(sha)
}

fn conflict_text(sha: &str, branch: &str, paths: &[String]) -> String {
    let mut listed: Vec<String> = paths.iter().take(MAX_LISTED_PATHS).map(|path| format!("- {path}")).collect();
    if paths.len() > MAX_LISTED_PATHS {
        listed.push(format!("- and {} more", paths.len() - MAX_LISTED_PATHS));
    }
    prompt::conflict(sha, branch, &listed.join("\n"))
}

/// Merges into the `tip` that was compared with the record, and into no other.
async fn merge_in_repository(project: &Project, task: &Task, into: &str, tip: Sha, sha: &str) -> Result<MergeResult, CheckoutError> {
    let (git_dir, into, sha) = (Path::new(&project.git_dir), into.to_owned(), sha.to_owned());
    let own_branch = task.branch.clone();
    let message = format!("Merge {id}: {title}\n\nTask: {id}\n", id = task.card.id, title = task.card.title);
    // A landing of the same repository reads the project branch and must not see it move.
    let exclusive = repo::exclusive(git_dir).await?;
    with_repository(git_dir, move |repository| {
        let _exclusive = exclusive;
        let own_tip = match &own_branch {
            Some(branch) => repository.ref_sha(branch)?,
            None => None,
        };
        if own_tip.is_some_and(|own_tip| own_tip != sha) {
            return Ok(MergeResult::Moved);
        }
        let identity = repository.identity("runner")?;
        Ok(match repository.merge(&into, &tip, &sha, &message, &identity)? {
            MergeOutcome::Merged { sha: head, .. } => MergeResult::Merged { head },
            MergeOutcome::Conflict { paths } => MergeResult::Conflict { paths },
        })
    })
    .await
}

#[cfg(test)]
mod tests;
