//! The open tasks that cost little of an agent's context.

pub(crate) mod row;

use std::collections::BTreeSet;

use domain::id::{ProjectId, TaskId};

use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Returns the light ones of the tasks that nobody has begun and that no agent is assigned to. It costs what is open.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn light_tasks(&self, project: &ProjectId) -> Result<BTreeSet<TaskId>> {
        row::light(&mut *self.readers.acquire().await?, project).await
    }
}
