//! Hats: the role in which each agent worked on each task.

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::team::hat::HatAssignment;
use domain::wire::List;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// List the hats that agents wore for tasks of a project, oldest first
#[utoipa::path(get, path = "/api/projects/{id}/hats", params(("id" = ProjectId, Path)), responses((status = 200, body = List<HatAssignment>)))]
pub(crate) async fn list_hats(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<HatAssignment>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.hats(&project).await?, next: None }))
}
