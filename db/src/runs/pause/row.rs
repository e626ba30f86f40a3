//! Reads pauses. Must not change anything.

use domain::id::ProjectId;
use domain::time::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::error::Result;

/// A pause of one project or of all: since when, or when the last one ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pause {
    pub paused_at: Option<Timestamp>,
    pub resumed_at: Option<Timestamp>,
    /// Whether the project is archived, which pauses it too.
    pub is_archived: bool,
}

impl Pause {
    /// Returns the pause of a project, which is paused on its own or with all.
    pub(crate) fn and(self, other: Self) -> Self {
        let since = self.paused_at.into_iter().chain(other.paused_at).min();
        Self { paused_at: since, resumed_at: self.resumed_at.max(other.resumed_at), is_archived: self.is_archived || other.is_archived }
    }
}

/// Reads the pause of one project, without that of all. An archived project is paused.
pub(crate) fn of_project(row: &SqliteRow) -> Result<Pause> {
    let archived_at = optional(row, "archived_at")?;
    let archived = Pause { paused_at: archived_at, resumed_at: None, is_archived: archived_at.is_some() };
    Ok(Pause { paused_at: optional(row, "paused_at")?, resumed_at: optional(row, "resumed_at")?, is_archived: false }.and(archived))
}

/// Reads the pause of all projects.
pub(crate) async fn of_all(connection: &mut SqliteConnection) -> Result<Pause> {
    let rows = sqlx::query("SELECT key, value FROM meta WHERE key IN ('paused_at', 'resumed_at')").fetch_all(connection).await?;
    let mut pause = Pause::default();
    for row in &rows {
        let at = Some(parsed(row, "value")?);
        match row.try_get("key")? {
            "paused_at" => pause.paused_at = at,
            _ => pause.resumed_at = at,
        }
    }
    Ok(pause)
}

/// Whether a project is paused, on its own or with all, or archived.
pub(crate) async fn is_paused(connection: &mut SqliteConnection, id: &ProjectId) -> Result<bool> {
    let query = "SELECT 1 FROM projects WHERE id = $1 AND (paused_at IS NOT NULL OR archived_at IS NOT NULL)
      UNION ALL SELECT 1 FROM meta WHERE key = 'paused_at'";
    Ok(sqlx::query(query).bind(id.as_str()).fetch_optional(connection).await?.is_some())
}
