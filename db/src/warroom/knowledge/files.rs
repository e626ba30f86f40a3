//! Which files of knowledge are not in their repository yet. The repository follows the rows: a commit that failed is made later.
//!
//! It must not know how the repository is written.

use domain::id::ProjectId;
use domain::warroom::knowledge::Knowledge;

use super::row::knowledge_of;
use super::write::FORGET;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

/// The most items of one commit.
const MAX_ITEMS: u32 = 100;

/// The items of the project that has waited longest, in the order of their numbers: what was closed comes before what replaced it.
pub(crate) const PENDING: &str = "SELECT * FROM knowledge WHERE stored = 0
    AND project_id = (SELECT project_id FROM knowledge WHERE stored = 0 ORDER BY id LIMIT 1) ORDER BY id LIMIT $1";

impl Db {
    /// Lists the changed items of one project whose files are not in its repository.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unstored_knowledge(&self) -> Result<Vec<Knowledge>> {
        let rows = sqlx::query(PENDING).bind(MAX_ITEMS).fetch_all(&self.readers).await?;
        rows.iter().map(knowledge_of).collect()
    }

    /// Records that the files of these items are in the repository. One that changed since stays.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn knowledge_stored(&self, items: Vec<Knowledge>) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::References);
                for item in items {
                    sqlx::query("UPDATE knowledge SET stored = 1 WHERE id = $1 AND version = $2 AND (closed_at IS NULL) = $3")
                        .bind(item.id)
                        .bind(item.version)
                        .bind(item.closed_at.is_none())
                        .execute(&mut tx.connection)
                        .await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// Makes all items of a project pending again, because its repository is gone. Returns how many were not pending.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn forget_stored_knowledge(&self, project: &ProjectId) -> Result<u64> {
        let project = project.clone();
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::References);
                let forgotten = sqlx::query(FORGET).bind(project.as_str()).execute(&mut tx.connection).await?;
                Ok(forgotten.rows_affected())
            })
        })
        .await
    }
}
