//! Projects and their boards.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use db::Caller;
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::id::ProjectId;
use domain::wire::{List, NewProject, ProjectPatch};

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::routes::repository::{self, Wanted};
use crate::state::AppState;

/// Every project, the newest first
#[utoipa::path(get, path = "/api/projects", responses((status = 200, body = List<Project>)))]
pub(crate) async fn list(State(state): State<AppState>) -> Result<Json<List<Project>>> {
    Ok(Json(List { items: state.db.projects().await?, next: None }))
}

/// Make a project on a git repository
#[utoipa::path(post, path = "/api/projects", request_body = NewProject, responses((status = 201, body = Project)))]
pub(crate) async fn create(State(state): State<AppState>, Body(new): Body<NewProject>) -> Result<(StatusCode, Json<Project>)> {
    let wanted = Wanted { path: new.repo_path.clone(), base_branch: new.base_branch.clone() };
    let probe = repository::probe(&state, wanted).await?;
    Ok((StatusCode::CREATED, Json(state.db.create_project(&Caller::Human, new, probe).await?)))
}

/// One project
#[utoipa::path(get, path = "/api/projects/{id}", params(("id" = ProjectId, Path)), responses((status = 200, body = Project)))]
pub(crate) async fn show(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<Project>> {
    Ok(Json(state.db.project(&id).await?))
}

/// Change what a project says
#[utoipa::path(patch, path = "/api/projects/{id}", params(("id" = ProjectId, Path)), request_body = ProjectPatch, responses((status = 200, body = Project)))]
pub(crate) async fn edit(State(state): State<AppState>, Id(id): Id<ProjectId>, Body(patch): Body<ProjectPatch>) -> Result<Json<Project>> {
    Ok(Json(state.db.edit_project(&Caller::Human, &id, patch).await?))
}

/// A project's cards, and the event up to which they are true
#[utoipa::path(get, path = "/api/projects/{id}/board", params(("id" = ProjectId, Path)), responses((status = 200, body = Board)))]
pub(crate) async fn board(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<Board>> {
    Ok(Json(state.db.board(&id).await?))
}
