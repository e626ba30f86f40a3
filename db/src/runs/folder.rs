//! The folders of ended runs: which ones may be removed, and which ones were. Must not access the disk; the runner removes them.

use std::path::PathBuf;

use domain::id::RunId;
use domain::time::Timestamp;
use sqlx::Row;

use crate::engine::column::parsed;
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
