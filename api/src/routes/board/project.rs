//! Projects and their boards.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::wire::{BoardView, List, NewProject, ProjectPatch};

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::routes::repository::{ProbeQuery, probe};
use crate::state::AppState;

/// List all projects, newest first
#[utoipa::path(get, path = "/api/projects", responses((status = 200, body = List<Project>)))]
pub(crate) async fn list_projects(State(state): State<AppState>) -> Result<Json<List<Project>>> {
    Ok(Json(List { items: state.db.projects().await?, next: None }))
}

/// Create a project on a git repository
#[utoipa::path(post, path = "/api/projects", request_body = NewProject, responses((status = 201, body = Project)))]
pub(crate) async fn create_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Body(new): Body<NewProject>,
) -> Result<(StatusCode, Json<Project>)> {
    let query = ProbeQuery { path: new.repo_path.clone(), base_branch: new.base_branch.clone() };
    let repository = probe(&state, query).await?;
    Ok((StatusCode::CREATED, Json(state.db.create_project(&caller, new, repository).await?)))
}

/// Get a project
#[utoipa::path(get, path = "/api/projects/{id}", params(("id" = ProjectId, Path)), responses((status = 200, body = Project)))]
pub(crate) async fn get_project(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<Project>> {
    Ok(Json(state.db.project(&id).await?))
}

/// Change the title, description or plan approval of a project
#[utoipa::path(
    patch,
    path = "/api/projects/{id}",
    params(("id" = ProjectId, Path)),
    request_body = ProjectPatch,
    responses((status = 200, body = Project))
)]
pub(crate) async fn edit_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(patch): Body<ProjectPatch>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.edit_project(&caller, &id, patch).await?))
}

/// Get the open and the newest finished cards of a project, with the number of the last event that they include
#[utoipa::path(get, path = "/api/projects/{id}/board", params(("id" = ProjectId, Path)), responses((status = 200, body = BoardView)))]
pub(crate) async fn get_board(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<BoardView>> {
    Ok(Json(state.db.board(&id).await?))
}
