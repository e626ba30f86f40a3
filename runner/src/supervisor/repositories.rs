//! The state of each repository: whether its stale locks are removed, and since when it does not respond.
//!
//! It must not read a repository; jobs do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use db::{Db, Snapshot};
use domain::id::TaskId;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::runs::checkout;
use crate::schedule::{Action, NotResponding};

/// The repositories of one server.
#[derive(Debug)]
pub(super) struct Repositories {
    /// Those whose stale locks were removed, which comes before any other write.
    unlocked: watch::Sender<BTreeSet<String>>,
    not_responding: NotResponding,
}

impl Repositories {
    pub(super) fn new() -> Self {
        Self { unlocked: watch::Sender::new(BTreeSet::new()), not_responding: NotResponding::new() }
    }

    /// Looks which repositories respond. The time of a failure stays the same until the repository responds again.
    pub(super) fn observe(&mut self) -> &NotResponding {
        let found = repo::not_responding();
        self.not_responding.retain(|git_dir, _| found.contains_key(git_dir));
        for (git_dir, since) in found {
            let elapsed = Instant::now().saturating_duration_since(since);
            self.not_responding.entry(git_dir).or_insert_with_key(|git_dir| {
                tracing::warn!(git_dir = %git_dir.display(), "a repository does not respond; its tasks wait");
                db::now().before(elapsed)
            });
        }
        &self.not_responding
    }

    /// The repositories to try again.
    pub(super) fn silent(&self) -> impl Iterator<Item = PathBuf> {
        self.not_responding.keys().cloned().collect::<Vec<_>>().into_iter()
    }

    /// The repositories of active tasks whose stale locks are still to be removed.
    pub(super) fn locked(&self, state: &Snapshot) -> BTreeSet<String> {
        let unlocked = self.unlocked.borrow();
        let known = state.projects.values().map(|project| &project.git_dir);
        known.filter(|git_dir| !unlocked.contains(*git_dir) && !self.not_responding.contains_key(Path::new(git_dir))).cloned().collect()
    }

    /// Whether an action may be executed: it needs no repository, or one without stale locks.
    pub(super) fn permits(&self, state: &Snapshot, action: &Action) -> bool {
        let Some(task) = repository_task(action) else { return true };
        let known = state.tasks.iter().find(|known| known.task.card.id == *task);
        let project = known.and_then(|known| state.projects.get(&known.task.card.project_id));
        project.is_none_or(|project| self.unlocked.borrow().contains(&project.git_dir))
    }

    /// The job that removes the stale locks of a repository.
    pub(super) fn unlock(&self, db: Db, git_dir: String) -> impl Future<Output = Result<(), String>> + Send + use<> {
        let unlocked = self.unlocked.clone();
        async move {
            if checkout::unlock(&db, &git_dir).await.map_err(|error| error.to_string())? {
                unlocked.send_modify(|known| _ = known.insert(git_dir));
            }
            Ok(())
        }
    }
}

/// The task whose repository an action uses.
fn repository_task(action: &Action) -> Option<&TaskId> {
    match action {
        Action::Start { task, .. }
        | Action::Check { task }
        | Action::Merge { task, .. }
        | Action::Clean { task }
        | Action::RecheckBranch { task } => Some(task),
        _ => None,
    }
}
