//! Reads which files a run has loaded. Must not change anything.

use std::collections::BTreeMap;

use domain::id::RunId;
use domain::time::Timestamp;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::parsed;
use crate::error::Result;

/// The files of the run `$1`.
pub(crate) const OF_RUN: &str = "SELECT path, loaded_at FROM run_files WHERE run_id = $1";

/// Returns the files that a run has loaded, each with the last time. At most 500.
pub(crate) async fn of_run(connection: &mut SqliteConnection, run: &RunId) -> Result<BTreeMap<String, Timestamp>> {
    let rows = sqlx::query(OF_RUN).bind(run.as_str()).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get("path")?, parsed(row, "loaded_at")?))).collect()
}
