//! Keeps the history of knowledge as files: a bare repository for each project, beside the database. The same files are written into the checkout
//! of the person only if the owner chose that for the project.
//!
//! The rows are the truth. A commit that fails is made again with the next change, and a repository that is gone is made again. It must not
//! decide what a file is called or says; `domain` does.

mod checkout;
pub(crate) mod mirror;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use db::Db;
use domain::id::ProjectId;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgePlace};
use repo::{Effort, in_lane, record_files};
use tokio::time::sleep;

/// The folder beside the database.
const FOLDER: &str = "knowledge";
/// The pause after a change, in which more of them become one commit, and the pause after a failure.
const COMMIT_INTERVAL: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

/// The repository of a project.
pub(crate) fn repository(db: &Db, project: &ProjectId) -> PathBuf {
    db.folder().join(FOLDER).join(format!("{project}.git"))
}

/// Commits what changed, now and after each change. Without changes, it costs one look at an empty index.
pub(crate) async fn run(db: Db) {
    let mut commits = db.subscribe();
    loop {
        commits.borrow_and_update();
        let pause = match store(&db).await {
            Ok(()) => COMMIT_INTERVAL,
            Err(StoreError::Store(db::Error::Closed)) => return,
            Err(error) => {
                tracing::warn!(%error, "the history of knowledge was not written; it is tried again");
                RETRY_INTERVAL
            }
        };
        if commits.changed().await.is_err() {
            return;
        }
        sleep(pause).await;
    }
}

#[derive(Debug, thiserror::Error)]
enum StoreError {
    #[error(transparent)]
    Store(#[from] db::Error),
    #[error(transparent)]
    Repository(#[from] repo::RepoError),
}

/// Commits all changes, one commit for each project and batch.
async fn store(db: &Db) -> Result<(), StoreError> {
    loop {
        let items = db.unstored_knowledge().await?;
        let Some(first) = items.first() else { return Ok(()) };
        let git_dir = repository(db, &first.project_id);
        // Of a database that was restored without its repositories.
        if git_dir.symlink_metadata().is_err() && db.forget_stored_knowledge(&first.project_id).await? > 0 {
            continue;
        }
        let project = db.project(&first.project_id).await?;
        let (changes, message) = (changes(&items), message(&items));
        let (lane, recorded) = (git_dir.clone(), changes.clone());
        in_lane(&lane, Effort::Brief, move || record_files(&git_dir, &recorded, &message)).await??;
        if project.knowledge == KnowledgePlace::Repo {
            checkout::write(PathBuf::from(project.repo_path), changes).await;
        }
        db.knowledge_stored(items).await?;
    }
}

/// Returns the files of items in the order of their numbers. One that was closed leaves its place, unless a later one has taken it.
fn changes(items: &[Knowledge]) -> BTreeMap<String, Option<String>> {
    let mut changes = BTreeMap::new();
    for item in items {
        if item.closed_at.is_some() {
            changes.insert(Knowledge { closed_at: None, ..item.clone() }.file(), None);
        }
        changes.insert(item.file(), Some(item.markdown()));
    }
    changes
}

/// Names the files with those who changed them, the first ones as far as they fit on a line.
fn message(items: &[Knowledge]) -> String {
    let line = |item: &Knowledge| format!("{}: {}", item.closed_by.as_ref().unwrap_or(&item.author), item.file());
    match items {
        [one] => line(one),
        all => format!("{} files\n\n{}", all.len(), all.iter().map(line).collect::<Vec<_>>().join("\n")),
    }
}

/// Whether agents read the file of an item in their worktree.
fn is_mirrored(item: &Knowledge) -> bool {
    item.closed_at.is_none() && item.kind != KnowledgeKind::Note
}

#[cfg(test)]
pub(crate) mod tests;
