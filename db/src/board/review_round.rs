//! The review rounds of a task. Must not decide what follows when they repeat.

pub(crate) mod row;
pub(crate) mod write;

use domain::board::review_round::ReviewRound;
use domain::id::TaskId;

use crate::board::task::row as tasks;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Lists the rounds in which a task was sent back, the oldest first.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn review_rounds(&self, id: &TaskId) -> Result<Vec<ReviewRound>> {
        let mut connection = self.readers.acquire().await?;
        tasks::card(&mut connection, id).await?;
        row::list(&mut connection, id).await
    }
}
