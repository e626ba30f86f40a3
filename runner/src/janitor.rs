//! Removes what is past its retention: rows through the store, and the folders of ended runs from the disk. Tries again to remove temporary
//! checkouts that were left behind.
//!
//! It must not decide which rows and folders are still needed; the store says that. Age and total size of folders are decided here.

mod orphan;
mod rescue;

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use db::{LeftCheckout, Pruned, RetentionLimits, RunFolder};
use domain::id::{ProjectId, RunId};
use domain::time::Timestamp;
use tokio::time::sleep;

use crate::blocking::off_thread;
use crate::run_dir::RunDir;
use crate::runs::run::{RunContext, SETUP_CACHE};
use crate::runs::{check, checkout, cleanup, scratch};
use crate::warroom::{code_map, knowledge};

const INTERVAL: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of events that are kept, together about a gigabyte. Older ones are removed even if they are younger than the configured age.
const MAX_EVENTS: u32 = 1_000_000;
/// Folders of each task that are kept whatever their age and size.
const KEPT_FOLDERS_PER_TASK: u32 = 3;
const FOLDER_LIMITS: FolderLimits = FolderLimits { keep: Duration::from_secs(30 * 24 * 60 * 60), max_total_bytes: 5 << 30 };

/// Limits on the removable folders that are kept.
#[derive(Debug, Clone, Copy)]
struct FolderLimits {
    keep: Duration,
    /// Of all folders of runs together.
    max_total_bytes: u64,
}

/// The folders that were removed.
#[derive(Debug, Default, PartialEq, Eq)]
struct RemovedFolders {
    runs: Vec<RunId>,
    bytes: u64,
}

/// Removes the locks of killed landings now, and what is past its retention now and every hour.
pub(crate) async fn run(context: RunContext) {
    if let Err(error) = checkout::unlock_landings(&context.db).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not look for the locks of killed landings");
    }
    loop {
        let limits = RetentionLimits { keep: DAY * context.config().keep_events_days, max_events: MAX_EVENTS };
        match context.db.prune(limits).await {
            Ok(pruned) if pruned == Pruned::default() => {}
            Ok(Pruned { events, calls, deliveries, messages, oracle_questions, check_results, memories, tokens }) => {
                tracing::info!(
                    events,
                    calls,
                    deliveries,
                    messages,
                    oracle_questions,
                    check_results,
                    memories,
                    tokens,
                    "removed rows past their retention"
                );
            }
            Err(db::Error::Closed) => return,
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "could not remove old rows; trying again in an hour"),
        }
        match context.db.prune_audit(DAY * context.config().keep_audit_days).await {
            Ok(0) => {}
            Ok(rows) => tracing::info!(rows, "removed rows of the audit log past their retention"),
            Err(db::Error::Closed) => return,
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "could not shorten the audit log; trying again in an hour"),
        }
        match remove_folders(&context, FOLDER_LIMITS).await {
            Ok(removed) if removed.runs.is_empty() => {}
            Ok(removed) => tracing::info!(folders = removed.runs.len(), bytes = removed.bytes, "removed folders of ended runs"),
            Err(db::Error::Closed) => return,
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "could not remove old run folders; trying again in an hour"),
        }
        match remove_checkouts(&context).await {
            Ok(()) => {}
            Err(db::Error::Closed) => return,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "could not read which checkouts are left; trying again in an hour");
            }
        }
        for (what, outcome) in [
            ("remove expired kept work", rescue::remove_expired(&context).await),
            ("look for checkouts and folders that belong to nothing", orphan::remove(&context).await),
        ] {
            match outcome {
                Ok(()) => {}
                Err(db::Error::Closed) => return,
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "could not {what}; trying again in an hour"),
            }
        }
        sleep(INTERVAL).await;
    }
}

/// Tries again to remove the temporary checkouts of ended runs. The attempt of each shows why it is still there.
async fn remove_checkouts(context: &RunContext) -> db::Result<()> {
    for LeftCheckout { run, is_replaced } in context.db.left_checkouts().await? {
        let project = context.db.project(&context.db.card(&run.task_id).await?.project_id).await?;
        let path = run.worktree_path.clone().map(PathBuf::from);
        // A checkout that is gone is not removed once more: a run that starts now may get its folder.
        let exists = !is_replaced && off_thread(move || path.is_some_and(|path| path.symlink_metadata().is_ok())).await.unwrap_or(true);
        let left = if exists { checkout::remove_temporary(&project, &run).await.err().map(|error| error.to_string()) } else { None };
        if left.is_none() {
            tracing::info!(run = %run.id, "a temporary checkout that was left behind is gone");
        }
        context.db.set_checkout_left(&run.id, left).await?;
    }
    Ok(())
}

