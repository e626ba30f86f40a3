//! Finds what belongs to nothing that this board knows, as after an older copy of the database was put back: folders of runs, which are removed, and
//! checkouts of agents, which are only named, because another board may own them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::runs::folder;

use super::remove_folder;
use crate::blocking::off_thread;
use crate::runs::checkout::with_repository;
use crate::runs::run::RunContext;
use crate::runs::scratch;

/// The age of the folders that are considered. A younger one may belong to a run that just starts.
const MIN_AGE: Duration = Duration::from_secs(60 * 60);

/// Removes folders of runs that are not on record, and logs which checkouts are not.
///
/// # Errors
/// When the store fails.
pub(super) async fn remove(context: &RunContext) -> db::Result<()> {
    let (root, known) = (context.runs_root(), context.db.run_folders().await?);
    let removed = off_thread(move || remove_folders(&root, &known, MIN_AGE)).await.unwrap_or_default();
    if removed > 0 {
        tracing::info!(folders = removed, "removed folders of runs that are not on record");
    }
    let unknown = unknown_checkouts(context).await?;
    if !unknown.is_empty() {
        let paths: Vec<String> = unknown.iter().map(|path| path.display().to_string()).collect();
        tracing::warn!(
            checkouts = paths.join(", "),
            "found checkouts of agents that belong to no task of this board; if no other board uses them, remove them with `git worktree remove`"
        );
    }
    Ok(())
}

/// Lists the checkouts of agents, in the folder and the repositories of this board, that belong to no task and no run.
async fn unknown_checkouts(context: &RunContext) -> db::Result<Vec<PathBuf>> {
    let (worktrees, recorded) = (context.config().worktrees_path, context.db.checkouts_on_record().await?);
    let mut unknown = Vec::new();
    for git_dir in &recorded.repositories {
        let folder = worktrees.clone();
        // A repository that cannot be read says so where it is used.
        let found = with_repository(git_dir, move |repository| repository.agent_checkouts(&folder)).await.unwrap_or_default();
        let is_scratch = |path: &PathBuf| recorded.projects.iter().any(|project| scratch::is_of(path, &worktrees, project));
        unknown.extend(found.into_iter().filter(|path| !recorded.checkouts.contains(path) && !is_scratch(path) && is_old(path, MIN_AGE)));
    }
    Ok(unknown)
}

/// Returns how many folders were removed.
fn remove_folders(root: &Path, known: &BTreeSet<PathBuf>, min_age: Duration) -> usize {
    let found = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let orphans = found.filter(|path| path.is_dir() && folder::is_of_run(path) && !known.contains(path) && is_old(path, min_age));
    // One that is in use, or cannot be removed, is tried again in an hour.
    orphans.filter(|path| remove_folder(root, path).is_ok()).count()
}

fn is_old(path: &Path, min_age: Duration) -> bool {
    let modified = path.symlink_metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age >= min_age))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::TestBoard;

    #[test]
    fn only_folders_that_are_not_on_record_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let [known, orphan, theirs] = ["RUN-001-76f9cd1b", "RUN-002-00ab12cd", "experiment"].map(|name| root.path().join(name));
        for path in [&known, &orphan, &theirs] {
            fs::create_dir(path).unwrap();
        }
        let on_record = BTreeSet::from([known.clone()]);
        assert_eq!(remove_folders(root.path(), &on_record, MIN_AGE), 0, "too young");
        assert_eq!(remove_folders(root.path(), &on_record, Duration::ZERO), 1);
        assert!(known.exists() && !orphan.exists() && theirs.exists());
    }

    #[tokio::test]
    async fn checkout_of_a_task_belongs_to_it() {
        let board = TestBoard::new().await;
        let task = board.task("One").await;
        let (path, _) = board.work(&task, &[("a", "a")]).await;
        let recorded = board.db.checkouts_on_record().await.unwrap();
        assert!(recorded.checkouts.contains(&path), "{recorded:?}");
        let found = board.repository().agent_checkouts(&board.config.worktrees_path).unwrap();
        assert_eq!(found, [path.canonicalize().unwrap()]);
        assert!(unknown_checkouts(&board.context()).await.unwrap().is_empty());
    }
}
