//! The heat map: how much work each part of a repository takes.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::warroom::heat_map::HeatMap;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Show how much work the zones and folders of a repository take
///
/// Open tasks count, and those that ended in the last 30 days: the last 500 of them at most.
#[utoipa::path(
    get,
    path = "/api/projects/{id}/heat-map",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = HeatMap), (status = 422, description = "The repository cannot be read."))
)]
pub(crate) async fn get_heat_map(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<HeatMap>> {
    let facts = state.db.heat_facts(&project).await?;
    let project = state.db.project(&project).await?;
    let branches = vec![project.integration_branch, project.base_branch];
    Ok(Json(repo::with_commit_files(Path::new(&project.git_dir), branches, move |files| HeatMap::of(&facts, files)).await?))
}
