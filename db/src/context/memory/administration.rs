//! The memory of a project's agents as the owner of the board sees and changes it. Must not reach the memory of a person.

use domain::context::memory::{
    MAX_LISTED, MAX_VALUE_BYTES, MemoryEntry, MemoryEvent, MemoryPatch, MemoryPlace, MemoryRefusal, MemorySummary, OwnedMemory, validate_expiry,
};
use domain::context::metadata::validate_json;
use domain::context::session::validate_limit;
use domain::id::ProjectId;

use super::row;
use super::write::{self, NewMemoryRow};
use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::now;

impl Db {
    /// Lists entries of all agents of a project without their values, the newest first.
    ///
    /// # Errors
    /// When the caller is not the owner of the board, the project does not exist, or the limit is out of range.
    pub async fn project_memories(
        &self,
        caller: &Caller,
        project: &ProjectId,
        before: Option<i64>,
        limit: Option<u32>,
    ) -> Result<Vec<OwnedMemory<MemorySummary>>> {
        caller.require_owner("reading the memory of agents")?;
        let limit = validate_limit(limit, MAX_LISTED, MAX_LISTED + 1)?;
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        row::of_project(&mut connection, project, before.unwrap_or(i64::MAX), limit, now()).await
    }

    /// Returns an entry of an agent.
    ///
    /// # Errors
    /// When the caller is not the owner of the board, or the entry does not exist.
    pub async fn agent_memory(&self, caller: &Caller, id: i64) -> Result<OwnedMemory<MemoryEntry>> {
        caller.require_owner("reading the memory of agents")?;
        Ok(row::by_id(&mut *self.readers.acquire().await?, id, now()).await?.1)
    }

    /// Replaces the value of an agent's entry.
    ///
    /// # Errors
    /// When the caller is not the owner of the board, the entry does not exist or changed since it was read, or an argument is invalid.
    pub async fn edit_agent_memory(&self, caller: &Caller, id: i64, patch: MemoryPatch) -> Result<OwnedMemory<MemoryEntry>> {
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                caller.require_owner("editing the memory of agents")?;
                let (owner, known) = row::by_id(&mut tx.connection, id, tx.now).await?;
                let entry = known.entry;
                if patch.unchanged_since.is_some_and(|read| read != entry.updated_at) {
                    return Err(MemoryRefusal::Changed { key: entry.key }.into());
                }
                let value = validate_json("value", &patch.value, MAX_VALUE_BYTES)?;
                let expires_at = match patch.expires_in {
                    None => entry.expires_at,
                    given => validate_expiry(given, tx.now)?,
                };
                let place = MemoryPlace { session: entry.session_id, task: entry.task_id };
                let row = NewMemoryRow { owner: &owner, place: &place, key: &entry.key, value: &value, metadata: &entry.metadata, expires_at };
                write::upsert(tx, row).await?;
                write::record(
                    tx,
                    caller,
                    &owner,
                    MemoryEvent::Set { key: entry.key, scope: place.scope(), owner: owner.key.clone(), task: place.task },
                );
                Ok(row::by_id(&mut tx.connection, id, tx.now).await?.1)
            })
        })
        .await
    }

    /// Deletes an agent's entry.
    ///
    /// # Errors
    /// When the caller is not the owner of the board, or the entry does not exist.
    pub async fn delete_agent_memory(&self, caller: &Caller, id: i64) -> Result<()> {
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                caller.require_owner("deleting the memory of agents")?;
                let (owner, known) = row::by_id(&mut tx.connection, id, tx.now).await?;
                let place = MemoryPlace { session: known.entry.session_id, task: known.entry.task_id };
                write::delete(tx, &owner, &place, &known.entry.key).await?;
                write::record(
                    tx,
                    caller,
                    &owner,
                    MemoryEvent::Deleted { key: known.entry.key, scope: place.scope(), owner: owner.key.clone(), task: place.task },
                );
                Ok(())
            })
        })
        .await
    }
}
