//! Handshakes: the person's word to all, and who has acknowledged it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use db::Caller;
use domain::id::ProjectId;
use domain::team::handshake::Handshake;
use domain::wire::{List, NewHandshake};

use crate::error::Result;
use crate::extract::{Body, Id, NoBody, Number};
use crate::state::AppState;

/// The handshakes of a project, the newest first
#[utoipa::path(get, path = "/api/projects/{id}/handshakes", params(("id" = ProjectId, Path)), responses((status = 200, body = List<Handshake>)))]
pub(crate) async fn list(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<Handshake>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.handshakes(&project).await?, next: None }))
}

/// Tell agents something that each of them is to acknowledge
#[utoipa::path(post, path = "/api/projects/{id}/handshakes", params(("id" = ProjectId, Path)), request_body = NewHandshake, responses((status = 201, body = Handshake)))]
pub(crate) async fn create(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewHandshake>,
) -> Result<(StatusCode, Json<Handshake>)> {
    let handshake = state.db.initiate_handshake(&Caller::Human, &project, &new.message, new.agents).await?;
    Ok((StatusCode::CREATED, Json(handshake)))
}

/// Acknowledge a handshake that asks the person
#[utoipa::path(post, path = "/api/handshakes/{id}/acknowledge", params(("id" = i64, Path)), responses((status = 200, body = Handshake)))]
pub(crate) async fn acknowledge(State(state): State<AppState>, Number(id): Number, _: NoBody) -> Result<Json<Handshake>> {
    Ok(Json(state.db.acknowledge(&Caller::Human, id).await?))
}
