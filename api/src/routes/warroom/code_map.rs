//! The code map of a project, which a person makes when they want it. Must not make it: a process of the runner does.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::warroom::code_map::CodeMapView;
use repo::{Effort, KeptCodeMap};

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Show the last code map of a project, which a planner or a person made
///
/// The answer is `null` if the project has none.
#[utoipa::path(get, path = "/api/projects/{id}/code-map", params(("id" = ProjectId, Path)), responses((status = 200, body = Option<CodeMapView>)))]
pub(crate) async fn get_code_map(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<Option<CodeMapView>>> {
    let project = state.db.project(&project).await?;
    let folder = KeptCodeMap::folder(&state.db.folder(), project.id.as_str());
    let view = repo::in_lane(Path::new(&project.git_dir), Effort::Brief, move || KeptCodeMap::view(&folder));
    Ok(Json(view.await?))
}

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
