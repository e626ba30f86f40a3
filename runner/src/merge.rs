//! The merge queue's one step: an approved commit into the project branch, or back to its coder with the reason.

use std::path::PathBuf;

use db::Db;
use domain::id::TaskId;
use domain::project::Project;
use domain::task::Task;
use repo::{MergeOutcome, Repository};

use crate::checkout::{CheckoutError, blocking, project_branch};

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

/// Merges the approved commit of `id`. Done twice, the second time finds it merged.
///
/// # Errors
/// When the repository or the store fails; the task stays approved.
pub(crate) async fn merge(db: &Db, id: &TaskId) -> Result<(), CheckoutError> {
    let task = db.task(id).await?;
    let project = db.project(&task.card.project_id).await?;
    let Some(sha) = task.card.approved_sha.clone().filter(|_| task.card.is_approved()) else { return Ok(()) };
    let (branch, _) = project_branch(db, &project).await?;
    match in_repository(&project, &task, &branch, &sha).await? {
        Outcome::Merged { head } => db.merged(id, &sha, &branch, &head).await.map(|_| ())?,
        Outcome::Moved => db.void_approval(id, &sha).await?,
        Outcome::Conflict { paths } => {
            let reason = format!(
                "Merging {sha} into {branch} conflicts in:\n\n{}\n\nMerge {branch} into this branch, resolve the conflicts, run the tests, commit, and move the task to review again.",
                paths.iter().map(|path| format!("- {path}")).collect::<Vec<_>>().join("\n")
            );
            db.merge_failed(id, &sha, &reason).await.map(|_| ())?;
        }
    }
    Ok(())
}

async fn in_repository(project: &Project, task: &Task, into: &str, sha: &str) -> Result<Outcome, CheckoutError> {
    let (git_dir, into, sha) = (PathBuf::from(&project.git_dir), into.to_owned(), sha.to_owned());
    let own = task.branch.clone();
    let message = format!("Merge {id}: {title}\n\nTask: {id}\n", id = task.card.id, title = task.card.title);
    blocking(move || {
        let repository = Repository::open(&git_dir)?;
        let tip = match &own {
            Some(branch) => repository.ref_sha(branch)?,
            None => None,
        };
        if tip.is_some_and(|tip| tip != sha) {
            return Ok(Outcome::Moved);
        }
        let identity = repository.identity("runner")?;
        Ok(match repository.merge(&into, &sha, &message, &identity)? {
            MergeOutcome::Merged { sha: head, .. } => Outcome::Merged { head },
            MergeOutcome::Conflict { paths } => Outcome::Conflict { paths },
        })
    })
    .await
}
