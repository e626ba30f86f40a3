//! Permission requests: a person answers what a running agent asked.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::id::RunId;
use domain::runs::permission::PermissionRequest;
use domain::wire::PermissionDecision;

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// Answer a permission request of a running agent; the first answer counts
#[utoipa::path(
    post, path = "/api/runs/{id}/permission",
    params(("id" = RunId, Path)),
    request_body = PermissionDecision,
    responses((status = 200, body = PermissionRequest), (status = 409, description = "Someone already answered it.")),
)]
pub(crate) async fn answer_permission(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<RunId>,
    Body(decision): Body<PermissionDecision>,
) -> Result<Json<PermissionRequest>> {
    let PermissionDecision { request, answer, reason } = decision;
    Ok(Json(state.db.answer_permission(&caller, &id, request, answer, reason.as_deref()).await?))
}
