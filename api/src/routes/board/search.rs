//! Search over the texts of all projects.

use axum::Json;
use axum::extract::State;
use db::SearchQuery;
use domain::board::search::SearchHit;
use domain::id::ProjectId;
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::QueryParameters;
use crate::state::AppState;

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 50;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParameters {
    /// The words to look for. Eight of them and 128 characters count.
    q: String,
    /// Only texts of this project.
    project: Option<ProjectId>,
    /// At most 50; 20 if missing.
    limit: Option<u32>,
}

/// Search titles, descriptions, comments, messages and failures of runs on all projects, best first
///
/// Words are found in any order, with typing errors, and before they are finished. Operators and wildcards have no meaning.
#[utoipa::path(get, path = "/api/search", params(SearchParameters), responses((status = 200, body = List<SearchHit>)))]
pub(crate) async fn search(
    State(state): State<AppState>,
    QueryParameters(given): QueryParameters<SearchParameters>,
) -> Result<Json<List<SearchHit>>> {
    let SearchParameters { q, project, limit } = given;
    let query = SearchQuery { text: q, project, limit: limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT) };
    Ok(Json(List { items: state.db.search(&query).await?, next: None }))
}
