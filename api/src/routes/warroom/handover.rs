//! Handovers: what agents left to their successors.

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::warroom::handover::Handover;
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

/// The handovers on a page.
const PAGE: u32 = 20;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HandoverParameters {
    /// Only handovers before this one: `next` of the previous page.
    before: Option<i64>,
}

/// List the handovers of a project, newest first
#[utoipa::path(
    get,
    path = "/api/projects/{id}/handovers",
    params(("id" = ProjectId, Path), HandoverParameters),
    responses((status = 200, body = List<Handover>))
)]
pub(crate) async fn list_handovers(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<HandoverParameters>,
) -> Result<Json<List<Handover>>> {
    let items = state.db.handovers(&project, given.before, PAGE + 1).await?;
    Ok(Json(List::page(items, PAGE, |handover| handover.id)))
}
