//! Reads entries of memory. An expired one is not read.

use domain::context::memory::{MAX_LISTED, MemoryEntry, MemoryOwner, MemoryPlace, MemorySummary, OwnedMemory};
use domain::context::session::ContextSessionId;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, json, optional, parsed};
use crate::error::{Error, Result};

/// The entry of owner `$1` in project `$2` with the place `$3`, `$4` and the key `$5`, unless it expired at `$6`.
pub(crate) const BY_KEY: &str = "SELECT * FROM memories
    WHERE owner = $1 AND COALESCE(project_id, '') = $2 AND COALESCE(session_id, '') = $3 AND COALESCE(task_id, '') = $4 AND key = $5
      AND (expires_at IS NULL OR expires_at > $6)";

pub(crate) async fn find(
    connection: &mut SqliteConnection,
    owner: &MemoryOwner,
    place: &MemoryPlace,
    key: &str,
    now: Timestamp,
) -> Result<Option<MemoryEntry>> {
    let row = sqlx::query(BY_KEY)
        .bind(&owner.key)
        .bind(owner.project.as_ref().map_or("", ProjectId::as_str))
        .bind(place.session.as_ref().map_or("", ContextSessionId::as_str))
        .bind(place.task.as_ref().map_or("", TaskId::as_str))
        .bind(key)
        .bind(now.to_string())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(entry_of).transpose()
}

/// The entries of owner `$1` in project `$2` that have not expired at `$3`, the last changed first. An owner has a limited number.
pub(crate) const OF_OWNER: &str = "SELECT key, session_id, task_id, created_at, updated_at, expires_at, length(CAST(value AS BLOB)) AS value_size
    FROM memories WHERE owner = $1 AND COALESCE(project_id, '') = $2 AND (expires_at IS NULL OR expires_at > $3) ORDER BY updated_at DESC, id DESC";

pub(crate) async fn list(connection: &mut SqliteConnection, owner: &MemoryOwner, now: Timestamp) -> Result<Vec<MemorySummary>> {
    let rows = sqlx::query(OF_OWNER)
        .bind(&owner.key)
        .bind(owner.project.as_ref().map_or("", ProjectId::as_str))
        .bind(now.to_string())
        .fetch_all(connection)
        .await?;
    rows.iter().map(summary_of).collect()
}

/// The entries of owner `$1` in project `$2` that have not expired at `$3`, except those of tasks other than `$4`, the last changed first.
pub(crate) const OWN: &str = "SELECT * FROM memories WHERE owner = $1 AND COALESCE(project_id, '') = $2 AND (expires_at IS NULL OR expires_at > $3)
    AND (task_id IS NULL OR task_id = $4) ORDER BY updated_at DESC, id DESC LIMIT $5";

pub(super) async fn own(connection: &mut SqliteConnection, owner: &MemoryOwner, task: Option<&TaskId>, now: Timestamp) -> Result<Vec<MemoryEntry>> {
    let rows = sqlx::query(OWN)
        .bind(&owner.key)
        .bind(owner.project.as_ref().map_or("", ProjectId::as_str))
        .bind(now.to_string())
        .bind(task.map(TaskId::as_str))
        .bind(MAX_LISTED)
        .fetch_all(connection)
        .await?;
    rows.iter().map(entry_of).collect()
}

/// The entries of project `$1` before the entry `$2` that have not expired at `$3`, the newest first, at most `$4`.
pub(crate) const OF_PROJECT: &str = "SELECT id, owner, key, session_id, task_id, created_at, updated_at, expires_at,
      length(CAST(value AS BLOB)) AS value_size
    FROM memories WHERE project_id = $1 AND id < $2 AND (expires_at IS NULL OR expires_at > $3) ORDER BY id DESC LIMIT $4";

/// Reads entries of all agents of a project.
pub(super) async fn of_project(
    connection: &mut SqliteConnection,
    project: &ProjectId,
    before: i64,
    limit: u32,
    now: Timestamp,
) -> Result<Vec<OwnedMemory<MemorySummary>>> {
    let rows = sqlx::query(OF_PROJECT).bind(project.as_str()).bind(before).bind(now.to_string()).bind(limit).fetch_all(connection).await?;
    rows.iter().map(|row| owned(row, summary_of(row)?)).collect()
}

/// The entry with the id `$1`, unless it belongs to a person or expired at `$2`.
pub(crate) const BY_ID: &str = "SELECT * FROM memories WHERE id = $1 AND project_id IS NOT NULL AND (expires_at IS NULL OR expires_at > $2)";

/// Reads an entry of any agent, with its owner.
pub(super) async fn by_id(connection: &mut SqliteConnection, id: i64, now: Timestamp) -> Result<(MemoryOwner, OwnedMemory<MemoryEntry>)> {
    let row = sqlx::query(BY_ID).bind(id).bind(now.to_string()).fetch_optional(connection).await?;
    let row = row.ok_or_else(|| Error::Refused(Refusal::not_found("memory entry", id)))?;
    let owner = MemoryOwner { project: optional(&row, "project_id")?, key: row.try_get("owner")? };
    Ok((owner, owned(&row, entry_of(&row)?)?))
}

fn owned<T>(row: &SqliteRow, entry: T) -> Result<OwnedMemory<T>> {
    let owner: String = row.try_get("owner")?;
    Ok(OwnedMemory { id: row.try_get("id")?, kind: MemoryOwner::kind_of(&owner), owner: MemoryOwner::name_of(&owner).to_owned(), entry })
}

/// At most `$3` entries of owner `$1` in project `$2`. Expired ones count until they are removed.
pub(crate) const COUNT: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM memories WHERE owner = $1 AND COALESCE(project_id, '') = $2 LIMIT $3) AS own";

/// Counts the entries of an owner, up to a maximum.
pub(crate) async fn count_up_to(connection: &mut SqliteConnection, owner: &MemoryOwner, max: u32) -> Result<u32> {
    let found: i64 =
        sqlx::query_scalar(COUNT).bind(&owner.key).bind(owner.project.as_ref().map_or("", ProjectId::as_str)).bind(max).fetch_one(connection).await?;
    Ok(u32::try_from(found).unwrap_or(max))
}

fn place_of(row: &SqliteRow) -> Result<MemoryPlace> {
    Ok(MemoryPlace { session: optional(row, "session_id")?, task: optional(row, "task_id")? })
}

fn entry_of(row: &SqliteRow) -> Result<MemoryEntry> {
    let place = place_of(row)?;
    Ok(MemoryEntry {
        key: row.try_get("key")?,
        value: json(row, "value")?.unwrap_or(Value::Null),
        metadata: json(row, "metadata")?.unwrap_or_default(),
        scope: place.scope(),
        session_id: place.session,
        task_id: place.task,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
        expires_at: optional(row, "expires_at")?,
    })
}

fn summary_of(row: &SqliteRow) -> Result<MemorySummary> {
    let place = place_of(row)?;
    Ok(MemorySummary {
        key: row.try_get("key")?,
        scope: place.scope(),
        session_id: place.session,
        task_id: place.task,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
        expires_at: optional(row, "expires_at")?,
        value_size: count(row, "value_size")?,
    })
}
