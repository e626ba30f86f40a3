//! Temporary checkouts in the store: those that could not be removed after their run. The runner removes them.

use domain::id::RunId;
use domain::runs::run::{Run, RunChange};
use sqlx::Row;

use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row;

/// A temporary checkout that could not be removed.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftCheckout {
    pub run: Run,
    /// Whether a later run has a checkout in the same folder, which it gets only after the earlier one is gone.
    pub is_replaced: bool,
}

impl Db {
    /// Records why the temporary checkout of a run could not be removed, or that it is gone.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn set_checkout_left(&self, id: &RunId, detail: Option<String>) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = row::read(&mut tx.connection, &id).await?;
                if run.checkout_left == detail {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                sqlx::query("UPDATE agent_runs SET checkout_left = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&detail)
                    .execute(&mut tx.connection)
                    .await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, RunChange::CheckoutLeft { detail });
                Ok(())
            })
        })
        .await
    }

    /// Lists the ended runs whose temporary checkout could not be removed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn left_checkouts(&self) -> Result<Vec<LeftCheckout>> {
        let found = sqlx::query(
            "SELECT ended.*, EXISTS (
               SELECT 1 FROM agent_runs AS later
               WHERE later.worktree_path = ended.worktree_path AND (length(later.id), later.id) > (length(ended.id), ended.id)
             ) AS is_replaced
             FROM agent_runs AS ended WHERE checkout_left IS NOT NULL AND completed_at IS NOT NULL ORDER BY length(id), id",
        );
        let found = found.fetch_all(&self.readers).await?;
        found.iter().map(|row| Ok(LeftCheckout { run: row::run_of(row)?, is_replaced: row.try_get("is_replaced")? })).collect()
    }
}