async fn remove_folders(context: &RunContext, limits: FolderLimits) -> db::Result<RemovedFolders> {
    let folders = context.db.removable_run_folders(KEPT_FOLDERS_PER_TASK).await?;
    if folders.is_empty() {
        return Ok(RemovedFolders::default());
    }
    let (root, now) = (context.runs_root(), db::now());
    // The server is shutting down if this fails; the next one removes them.
    let removed = off_thread(move || remove(&root, folders, limits, now)).await.unwrap_or_default();
    for run in &removed.runs {
        context.db.record_run_folder_removed(run).await?;
    }
    Ok(removed)
}

/// Removes what is left of a deleted project: the folders of its runs, its history of knowledge, its code map, its kept setups, its checks and the empty
/// folder of its checkouts, then its rows.
pub(crate) async fn remove_project(context: &RunContext, project: &ProjectId) -> Result<(), String> {
    let folders = context.db.run_folders_of(project).await.map_err(|error| error.to_string())?;
    let root = context.runs_root();
    let remove_all = move || folders.iter().try_for_each(|path| remove_folder(&root, path).map(drop));
    off_thread(remove_all).await.map_err(|error| error.to_string())?.map_err(|error| format!("could not remove the folder of a run: {error}"))?;
    let checkouts = checkout::folder_of(&context.config().worktrees_path, project);
    scratch::remove_all(context, project).await?;
    for left in [
        knowledge::repository(&context.db, project),
        code_map::folder(&context.db, project),
        checkouts.join(SETUP_CACHE),
        check::folder(&context.db).join(project.as_str()),
        context.db.previews_folder(project),
        cleanup::folder(context, project),
    ] {
        let shown = left.display().to_string();
        let removed = off_thread(move || remove_any(&left)).await.map_err(|error| error.to_string())?;
        removed.map_err(|error| format!("could not remove {shown}: {error}"))?;
    }
    // Whatever else someone put there stays.
    let _not_empty = off_thread(move || fs::remove_dir(checkouts)).await.map_err(|error| error.to_string())?;
    context.db.remove_deleted_project(project).await.map_err(|error| error.to_string())
}

/// Removes a file or a folder, if it exists.
fn remove_any(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

/// Removes `folders`, oldest first: those past their age, then more until the total size is within the limit.
fn remove(root: &Path, folders: Vec<RunFolder>, limits: FolderLimits, now: Timestamp) -> RemovedFolders {
    let mut total = size(root);
    let mut removed = RemovedFolders::default();
    for RunFolder { run, path, ended_at } in folders {
        if now.since(ended_at) <= limits.keep && total <= limits.max_total_bytes {
            break;
        }
        match remove_folder(root, &path) {
            Ok(bytes) => {
                total = total.saturating_sub(bytes);
                removed.bytes += bytes;
                removed.runs.push(run);
            }
            Err(error) => tracing::warn!(%run, path = %path.display(), %error, "could not remove the folder of an ended run"),
        }
    }
    removed
}

/// Removes the folder of one run and returns its size. A folder that is gone already counts as removed.
fn remove_folder(root: &Path, path: &PathBuf) -> io::Result<u64> {
    if path.parent() != Some(root) {
        return Err(io::Error::other(format!("it is not in {}", root.display())));
    }
    if !path.try_exists()? {
        return Ok(0);
    }
    let run_dir = RunDir::open(path).map_err(io::Error::other)?;
    match run_dir.is_alive() {
        Ok(false) => {}
        Ok(true) => return Err(io::Error::other("a process of the run still uses it")),
        // The end of the run is on record, and an incomplete folder has no lock.
        Err(error) if error.is_missing() => {}
        Err(error) => return Err(io::Error::other(error)),
    }
    let bytes = size(path);
    fs::remove_dir_all(path)?;
    Ok(bytes)
}

/// The size of all files below `path`. Files that cannot be read count as empty.
fn size(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests;
