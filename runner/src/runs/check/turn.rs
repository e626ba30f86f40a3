//! One check at a time in a project. The schedule sees to that for tasks, but a landing can ask for a check at any time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use db::Db;
use domain::id::ProjectId;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// The turns of projects, with the folder of the store that has them.
type Turns = HashMap<(PathBuf, ProjectId), Arc<AsyncMutex<()>>>;

static TURNS: LazyLock<Mutex<Turns>> = LazyLock::new(Mutex::default);

/// Waits until no other check of the project runs in this process.
pub(super) async fn take(db: &Db, project: &ProjectId) -> OwnedMutexGuard<()> {
    let turn = Arc::clone(TURNS.lock().unwrap_or_else(PoisonError::into_inner).entry((db.folder(), project.clone())).or_default());
    turn.lock_owned().await
}
