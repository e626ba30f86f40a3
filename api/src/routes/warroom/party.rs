//! The agents that are present in a project.

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::warroom::party::PartyMember;
use domain::wire::List;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// List the agents that are present in a project, with the context that each has left and its tasks
#[utoipa::path(get, path = "/api/projects/{id}/party", params(("id" = ProjectId, Path)), responses((status = 200, body = List<PartyMember>)))]
pub(crate) async fn get_party(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<PartyMember>>> {
    Ok(Json(List { items: state.db.party(&project).await?, next: None }))
}
