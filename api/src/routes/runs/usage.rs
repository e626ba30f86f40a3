//! Usage: what the agents of a project consumed.

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::wire::ProjectUsage;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Get what the agents of a project consumed and how much of the limits is used, in total, by kind of agent, by day and by task
#[utoipa::path(get, path = "/api/projects/{id}/usage", params(("id" = ProjectId, Path)), responses((status = 200, body = ProjectUsage)))]
pub(crate) async fn get_usage(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<ProjectUsage>> {
    let limits = state.config.borrow().config.limits.clone();
    Ok(Json(state.db.usage(&id, &limits).await?))
}
