//! The board: one project's cards and the sequence number for which they are true.

use domain::board::reducer::Board;
use domain::id::ProjectId;
use sqlx::Connection;

use crate::board::{project, task};
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// # Errors
    /// When there is no such project.
    pub async fn board(&self, id: &ProjectId) -> Result<Board> {
        let mut connection = self.readers.acquire().await?;
        // One snapshot for cards and number: an event between two reads would otherwise be missing in one of them.
        let mut snapshot = connection.begin().await?;
        let seq = sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM events").fetch_one(&mut *snapshot).await?;
        let project = project::read(&mut snapshot, id).await?;
        let cards = task::read::cards_of_project(&mut snapshot, id).await?;
        snapshot.rollback().await?;
        Ok(Board { project, cards, seq, epoch: self.epoch().to_owned() })
    }
}
