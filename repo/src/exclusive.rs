//! One lock per repository for work of this process that moves branches: naming, merging and landing.
//!
//! It must not know what is done under the lock. Other processes are kept out by git's own lock files and by comparing tips.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use crate::error::RepoError;

type RepositoryLock = Arc<tokio::sync::Mutex<()>>;

static LOCKS: LazyLock<Mutex<HashMap<PathBuf, RepositoryLock>>> = LazyLock::new(Mutex::default);

/// How long work waits for other work on the same repository.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until no other task of this process has the repository at `git_dir`, and keeps it until the guard is dropped. The lock is not
/// reentrant. Work that writes takes the guard along, so that the repository stays locked until the work ends, even when its caller has stopped waiting.
///
/// # Errors
/// [`RepoError::Busy`] if other work does not end in time.
pub async fn exclusive(git_dir: &Path) -> Result<OwnedMutexGuard<()>, RepoError> {
    let busy = |_| RepoError::Busy { path: git_dir.to_owned(), seconds: TIMEOUT.as_secs() };
    timeout(TIMEOUT, lock_of(git_dir).lock_owned()).await.map_err(busy)
}

fn lock_of(git_dir: &Path) -> RepositoryLock {
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    // Keep only locks that someone holds or awaits.
    locks.retain(|_, lock| Arc::strong_count(lock) > 1);
    locks.entry(git_dir.to_owned()).or_default().clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lock_excludes_its_repository_only() {
        let [one, two] = ["/exclusive/one/.git", "/exclusive/two/.git"].map(Path::new);
        let guard = exclusive(one).await.unwrap();
        exclusive(two).await.unwrap();
        assert!(lock_of(one).try_lock().is_err());
        drop(guard);
        assert!(lock_of(one).try_lock().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_never_ends_is_not_waited_for() {
        let git_dir = Path::new("/exclusive/three/.git");
        let _guard = exclusive(git_dir).await.unwrap();
        assert_eq!(exclusive(git_dir).await.unwrap_err().code(), "repository-busy");
    }
}
