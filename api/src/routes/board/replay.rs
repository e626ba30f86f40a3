//! The board of a project in the past.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::replay::ReplayPart;
use domain::event::Seq;
use domain::id::ProjectId;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReplayQuery {
    /// An event of the project, or any number beside one; the last event if missing.
    at: Option<Seq>,
}

/// Get the board of a project at a past event, with the events around it
///
/// Apply the events up to the wanted one to the board. Retention removes old events: the past begins at `first`.
#[utoipa::path(
    get,
    path = "/api/projects/{id}/replay",
    params(("id" = ProjectId, Path), ReplayQuery),
    responses((status = 200, body = ReplayPart))
)]
pub(crate) async fn get_replay(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    QueryParameters(query): QueryParameters<ReplayQuery>,
) -> Result<Json<ReplayPart>> {
    Ok(Json(state.db.replay(&caller, &id, query.at).await?))
}
