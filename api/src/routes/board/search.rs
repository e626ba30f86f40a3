//! Search over the texts of all projects.

use axum::extract::State;
use axum::{Extension, Json};
use db::{Act, Caller, SearchQuery};
use domain::audit::{AuditKind, DONE};
use domain::board::search::{SearchHit, SearchKind};
use domain::id::ProjectId;
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::QueryParameters;
use crate::rate_limit::CountedSearch;
use crate::routes::context::memory_subject;
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

/// Search titles, descriptions, comments, messages, failures of runs and findings on all projects, best first
///
/// The owner of the board also finds the memory of agents, which the audit log records. Words are found in any order, with typing errors, and
/// before they are finished. Operators and wildcards have no meaning.
#[utoipa::path(get, path = "/api/search", params(SearchParameters), responses((status = 200, body = List<SearchHit>)))]
pub(crate) async fn search(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Extension(act): Extension<Act>,
    _: CountedSearch,
    QueryParameters(given): QueryParameters<SearchParameters>,
) -> Result<Json<List<SearchHit>>> {
    let SearchParameters { q, project, limit } = given;
    let query = SearchQuery { text: q, project, limit: limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT) };
    let items = state.db.search(&caller, &query).await?;
    let memory: Vec<&str> = items.iter().filter(|hit| hit.kind == SearchKind::Memory).map(|hit| hit.id.as_str()).collect();
    if !memory.is_empty() {
        state.db.record_fact(AuditKind::Read, &act, Some(&caller), Some(&memory_subject(memory.join(", "))), DONE);
    }
    Ok(Json(List { items, next: None }))
}
