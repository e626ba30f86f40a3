//! Removes the locks that a killed server left on our references.
//!
//! It must not touch a name that the store does not own, nor a task with a live run: its agent may be committing.

use std::collections::BTreeMap;
use std::path::Path;

use db::Db;

use super::with_repository;

/// Removes stale locks. Call it once, before the runner first writes to a repository: the store admits one server, so no other process
/// of ours holds one. A repository that cannot be opened is skipped, because the next task that needs it reports the error on its card.
///
/// # Errors
/// When the store fails.
pub(crate) async fn unlock(db: &Db) -> db::Result<()> {
    let mut by_repository = BTreeMap::<String, Vec<String>>::new();
    for (git_dir, name) in db.idle_references().await? {
        by_repository.entry(git_dir).or_default().push(name);
    }
    for (git_dir, names) in by_repository {
        let unlocked = with_repository(Path::new(&git_dir), move |repository| {
            for name in names {
                if repository.clear_lock(&name)? {
                    tracing::info!(reference = name, "removed a lock that a killed server left");
                }
            }
            Ok(())
        });
        if let Err(error) = unlocked.await {
            tracing::warn!(%error, "could not check for stale locks");
        }
    }
    Ok(())
}
