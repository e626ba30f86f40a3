//! Counts for monitoring. Their cost does not grow with what is finished.

use std::collections::BTreeMap;

use domain::board::status::Status;

use crate::engine::column::{count, parsed};
use crate::engine::open::Db;
use crate::error::Result;

/// The size of the board.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// Tasks of all projects. A status without tasks may be missing.
    pub tasks: BTreeMap<Status, u32>,
    /// Tasks that wait for a person.
    pub needing_attention: u32,
}

impl Db {
    /// Counts tasks.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn figures(&self) -> Result<Figures> {
        let mut figures = Figures::default();
        let open = "SELECT status, COUNT(*) AS total FROM tasks WHERE status IN ('backlog', 'in_progress', 'in_review') GROUP BY status";
        let finished = "SELECT status, SUM(total) AS total FROM finished_sums GROUP BY status";
        for query in [open, finished] {
            for row in &sqlx::query(query).fetch_all(&self.readers).await? {
                figures.tasks.insert(parsed(row, "status")?, count(row, "total")?);
            }
        }
        let attention = sqlx::query("SELECT COUNT(*) AS total FROM tasks WHERE attention IS NOT NULL").fetch_one(&self.readers).await?;
        figures.needing_attention = count(&attention, "total")?;
        Ok(figures)
    }
}
