//! Imports the memory of agents. Must not know the other kinds of records.

use domain::context::import::ImportKind;
use domain::context::memory::{MAX_ENTRIES, MAX_VALUE_BYTES, MemoryOwner, MemoryPlace, validate_key};
use domain::context::metadata::{Metadata, validate_json, validate_metadata};
use domain::context::reader::Reader;
use domain::time::Timestamp;
use serde_json::Value;

use super::source::Record;
use super::write::{Target, Written, reference};
use crate::context::memory::row;
use crate::context::memory::write as memory_write;
use crate::context::memory::write::NewMemoryRow;
use crate::engine::tx::Tx;
use crate::error::Result;

pub(super) struct MemoryItem {
    agent: String,
    session: Option<String>,
    key: String,
    value: String,
    metadata: Metadata,
    created_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
}

impl MemoryItem {
    /// # Errors
    /// Why it cannot be imported.
    pub(super) fn of(record: &Record, now: Timestamp) -> Result<Self, String> {
        let stored = record.text("value").unwrap_or_default();
        // The other program stores strings as they are, and reads whatever is JSON as JSON.
        let value: Value = serde_json::from_str(&stored).unwrap_or(Value::String(stored));
        let expires_at = record.time("expires_at");
        if expires_at.is_some_and(|at| at <= now) {
            return Err("it has expired".to_owned());
        }
        Ok(Self {
            agent: record.text("agent_id").unwrap_or_default(),
            session: record.text("session_id"),
            key: validate_key(&record.text("key").unwrap_or_default()).map_err(|error| error.to_string())?,
            value: validate_json("value", &value, MAX_VALUE_BYTES).map_err(|error| error.to_string())?,
            metadata: validate_metadata(record.object("metadata")).map_err(|error| error.to_string())?,
            created_at: record.time("created_at"),
            expires_at,
        })
    }
}

/// Writes an entry, unless its agent has one with the same key here.
pub(super) async fn write(tx: &mut Tx, target: &Target, item: MemoryItem) -> Result<Written> {
    let session = reference(tx, target, ImportKind::Session, item.session.as_deref()).await?;
    if let (Some(session), None) = (&item.session, &session) {
        return Ok(Written::Skipped(format!("its session {session} was not imported")));
    }
    let owner = MemoryOwner::of_reader(&Reader::Agent { project: target.project.clone(), name: target.name(&item.agent), admin: false });
    let place = MemoryPlace { session, task: None };
    if row::find(&mut tx.connection, &owner, &place, &item.key, tx.now).await?.is_some() {
        return Ok(Written::Skipped(format!("its agent has an entry {} here", item.key)));
    }
    if row::count_up_to(&mut tx.connection, &owner, MAX_ENTRIES).await? >= MAX_ENTRIES {
        return Ok(Written::Skipped(format!("its agent has {MAX_ENTRIES} entries here")));
    }
    tx.now = item.created_at.unwrap_or(tx.now).min(tx.now);
    let (key, value, metadata, expires_at) = (&item.key, &item.value, &item.metadata, item.expires_at);
    memory_write::upsert(tx, NewMemoryRow { owner: &owner, place: &place, key, value, metadata, expires_at }).await?;
    Ok(Written::As(item.key))
}
