//! Handshakes: plans that each target must acknowledge.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::team::handshake::Handshake;
use domain::wire::{List, NewHandshake};

use crate::error::Result;
use crate::extract::{Body, Id, NoBody, NumericId};
use crate::state::AppState;

/// List the handshakes of a project, newest first
#[utoipa::path(get, path = "/api/projects/{id}/handshakes", params(("id" = ProjectId, Path)), responses((status = 200, body = List<Handshake>)))]
pub(crate) async fn list_handshakes(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<Handshake>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.handshakes(&project).await?, next: None }))
}

/// Send agents a plan that each of them must acknowledge
#[utoipa::path(
    post,
    path = "/api/projects/{id}/handshakes",
    params(("id" = ProjectId, Path)),
    request_body = NewHandshake,
    responses((status = 201, body = Handshake), (status = 409, description = "A target left."))
)]
pub(crate) async fn initiate_handshake(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewHandshake>,
) -> Result<(StatusCode, Json<Handshake>)> {
    let handshake = state.db.initiate_handshake(&caller, &project, &new.message, new.agents).await?;
    Ok((StatusCode::CREATED, Json(handshake)))
}

/// Acknowledge a handshake that targets the human
#[utoipa::path(
    post,
    path = "/api/handshakes/{id}/acknowledge",
    params(("id" = i64, Path)),
    responses((status = 200, body = Handshake), (status = 409, description = "It is already acknowledged."))
)]
pub(crate) async fn acknowledge_handshake(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(id): NumericId,
    _: NoBody,
) -> Result<Json<Handshake>> {
    Ok(Json(state.db.acknowledge(&caller, id).await?))
}
