//! The formation that suits a project: how many agents of which class to have at the same time.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::warroom::formation::{Formation, FormationFacts, MAX_LINES};
use repo::{Effort, Repository};

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Propose how many agents to have, from the size of the repository and the work that is ready
///
/// Nothing changes. `PATCH /api/projects/{id}` with `max_coders` applies the number of coders; `configuration` is a line for the configuration
/// file; agents of other classes are the caller's own.
#[utoipa::path(
    get,
    path = "/api/projects/{id}/formation",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = Formation), (status = 409, description = "The repository cannot be read."))
)]
pub(crate) async fn get_formation(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<Formation>> {
    let project = state.db.project(&id).await?;
    let zones = state.db.zones(&id).await?;
    let git_dir = PathBuf::from(&project.git_dir);
    let lines = repo::in_lane(&git_dir.clone(), Effort::Long, move || {
        let repository = Repository::open(&git_dir)?;
        // Without any work there is no project branch yet.
        let tip = repository.ref_sha(&project.integration_branch)?.unwrap_or(project.base_head);
        repository.count_lines(&tip, MAX_LINES)
    });
    let facts = FormationFacts {
        lines: lines.await??,
        zones: zones.into_iter().map(|zone| (zone.name, zone.oracle.is_some())).collect(),
        independent_tasks: state.db.independent_tasks(&id).await?,
        max_coders: project.max_coders,
        max_parallel_agents: state.config.borrow().config.max_parallel_agents,
    };
    Ok(Json(Formation::propose(facts)))
}
