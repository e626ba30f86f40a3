//! Pauses of one project, and of all.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::pause::PauseStatus;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Keep new agents from starting in a project; running agents continue
#[utoipa::path(post, path = "/api/projects/{id}/pause", params(("id" = ProjectId, Path)), responses((status = 200, body = Project)))]
pub(crate) async fn pause_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.pause_project(&caller, &id).await?))
}

/// End the pause of a project
#[utoipa::path(post, path = "/api/projects/{id}/resume", params(("id" = ProjectId, Path)), responses((status = 200, body = Project)))]
pub(crate) async fn resume_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.resume_project(&caller, &id).await?))
}

/// Keep new agents from starting in any project; running agents continue
#[utoipa::path(post, path = "/api/pause", responses((status = 200, body = PauseStatus)))]
pub(crate) async fn pause_all(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Result<Json<PauseStatus>> {
    Ok(Json(state.db.pause_all(&caller).await?))
}

/// End the pause of all projects; projects that were paused one by one stay paused
#[utoipa::path(post, path = "/api/resume", responses((status = 200, body = PauseStatus)))]
pub(crate) async fn resume_all(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Result<Json<PauseStatus>> {
    Ok(Json(state.db.resume_all(&caller).await?))
}
