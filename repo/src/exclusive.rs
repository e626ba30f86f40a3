//! One lock per repository for work of this process that moves branches: naming, merging and landing.
//!
//! It must not know what is done under the lock. Other processes are kept out by git's own lock files and by comparing tips.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

type RepositoryLock = Arc<tokio::sync::Mutex<()>>;

static LOCKS: LazyLock<Mutex<HashMap<PathBuf, RepositoryLock>>> = LazyLock::new(Mutex::default);

/// Waits until no other task of this process has the repository at `git_dir`, and keeps it until the guard is dropped. The lock is not
/// reentrant.
pub async fn exclusive(git_dir: &Path) -> OwnedMutexGuard<()> {
    lock_of(git_dir).lock_owned().await
}

fn lock_of(git_dir: &Path) -> RepositoryLock {
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    // Keep only locks that somebody holds or awaits.
    locks.retain(|_, lock| Arc::strong_count(lock) > 1);
    locks.entry(git_dir.to_owned()).or_default().clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lock_excludes_its_repository_only() {
        let [one, two] = ["/exclusive/one/.git", "/exclusive/two/.git"].map(Path::new);
        let guard = exclusive(one).await;
        drop(exclusive(two).await);
        assert!(lock_of(one).try_lock().is_err());
        drop(guard);
        assert!(lock_of(one).try_lock().is_ok());
    }
}
