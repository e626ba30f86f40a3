//! Reads the raid log by index, however long it is. Must not change anything.

use domain::warroom::raid_log::{Priority, RaidLogEntry};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::engine::column::{optional, parsed};
use crate::error::Result;

/// The newest entries of a project `$1` before the entry `$2`, at most `$3`, with one of these priorities, and of the author `$4` if `by_author`.
/// Each priority is one walk through an index, which ends after as many entries as the answer can have.
pub(crate) fn list_sql(priorities: &[Priority], by_author: bool) -> String {
    let author = if by_author { " AND author = $4" } else { "" };
    let walk = |priority: &Priority| {
        format!(
            "SELECT id FROM (SELECT id FROM raid_log WHERE project_id = $1{author} AND priority = '{priority}' AND id < $2 ORDER BY id DESC LIMIT $3)"
        )
    };
    let walks: Vec<String> = priorities.iter().map(walk).collect();
    format!(
        "SELECT l.* FROM (SELECT id FROM ({}) ORDER BY id DESC LIMIT $3) AS w JOIN raid_log l ON l.id = w.id ORDER BY l.id DESC",
        walks.join(" UNION ALL ")
    )
}

pub(crate) fn entry_of(row: &SqliteRow) -> Result<RaidLogEntry> {
    Ok(RaidLogEntry {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        author: row.try_get("author")?,
        run_id: optional(row, "run_id")?,
        entry: row.try_get("entry")?,
        priority: parsed(row, "priority")?,
        created_at: parsed(row, "created_at")?,
    })
}
