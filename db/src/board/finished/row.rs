//! Reads the sums over finished tasks: one row per project and status, however many tasks there are.

use domain::board::status::Status;
use domain::id::ProjectId;
use domain::wire::FinishedCards;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, parsed};
use crate::error::Result;

pub(crate) const FINISHED_SUMS: &str = "SELECT status, total, merged, cost_micro_usd FROM finished_sums WHERE project_id = $1";

pub(crate) async fn read(connection: &mut SqliteConnection, project: &ProjectId) -> Result<FinishedCards> {
    let mut finished = FinishedCards::default();
    for row in &sqlx::query(FINISHED_SUMS).bind(project.as_str()).fetch_all(connection).await? {
        let Some(column) = finished.column_mut(parsed::<Status>(row, "status")?) else { continue };
        column.total = count(row, "total")?;
        column.merged = count(row, "merged")?;
        column.cost_micro_usd = row.try_get("cost_micro_usd")?;
    }
    Ok(finished)
}
