//! Plans that wait for the human's approval.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::wire::TextBody;

use crate::error::Result;
use crate::extract::{Body, Id, NoBody};
use crate::state::AppState;

/// Approve a plan, which starts all of its tasks
#[utoipa::path(post, path = "/api/projects/{id}/plan/approve", params(("id" = ProjectId, Path)), responses((status = 200, body = Project)))]
pub(crate) async fn approve_plan(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    _: NoBody,
) -> Result<Json<Project>> {
    Ok(Json(state.db.approve_plan(&caller, &id).await?))
}

/// Send a plan back to its planner with comments
#[utoipa::path(
    post,
    path = "/api/projects/{id}/plan/revise",
    params(("id" = ProjectId, Path)),
    request_body = TextBody,
    responses((status = 200, body = Project))
)]
pub(crate) async fn revise_plan(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(text): Body<TextBody>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.revise_plan(&caller, &id, &text.content).await?))
}
