//! Memory: values that agents keep under a key beyond a run. A caller reaches its own entries only, and those of its predecessors.
//!
//! An expired entry does not exist, also before it is removed.

mod administration;
pub(crate) mod row;
pub(crate) mod write;

use domain::context::memory::{
    DEFAULT_LISTED, MAX_ENTRIES, MAX_LISTED, MAX_VALUE_BYTES, MemoryEntry, MemoryEvent, MemoryOwner, MemoryPlace, MemoryRefusal, MemorySummary,
    NewMemoryEntry, validate_expiry, validate_key,
};
use domain::context::metadata::{validate_json, validate_metadata};
use domain::context::reader::Reader;
use domain::context::session::{ContextSessionId, SessionRefusal, validate_limit};

use self::write::NewMemoryRow;
use crate::caller::Caller;
use crate::context::session::row as sessions;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::now;
use crate::team::participant::row as participant;

/// The entries that a caller wants to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryListQuery {
    /// Only those of this session. Without one, those that count outside of sessions.
    pub session: Option<ContextSessionId>,
    /// Also those of all sessions.
    pub include_sessions: bool,
    /// Only keys that begin like this.
    pub prefix: Option<String>,
    /// 50 by default, at most 200.
    pub limit: Option<u32>,
}

impl Db {
    /// Stores an entry. Of several callers that store the same key without overwriting, one succeeds.
    ///
    /// # Errors
    /// When an argument is invalid, the session does not exist for the caller or is closed, the key is taken and may not be overwritten, or the
    /// owner has too many entries.
    pub async fn set_memory(&self, caller: &Caller, new: NewMemoryEntry) -> Result<MemoryEntry> {
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let reader = admit(tx, caller).await?;
                let key = validate_key(&new.key)?;
                let value = validate_json("value", &new.value, MAX_VALUE_BYTES)?;
                let metadata = validate_metadata(new.metadata)?;
                let expires_at = validate_expiry(new.expires_in, tx.now)?;
                if let Some(session) = &new.session_id
                    && !sessions::read_for(&mut tx.connection, caller, session).await?.0.is_active
                {
                    return Err(SessionRefusal::Closed { session: session.clone() }.into());
                }
                let (owner, place) = (MemoryOwner::of_reader(&reader), MemoryPlace::for_writing(&reader, new.scope, new.session_id)?);
                let known = row::find(&mut tx.connection, &owner, &place, &key, tx.now).await?;
                if known.is_some() && !new.overwrite {
                    return Err(MemoryRefusal::Exists { key }.into());
                }
                if known.is_none() && row::count_up_to(&mut tx.connection, &owner, MAX_ENTRIES).await? >= MAX_ENTRIES {
                    return Err(MemoryRefusal::Full { entries: MAX_ENTRIES }.into());
                }
                let row = NewMemoryRow { owner: &owner, place: &place, key: &key, value: &value, metadata: &metadata, expires_at };
                write::upsert(tx, row).await?;
                let event = MemoryEvent::Set { key: key.clone(), scope: place.scope(), owner: owner.key.clone(), task: place.task.clone() };
                write::record(tx, caller, &owner, event);
                let stored = row::find(&mut tx.connection, &owner, &place, &key, tx.now).await?;
                stored.ok_or_else(|| MemoryRefusal::Missing { key }.into())
            })
        })
        .await
    }

    /// Returns the entry with a key: of the session, or else of the caller's task, or else the one that counts everywhere.
    ///
    /// # Errors
    /// When it does not exist, or the session does not exist for the caller.
    pub async fn memory(&self, caller: &Caller, key: &str, session: Option<&ContextSessionId>) -> Result<MemoryEntry> {
        let key = validate_key(key)?;
        let mut connection = self.readers.acquire().await?;
        let reader = caller.reader()?;
        if let Some(session) = session {
            sessions::read_for(&mut connection, caller, session).await?;
        }
        let owner = MemoryOwner::of_reader(&reader);
        for place in MemoryPlace::for_reading(&reader, session.cloned()) {
            if let Some(entry) = row::find(&mut connection, &owner, &place, &key, now()).await? {
                return Ok(entry);
            }
        }
        Err(MemoryRefusal::Missing { key }.into())
    }

    /// Lists entries without their values, the last changed first.
    ///
    /// # Errors
    /// When the session does not exist for the caller, or the limit is out of range.
    pub async fn memories(&self, caller: &Caller, query: &MemoryListQuery) -> Result<Vec<MemorySummary>> {
        let limit = validate_limit(query.limit, DEFAULT_LISTED, MAX_LISTED)?;
        let mut connection = self.readers.acquire().await?;
        let reader = caller.reader()?;
        if let Some(session) = &query.session {
            sessions::read_for(&mut connection, caller, session).await?;
        }
        let places = MemoryPlace::for_reading(&reader, query.session.clone());
        let mut found = row::list(&mut connection, &MemoryOwner::of_reader(&reader), now()).await?;
        let is_in_place = |entry: &MemorySummary| {
            (query.include_sessions && entry.session_id.is_some())
                || places.iter().any(|place| place.session == entry.session_id && place.task == entry.task_id)
        };
        found.retain(|entry| is_in_place(entry) && query.prefix.as_deref().is_none_or(|prefix| entry.key.starts_with(prefix)));
        found.truncate(limit as usize);
        Ok(found)
    }

    /// Returns the caller's entries with their values, of its task and of all sessions too, the last changed first. The newest 200 at most.
    ///
    /// # Errors
    /// When the caller has no memory.
    pub async fn own_memory(&self, caller: &Caller) -> Result<Vec<MemoryEntry>> {
        let reader = caller.reader()?;
        let task = match &reader {
            Reader::Run { task, .. } => Some(task),
            Reader::Agent { .. } | Reader::Person { .. } => None,
        };
        row::own(&mut *self.readers.acquire().await?, &MemoryOwner::of_reader(&reader), task, now()).await
    }

    /// Deletes the entry that [`Self::memory`] returns.
    ///
    /// # Errors
    /// When it does not exist, or the session does not exist for the caller.
    pub async fn delete_memory(&self, caller: &Caller, key: &str, session: Option<&ContextSessionId>) -> Result<MemorySummary> {
        let (key, session) = (validate_key(key)?, session.cloned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let reader = admit(tx, caller).await?;
                if let Some(session) = &session {
                    sessions::read_for(&mut tx.connection, caller, session).await?;
                }
                let owner = MemoryOwner::of_reader(&reader);
                for place in MemoryPlace::for_reading(&reader, session) {
                    let Some(entry) = row::find(&mut tx.connection, &owner, &place, &key, tx.now).await? else { continue };
                    write::delete(tx, &owner, &place, &key).await?;
                    let event = MemoryEvent::Deleted { key, scope: place.scope(), owner: owner.key.clone(), task: place.task };
                    write::record(tx, caller, &owner, event);
                    return Ok(entry.into_summary());
                }
                Err(MemoryRefusal::Missing { key }.into())
            })
        })
        .await
    }
}

/// Returns the reader that a writer is. An agent must take part in its project.
async fn admit(tx: &mut Tx, caller: &Caller) -> Result<Reader> {
    let reader = caller.reader()?;
    if let Some(project) = reader.project() {
        participant::load(&mut tx.connection, caller, project).await?;
    }
    Ok(reader)
}
