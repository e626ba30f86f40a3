//! Writes which files a run has loaded. Must not know how that is found out.

use domain::id::RunId;
use domain::warroom::freshness::{LoadedFile, MAX_LOADED};

use crate::engine::tx::Tx;
use crate::error::Result;

/// Removes all but the last files of the run `$1`.
pub(crate) const CUT: &str = "DELETE FROM run_files WHERE run_id = $1
  AND path IN (SELECT path FROM run_files WHERE run_id = $1 ORDER BY loaded_at DESC, path LIMIT -1 OFFSET $2)";
pub(crate) const FORGET: &str = "DELETE FROM run_files WHERE run_id = $1";

/// Records files of a live run. Costs these, and those that are known of the run.
pub(super) async fn record(tx: &mut Tx, run: &RunId, files: &[LoadedFile]) -> Result<()> {
    for file in files {
        sqlx::query(
            "INSERT INTO run_files (run_id, path, loaded_at) SELECT id, $2, $3 FROM agent_runs WHERE id = $1 AND completed_at IS NULL
             ON CONFLICT (run_id, path) DO UPDATE SET loaded_at = excluded.loaded_at",
        )
        .bind(run.as_str())
        .bind(&file.path)
        .bind(file.at.to_string())
        .execute(&mut tx.connection)
        .await?;
    }
    sqlx::query(CUT).bind(run.as_str()).bind(i64::try_from(MAX_LOADED).unwrap_or(i64::MAX)).execute(&mut tx.connection).await?;
    Ok(())
}

/// Forgets the files of a run that ended.
pub(crate) async fn forget(tx: &mut Tx, run: &RunId) -> Result<()> {
    sqlx::query(FORGET).bind(run.as_str()).execute(&mut tx.connection).await?;
    Ok(())
}
