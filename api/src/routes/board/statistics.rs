//! The statistics of a project.

use axum::Json;
use axum::extract::State;
use domain::board::statistics::ProjectStatistics;
use domain::id::ProjectId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

const DEFAULT_DAYS: u32 = 30;
const MAX_DAYS: u32 = 90;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatisticsQuery {
    /// How many days the period has, today included. At most 90; 30 if missing.
    days: Option<u32>,
}

/// Get what each kind of agent consumed and finished on each of the last days, and how long its tasks took
#[utoipa::path(
    get,
    path = "/api/projects/{id}/statistics",
    params(("id" = ProjectId, Path), StatisticsQuery),
    responses((status = 200, body = ProjectStatistics))
)]
pub(crate) async fn get_statistics(
    State(state): State<AppState>,
    Id(id): Id<ProjectId>,
    QueryParameters(query): QueryParameters<StatisticsQuery>,
) -> Result<Json<ProjectStatistics>> {
    Ok(Json(state.db.statistics(&id, query.days.unwrap_or(DEFAULT_DAYS).clamp(1, MAX_DAYS)).await?))
}
