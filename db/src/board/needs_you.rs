//! Everything that needs the human: one list over all projects, read in one snapshot. Reading it changes nothing.

pub(crate) mod row;

use domain::board::needs_you::NeedsYouList;
use sqlx::Connection;

use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Lists everything that only the human can settle. Messages are those to the person who asks.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn needs_you(&self, caller: &Caller) -> Result<NeedsYouList> {
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let list = row::read(&mut snapshot, caller).await?;
        snapshot.rollback().await?;
        Ok(list)
    }
}
