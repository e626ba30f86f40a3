//! Hats: who worked on what in which role.

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::team::hat::HatAssignment;
use domain::wire::List;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Who wore which hat for which task of a project, oldest first
#[utoipa::path(get, path = "/api/projects/{id}/hats", params(("id" = ProjectId, Path)), responses((status = 200, body = List<HatAssignment>)))]
pub(crate) async fn list(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<HatAssignment>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.hats(&project).await?, next: None }))
}
