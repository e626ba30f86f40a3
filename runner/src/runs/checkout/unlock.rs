//! Removes the locks that a killed server left on our references.
//!
//! It must not touch a name that the store does not own, nor a task with a live run: its agent may be committing.

use std::collections::BTreeSet;
use std::path::Path;

use db::Db;
use repo::Repository;

use super::with_repository;

/// Removes the stale locks of a repository. Call it once, before the runner first writes to it: the store admits one server, so no other
/// process of ours holds one. A repository that cannot be opened is skipped, because the next task that needs it reports the error on its
/// card. Returns whether the repository responded.
///
/// # Errors
/// When the store fails.
pub(crate) async fn unlock(db: &Db, git_dir: &str) -> db::Result<bool> {
    let names = db.idle_references(git_dir).await?;
    let unlocked = with_repository(Path::new(git_dir), move |repository| {
        for name in names {
            if repository.clear_lock(&name)? {
                tracing::info!(reference = name, "removed a lock that a killed server left");
            }
        }
        Ok(())
    });
    let unlocked = unlocked.await;
    if let Err(error) = &unlocked {
        tracing::warn!(%error, "could not check for stale locks");
    }
    Ok(!unlocked.is_err_and(|error| error.is_outage()))
}

/// Removes the locks that a killed landing left in the checkouts of people, whose own git waits for nothing else.
///
/// # Errors
/// When the store fails.
pub(crate) async fn unlock_landings(db: &Db) -> db::Result<()> {
    let repositories: BTreeSet<String> = db.projects().await?.into_iter().map(|project| project.git_dir).collect();
    for git_dir in repositories {
        match with_repository(Path::new(&git_dir), Repository::clear_landing_locks).await {
            Ok(removed) => removed.iter().for_each(|lock| tracing::info!(lock = %lock.display(), "removed a lock that a killed server left")),
            Err(error) => tracing::warn!(git_dir, %error, "could not check for the lock of a killed landing"),
        }
    }
    Ok(())
}
