//! Debriefs of a project, and the end of a session of its war room.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::warroom::debrief::{Debrief, NewDebrief, SessionEnd};
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, QueryParameters};
use crate::state::AppState;

/// The debriefs on a page.
const PAGE: u32 = 20;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DebriefParameters {
    /// Only debriefs before this one: `next` of the previous page.
    before: Option<i64>,
}

/// List the debriefs of a project, newest first
#[utoipa::path(
    get,
    path = "/api/projects/{id}/debriefs",
    params(("id" = ProjectId, Path), DebriefParameters),
    responses((status = 200, body = List<Debrief>))
)]
pub(crate) async fn list_debriefs(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<DebriefParameters>,
) -> Result<Json<List<Debrief>>> {
    let items = state.db.debriefs(&project, given.before, PAGE + 1).await?;
    Ok(Json(List::page(items, PAGE, |debrief| debrief.id)))
}

/// File a debrief of the session
#[utoipa::path(
    post,
    path = "/api/projects/{id}/debriefs",
    params(("id" = ProjectId, Path)),
    request_body = NewDebrief,
    responses((status = 201, body = Debrief))
)]
pub(crate) async fn file_debrief(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewDebrief>,
) -> Result<(StatusCode, Json<Debrief>)> {
    Ok((StatusCode::CREATED, Json(state.db.debrief(&caller, &project, new).await?)))
}

/// End the session of the war room
///
/// Its battle plans are completed, and entries of low priority leave the raid log.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/end-session",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = SessionEnd), (status = 409, description = "Tasks are open, or no debrief was filed."))
)]
pub(crate) async fn end_session(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
) -> Result<Json<SessionEnd>> {
    Ok(Json(state.db.end_session(&caller, &project).await?))
}
