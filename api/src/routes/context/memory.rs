//! The memory of a project's agents, which the owner of the board sees and edits.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::{Act, Caller};
use domain::audit::{AuditKind, DONE};
use domain::context::memory::{MemoryEntry, MemoryPatch, MemorySummary, OwnedMemory};
use domain::id::ProjectId;
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, NoBody, NumericId, QueryParameters};
use crate::state::AppState;

/// The entries on a page.
const PAGE: u32 = 200;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MemoryParameters {
    /// Only entries before this one: `next` of the previous page.
    before: Option<i64>,
}

/// List the memory of a project's agents, newest first, without values
#[utoipa::path(
    get,
    path = "/api/projects/{id}/memory",
    params(("id" = ProjectId, Path), MemoryParameters),
    responses((status = 200, body = List<OwnedMemory<MemorySummary>>))
)]
pub(crate) async fn list_project_memory(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<MemoryParameters>,
) -> Result<Json<List<OwnedMemory<MemorySummary>>>> {
    let mut items = state.db.project_memories(&caller, &project, given.before, Some(PAGE + 1)).await?;
    let has_more = items.len() > PAGE as usize;
    items.truncate(PAGE as usize);
    let next = items.last().filter(|_| has_more).map(|last| last.id);
    Ok(Json(List { items, next }))
}

/// Returns the name of entries in the audit log.
pub(in crate::routes) fn memory_subject(ids: impl std::fmt::Display) -> String {
    format!("memory {ids}")
}

/// Get an entry of an agent's memory
///
/// The audit log records it.
#[utoipa::path(
    get,
    path = "/api/memory/{id}",
    params(("id" = i64, Path, minimum = 1)),
    responses((status = 200, body = OwnedMemory<MemoryEntry>))
)]
pub(crate) async fn get_agent_memory(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Extension(act): Extension<Act>,
    NumericId(id): NumericId,
) -> Result<Json<OwnedMemory<MemoryEntry>>> {
    let found = state.db.agent_memory(&caller, id).await?;
    state.db.record_fact(AuditKind::Read, &act, Some(&caller), Some(&memory_subject(id)), DONE);
    Ok(Json(found))
}

/// Replace the value of an entry of an agent's memory
#[utoipa::path(
    patch,
    path = "/api/memory/{id}",
    params(("id" = i64, Path, minimum = 1)),
    request_body = MemoryPatch,
    responses((status = 200, body = OwnedMemory<MemoryEntry>), (status = 409, description = "The entry was changed since it was read."))
)]
pub(crate) async fn edit_agent_memory(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(id): NumericId,
    Body(patch): Body<MemoryPatch>,
) -> Result<Json<OwnedMemory<MemoryEntry>>> {
    Ok(Json(state.db.edit_agent_memory(&caller, id, patch).await?))
}

/// Delete an entry of an agent's memory
#[utoipa::path(
    delete,
    path = "/api/memory/{id}",
    params(("id" = i64, Path, minimum = 1)),
    responses((status = 204, description = "It is deleted"))
)]
pub(crate) async fn delete_agent_memory(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(id): NumericId,
    _: NoBody,
) -> Result<StatusCode> {
    state.db.delete_agent_memory(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
