//! The code map of a project, which a person makes when they want it. Must not make it: a process of the runner does.

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::warroom::code_map::CodeMapView;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Map the source code of a project: its languages, folders and lines, and where the map is
#[utoipa::path(
    post,
    path = "/api/projects/{id}/code-map",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = CodeMapView), (status = 422, description = "The repository cannot be read, or the map was not made."))
)]
pub(crate) async fn map_code(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<CodeMapView>> {
    Ok(Json((state.map_code)(project).await?))
}
