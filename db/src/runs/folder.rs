//! The folders of runs and of checkouts: which ones are on record, which may be removed, and which ones were. Must not access the disk; the runner removes them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use domain::id::{ProjectId, RunId};
use domain::time::Timestamp;
use sqlx::{Connection, Row, SqliteConnection};

use crate::engine::column::parsed;
use crate::engine::inspect::open_for_reading;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

/// The folder of an ended run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    pub run: RunId,
    pub path: PathBuf,
    pub ended_at: Timestamp,
}

/// The places in which work of this board can be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedCheckouts {
    pub projects: BTreeSet<ProjectId>,
    /// The common `.git` folders.
    pub repositories: BTreeSet<PathBuf>,
    pub checkouts: BTreeSet<PathBuf>,
}

/// Reads the checkouts on record in a database file, which a server may use meanwhile. A file that does not exist has none.
///
/// # Errors
/// When it is not a database of this program, or one of an unsuitable version.
pub async fn recorded_checkouts(path: &Path) -> Result<RecordedCheckouts> {
    let Some(mut connection) = open_for_reading(path).await? else { return Ok(RecordedCheckouts::default()) };
    let found = on_record(&mut connection).await?;
    connection.close().await?;
    Ok(found)
}

async fn on_record(connection: &mut SqliteConnection) -> Result<RecordedCheckouts> {
    let repositories: Vec<(String, String)> = sqlx::query_as("SELECT id, git_dir FROM projects").fetch_all(&mut *connection).await?;
    let checkouts: Vec<String> = sqlx::query_scalar(
        "SELECT worktree_path FROM tasks WHERE worktree_path IS NOT NULL
         UNION SELECT worktree_path FROM agent_runs WHERE completed_at IS NULL AND worktree_path IS NOT NULL
         UNION SELECT worktree_path FROM agent_runs WHERE checkout_left IS NOT NULL AND worktree_path IS NOT NULL",
    )
    .fetch_all(connection)
    .await?;
    let mut found = RecordedCheckouts { checkouts: checkouts.into_iter().map(PathBuf::from).collect(), ..RecordedCheckouts::default() };
    for (project, git_dir) in repositories {
        found.projects.insert(project.parse()?);
        found.repositories.insert(PathBuf::from(git_dir));
    }
    Ok(found)
}

impl Db {
    /// Lists the folders that may be removed, by the end of their run. Excludes the newest `keep` folders of each task and folders of live
    /// runs.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn removable_run_folders(&self, keep: u32) -> Result<Vec<RunFolder>> {
        let rows = sqlx::query(
            "SELECT id, run_dir, completed_at FROM (
               SELECT id, run_dir, completed_at, ROW_NUMBER() OVER (PARTITION BY task_id ORDER BY started_at DESC, length(id) DESC, id DESC) AS place
               FROM agent_runs WHERE run_dir IS NOT NULL AND dir_removed_at IS NULL) AS folders
             WHERE completed_at IS NOT NULL AND place > $1 ORDER BY completed_at, length(id), id",
        )
        .bind(i64::from(keep))
        .fetch_all(&self.readers)
        .await?;
        let folder = |row| -> Result<RunFolder> {
            Ok(RunFolder {
                run: parsed(row, "id")?,
                path: PathBuf::from(row.try_get::<String, _>("run_dir")?),
                ended_at: parsed(row, "completed_at")?,
            })
        };
        rows.iter().map(folder).collect()
    }

    /// Returns the folders of all runs that were not removed. Their number is bounded by the limits on kept folders.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn run_folders(&self) -> Result<BTreeSet<PathBuf>> {
        let query = sqlx::query_scalar("SELECT run_dir FROM agent_runs WHERE run_dir IS NOT NULL AND dir_removed_at IS NULL");
        let found: Vec<String> = query.fetch_all(&self.readers).await?;
        Ok(found.into_iter().map(PathBuf::from).collect())
    }

    /// Returns the repositories of all projects, and the checkouts that belong to their tasks and to runs.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn checkouts_on_record(&self) -> Result<RecordedCheckouts> {
        on_record(&mut *self.readers.acquire().await?).await
    }

    /// Records that the folder of an ended run was removed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn record_run_folder_removed(&self, run: &RunId) -> Result<()> {
        let run = run.clone();
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Retention);
                sqlx::query("UPDATE agent_runs SET dir_removed_at = $2 WHERE id = $1 AND completed_at IS NOT NULL AND dir_removed_at IS NULL")
                    .bind(run.as_str())
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                Ok(())
            })
        })
        .await
    }
}
