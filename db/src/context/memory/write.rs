//! Writes entries of memory, and removes expired ones. Must not decide who owns an entry.

use domain::board::search::SearchKind;
use domain::context::memory::{MemoryEvent, MemoryOwner, MemoryPlace, searchable_text};
use domain::context::metadata::Metadata;
use domain::context::reader::Reader;
use domain::context::session::ContextSessionId;
use domain::id::{ProjectId, TaskId};
use domain::time::Timestamp;

use crate::board::search::write::{self as search, Document};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// A validated entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewMemoryRow<'a> {
    pub(crate) owner: &'a MemoryOwner,
    pub(crate) place: &'a MemoryPlace,
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
    pub(crate) metadata: &'a Metadata,
    pub(crate) expires_at: Option<Timestamp>,
}

/// Inserts or replaces an entry. One that replaces an expired entry is new.
pub(crate) async fn upsert(tx: &mut Tx, row: NewMemoryRow<'_>) -> Result<()> {
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO memories (owner, project_id, session_id, task_id, key, value, metadata, created_at, updated_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)
         ON CONFLICT (owner, COALESCE(project_id, ''), COALESCE(session_id, ''), COALESCE(task_id, ''), key) DO UPDATE SET value = excluded.value,
           metadata = excluded.metadata, updated_at = excluded.updated_at, expires_at = excluded.expires_at,
           created_at = CASE WHEN memories.expires_at <= $8 THEN $8 ELSE memories.created_at END
         RETURNING id",
    )
    .bind(&row.owner.key)
    .bind(row.owner.project.as_ref().map(ProjectId::as_str))
    .bind(row.place.session.as_ref().map(ContextSessionId::as_str))
    .bind(row.place.task.as_ref().map(TaskId::as_str))
    .bind(row.key)
    .bind(row.value)
    .bind(serde_json::to_string(row.metadata)?)
    .bind(tx.now.to_string())
    .bind(row.expires_at.map(|at| at.to_string()))
    .fetch_one(&mut tx.connection)
    .await?;
    index(tx, id, row).await
}

/// Makes an entry searchable, unless it belongs to a person.
async fn index(tx: &mut Tx, id: i64, row: NewMemoryRow<'_>) -> Result<()> {
    let Some(project) = &row.owner.project else { return Ok(()) };
    let (reference, text) = (id.to_string(), format!("{}\n{}", row.key, searchable_text(&serde_json::from_str(row.value)?)));
    if !search::replace(tx, SearchKind::Memory, &reference, &text).await? {
        let document = Document { kind: SearchKind::Memory, reference: &reference, project, task: row.place.task.as_ref() };
        search::add(tx, document, &text).await?;
    }
    Ok(())
}

/// Removes entries that were deleted from the search.
async fn unindex(tx: &mut Tx, ids: &[i64]) -> Result<()> {
    for id in ids {
        search::remove(tx, SearchKind::Memory, &id.to_string()).await?;
    }
    Ok(())
}

pub(super) async fn delete(tx: &mut Tx, owner: &MemoryOwner, place: &MemoryPlace, key: &str) -> Result<()> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "DELETE FROM memories WHERE owner = $1 AND COALESCE(project_id, '') = $2 AND COALESCE(session_id, '') = $3 AND COALESCE(task_id, '') = $4
           AND key = $5 RETURNING id",
    )
    .bind(&owner.key)
    .bind(owner.project.as_ref().map_or("", ProjectId::as_str))
    .bind(place.session.as_ref().map_or("", ContextSessionId::as_str))
    .bind(place.task.as_ref().map_or("", TaskId::as_str))
    .bind(key)
    .fetch_all(&mut tx.connection)
    .await?;
    unindex(tx, &ids).await
}

/// Records an event of an entry. A person has entries without a project.
pub(super) fn record(tx: &mut Tx, caller: &Caller, owner: &MemoryOwner, event: MemoryEvent) {
    match (&owner.project, caller) {
        (Some(project), Caller::Run(run)) => tx.record_without_card(caller, project, Some(&run.task_id), event),
        (Some(project), _) => tx.record_without_card(caller, project, None, event),
        (None, _) => tx.record(caller, event),
    }
}

/// Deletes the entries of an external agent, because another agent gets its name.
pub(crate) async fn delete_of_agent(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let owner = MemoryOwner::of_reader(&Reader::Agent { project: project.clone(), name: name.to_owned(), admin: false });
    let ids: Vec<i64> = sqlx::query_scalar("DELETE FROM memories WHERE owner = $1 AND COALESCE(project_id, '') = $2 RETURNING id")
        .bind(&owner.key)
        .bind(project.as_str())
        .fetch_all(&mut tx.connection)
        .await?;
    unindex(tx, &ids).await
}

/// Gives the entries of an external agent to its new name.
pub(crate) async fn rename_owner(tx: &mut Tx, project: &ProjectId, old: &str, new: &str) -> Result<()> {
    let [before, after] =
        [old, new].map(|name| MemoryOwner::of_reader(&Reader::Agent { project: project.clone(), name: name.to_owned(), admin: false }));
    sqlx::query("UPDATE memories SET owner = $3 WHERE owner = $1 AND COALESCE(project_id, '') = $2")
        .bind(&before.key)
        .bind(project.as_str())
        .bind(&after.key)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// The oldest expired entries at `$1`, at most `$2`.
pub(crate) const EXPIRED: &str = "SELECT id FROM memories WHERE expires_at IS NOT NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2";

/// Removes at most `batch` expired entries. Returns how many were removed.
pub(crate) async fn remove_expired(tx: &mut Tx, batch: i64) -> Result<u64> {
    let ids: Vec<i64> = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("DELETE FROM memories WHERE id IN ({EXPIRED}) RETURNING id")))
        .bind(tx.now.to_string())
        .bind(batch)
        .fetch_all(&mut tx.connection)
        .await?;
    unindex(tx, &ids).await?;
    Ok(ids.len() as u64)
}
