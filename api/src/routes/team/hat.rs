//! Hats: the role in which each agent worked on each task.

use axum::Json;
use axum::extract::State;
use domain::hat::HatWorn;
use domain::id::ProjectId;
use domain::wire::List;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// List the hats that agents wore for tasks of a project, oldest first
#[utoipa::path(get, path = "/api/projects/{id}/hats", params(("id" = ProjectId, Path)), responses((status = 200, body = List<HatWorn>)))]
pub(crate) async fn list_hats(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<HatWorn>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.hats(&project).await?, next: None }))
}
