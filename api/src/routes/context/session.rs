//! Context sessions of a project.

pub(super) mod message;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::{Caller, SessionListQuery};
use domain::context::session::{ContextSession, ContextSessionId, NewContextSession};
use domain::id::{ProjectId, TaskId};
use domain::wire::{ContextUse, List};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, NoBody, QueryParameters};
use crate::state::AppState;

/// The sessions on a page.
const PAGE: u32 = 50;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionParameters {
    /// Also list closed sessions.
    #[serde(default)]
    closed: bool,
    /// `next` of the previous page.
    #[serde(default)]
    after: u32,
}

/// Tell whether a project uses shared context
#[utoipa::path(get, path = "/api/projects/{id}/context", params(("id" = ProjectId, Path)), responses((status = 200, body = ContextUse)))]
pub(crate) async fn get_context_use(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<ContextUse>> {
    state.db.project(&project).await?;
    let (messages, memory) = (state.db.has_session_messages(&project).await?, state.db.features_in_use(&project, None).await?.memory);
    Ok(Json(ContextUse { messages, memory }))
}

/// List the context sessions of a project, newest first
///
/// Each project and each plan has one automatically.
#[utoipa::path(
    get,
    path = "/api/projects/{id}/context-sessions",
    params(("id" = ProjectId, Path), SessionParameters),
    responses((status = 200, body = List<ContextSession>))
)]
pub(crate) async fn list_context_sessions(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<SessionParameters>,
) -> Result<Json<List<ContextSession>>> {
    let query = SessionListQuery { project: Some(project), include_closed: given.closed, limit: Some(PAGE + 1), offset: given.after };
    let mut items = state.db.context_sessions(&caller, &query).await?;
    let next = (items.len() > PAGE as usize).then(|| i64::from(given.after) + i64::from(PAGE));
    items.truncate(PAGE as usize);
    Ok(Json(List { items, next }))
}

/// Create a context session in a project
#[utoipa::path(
    post,
    path = "/api/projects/{id}/context-sessions",
    params(("id" = ProjectId, Path)),
    request_body = NewContextSession,
    responses((status = 201, body = ContextSession))
)]
pub(crate) async fn create_context_session(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewContextSession>,
) -> Result<(StatusCode, Json<ContextSession>)> {
    Ok((StatusCode::CREATED, Json(state.db.create_context_session(&caller, Some(&project), new).await?)))
}

/// Get a context session
#[utoipa::path(
    get,
    path = "/api/context-sessions/{id}",
    params(("id" = ContextSessionId, Path)),
    responses((status = 200, body = ContextSession))
)]
pub(crate) async fn get_context_session(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(session): Id<ContextSessionId>,
) -> Result<Json<ContextSession>> {
    Ok(Json(state.db.context_session(&caller, &session).await?))
}

/// Get the context session in which a task takes part: that of its plan, or else that of its project
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/context-session",
    params(("id" = TaskId, Path)),
    responses((status = 200, body = ContextSession))
)]
pub(crate) async fn get_context_session_of_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(task): Id<TaskId>,
) -> Result<Json<ContextSession>> {
    Ok(Json(state.db.context_session_of_task(&caller, &task).await?))
}

/// Close a context session; it can still be read
#[utoipa::path(
    post,
    path = "/api/context-sessions/{id}/close",
    params(("id" = ContextSessionId, Path)),
    responses((status = 200, body = ContextSession), (status = 409, description = "The session belongs to its project or plan, and stays open."))
)]
pub(crate) async fn close_context_session(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(session): Id<ContextSessionId>,
    _: NoBody,
) -> Result<Json<ContextSession>> {
    Ok(Json(state.db.close_context_session(&caller, &session).await?))
}
