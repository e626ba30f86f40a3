//! Counts for monitoring. Their cost does not grow with what is finished.

use std::collections::BTreeMap;

use domain::board::status::Status;
use domain::config::setting::{CostlyTask, LimitsInUse};
use sqlx::Row;

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

/// The open task that cost the most.
pub(crate) const COSTLIEST: &str = "SELECT id, title, cost_micro_usd FROM tasks
  WHERE status IN ('backlog', 'in_progress', 'in_review') AND cost_micro_usd > 0 ORDER BY cost_micro_usd DESC LIMIT 1";
/// The oldest event of the log.
pub(crate) const OLDEST_EVENT: &str = "SELECT seq, at FROM events ORDER BY seq LIMIT 1";

impl Db {
    /// Returns how much of the limits of a task and of the log is used.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn limits_in_use(&self) -> Result<LimitsInUse> {
        let mut in_use = LimitsInUse::default();
        if let Some(row) = sqlx::query(COSTLIEST).fetch_optional(&self.readers).await? {
            in_use.costliest_task =
                Some(CostlyTask { id: parsed(&row, "id")?, title: row.try_get("title")?, cost_micro_usd: row.try_get("cost_micro_usd")? });
        }
        if let Some(row) = sqlx::query(OLDEST_EVENT).fetch_optional(&self.readers).await? {
            let oldest: i64 = row.try_get("seq")?;
            // The log has no gaps.
            in_use.kept_events = u64::try_from(self.latest() - oldest + 1).unwrap_or_default();
            in_use.kept_since = Some(parsed(&row, "at")?);
        }
        Ok(in_use)
    }

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
