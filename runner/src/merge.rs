//! The merge queue's one step: an approved commit into the project branch, or back to its coder with the reason.

use std::path::PathBuf;

use db::Db;
use domain::board::card::Card;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::evidence::Sha;
use repo::{MergeOutcome, RepoError, Repository};

use crate::checkout::{self, CheckoutError, blocking, project_branch};
use crate::prompt;

/// What the repository said.
enum Outcome {
    Merged {
        head: String,
    },
    Conflict {
        paths: Vec<String>,
    },
    /// The branch points elsewhere than to the approved commit.
    Moved,
}

/// As many conflicting files are named in the comment.
const PATHS_NAMED: usize = 50;

/// Merges the approved commit of `id`. Done twice, the second time finds it merged.
///
/// # Errors
/// When the repository or the store fails; the task stays approved.
pub(crate) async fn merge(db: &Db, id: &TaskId) -> Result<(), CheckoutError> {
    let task = db.task(id).await?;
    let project = db.project(&task.card.project_id).await?;
    let Some(sha) = task.card.approved_sha.clone().filter(|_| task.card.is_approved()) else { return Ok(()) };
    let (branch, tip) = match project_branch(db, &project).await {
        Err(CheckoutError::Foreign(foreign)) => return Ok(checkout::ask(db, id, &foreign).await?),
        found => found?,
    };
    let outcome = match in_repository(&project, &task, &branch, tip, &sha).await {
        // Somebody else was faster. The task is still approved, so the next look tries again.
        Err(CheckoutError::Repository { error: RepoError::Moved { .. } }) => return Ok(()),
        outcome => outcome?,
    };
    let recorded = match outcome {
        Outcome::Merged { head } => db.record_merge(id, &sha, &branch, &head).await.map(drop),
        Outcome::Moved => db.revoke_approval(id, &sha).await,
        Outcome::Conflict { paths } => db.record_merge_failure(id, &sha, &conflict(&sha, &branch, &paths)).await.map(drop),
    };
    match recorded {
        // The person moved the card meanwhile: that is not the repository's failure, and their word counts.
        Err(db::Error::Refused(_)) if !is_approved_at(&db.card(id).await?, &sha) => Ok(()),
        recorded => Ok(recorded?),
    }
}

fn is_approved_at(card: &Card, sha: &str) -> bool {
    card.is_approved() && card.approved_sha.as_deref() == Some(sha)
}

/// What the coder is told.
fn conflict(sha: &str, branch: &str, paths: &[String]) -> String {
    let mut named: Vec<String> = paths.iter().take(PATHS_NAMED).map(|path| format!("- {path}")).collect();
    if paths.len() > PATHS_NAMED {
        named.push(format!("- and {} more", paths.len() - PATHS_NAMED));
    }
    prompt::conflict(sha, branch, &named.join("\n"))
}

/// Merges into the `tip` that was judged, and into no other.
async fn in_repository(project: &Project, task: &Task, into: &str, tip: Sha, sha: &str) -> Result<Outcome, CheckoutError> {
    let (git_dir, into, sha) = (PathBuf::from(&project.git_dir), into.to_owned(), sha.to_owned());
    let own = task.branch.clone();
    let message = format!("Merge {id}: {title}\n\nTask: {id}\n", id = task.card.id, title = task.card.title);
    blocking(move || {
        let repository = Repository::open(&git_dir)?;
        let own_tip = match &own {
            Some(branch) => repository.ref_sha(branch)?,
            None => None,
        };
        if own_tip.is_some_and(|own_tip| own_tip != sha) {
            return Ok(Outcome::Moved);
        }
        let identity = repository.identity("runner")?;
        Ok(match repository.merge(&into, &tip, &sha, &message, &identity)? {
            MergeOutcome::Merged { sha: head, .. } => Outcome::Merged { head },
            MergeOutcome::Conflict { paths } => Outcome::Conflict { paths },
        })
    })
    .await
}

#[cfg(test)]
mod tests;
