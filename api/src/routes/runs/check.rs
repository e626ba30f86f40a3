//! The checks of a task: their results, and the output of each.

use std::io::ErrorKind;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::check::StageResults;
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

/// A result of a task.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CheckQuery {
    /// The `id` of the result.
    result: i64,
}

/// List the checks of a task: those of its last submitted commit, then those of its merge
#[utoipa::path(get, path = "/api/tasks/{id}/checks", params(("id" = TaskId, Path)), responses((status = 200, body = List<StageResults>)))]
pub(crate) async fn list_checks(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<List<StageResults>>> {
    Ok(Json(List { items: state.db.task_checks(&id).await?, next: None }))
}

/// Get everything that a check printed, while it is kept
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/checks/output",
    params(("id" = TaskId, Path), CheckQuery),
    responses((status = 200, body = String, content_type = "text/plain"))
)]
pub(crate) async fn get_check_output(
    State(state): State<AppState>,
    Id(id): Id<TaskId>,
    QueryParameters(CheckQuery { result }): QueryParameters<CheckQuery>,
) -> Result<Response> {
    let not_found = || Refusal::not_found("output of a check of this task", result);
    let stages = state.db.task_checks(&id).await?;
    if !stages.iter().flat_map(|stage| &stage.results).any(|known| known.id == result) {
        return Err(not_found().into());
    }
    let path = state.db.check_output(result).await?;
    match tokio::fs::read(&path).await {
        Ok(bytes) => {
            let mut response = bytes.into_response();
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            Ok(response)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(not_found().into()),
        Err(source) => Err(db::Error::File { attempted: format!("read the output of a check of {id}"), source }.into()),
    }
}
