//! Reads landings. Must not change anything.

use domain::runs::land::Landing;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::engine::column::{count, optional, parsed};
use crate::error::Result;

pub(crate) fn landing_of(row: &SqliteRow) -> Result<Landing> {
    Ok(Landing {
        id: row.try_get("id")?,
        base_branch: row.try_get("base_branch")?,
        sha: row.try_get("sha")?,
        before_sha: row.try_get("before_sha")?,
        tip: row.try_get("tip")?,
        at: parsed(row, "landed_at")?,
        by: row.try_get::<String, _>("landed_by")?.into(),
        tasks: count(row, "tasks")?,
        commits: count(row, "commits")?,
        undone_at: optional(row, "undone_at")?,
        pull_request: row.try_get("pull_request")?,
    })
}
