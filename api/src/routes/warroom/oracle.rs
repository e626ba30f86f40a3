//! Questions to the oracles of zones, and what those answered.

use std::path::Path;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::warroom::oracle::{NewOracleQuestion, OracleQuestion, OracleUse};
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, QueryParameters};
use crate::state::AppState;

/// The questions on a page: the default, and the most.
const PAGE: u32 = 20;
const MAX_PAGE: u32 = 100;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OracleParameters {
    /// Only questions before this one: `next` of the previous page.
    before: Option<i64>,
    /// At most 100; 20 if missing.
    limit: Option<u32>,
}

/// List the questions to oracles with their answers, newest first
#[utoipa::path(
    get,
    path = "/api/projects/{id}/oracle-questions",
    params(("id" = ProjectId, Path), OracleParameters),
    responses((status = 200, body = List<OracleQuestion>))
)]
pub(crate) async fn list_oracle_questions(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<OracleParameters>,
) -> Result<Json<List<OracleQuestion>>> {
    let limit = given.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let items = state.db.oracle_questions(&project, given.before, limit + 1).await?;
    Ok(Json(List::page(items, limit, |question| question.id)))
}

/// Ask the oracles of zones
///
/// Each oracle gets one message, and its reply to that message is the answer. A question that waits for its answer is not sent twice. A managed
/// oracle answers from its notes if it answered the same question and no file of its zone changed since; else the runner starts it.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/oracle-questions",
    params(("id" = ProjectId, Path)),
    request_body = NewOracleQuestion,
    responses(
        (status = 201, body = List<OracleQuestion>),
        (status = 404, description = "The project does not exist, or a name is neither a zone nor a file in one."),
        (status = 409, description = "A zone has no oracle, or you are its oracle.")
    )
)]
pub(crate) async fn ask_oracle(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewOracleQuestion>,
) -> Result<(StatusCode, Json<List<OracleQuestion>>)> {
    // Asking refuses a bad question.
    let notes = state.db.oracle_notes(&project, &new).await.unwrap_or_default();
    let notes = if notes.is_empty() {
        Vec::new()
    } else {
        let project = state.db.project(&project).await?;
        // Where the repository cannot be read, the oracle reads it.
        repo::holding_notes(Path::new(&project.git_dir), &project.integration_branch, notes).await.unwrap_or_default()
    };
    let asked = state.db.ask_oracle(&caller, &project, new, notes).await?;
    Ok((StatusCode::CREATED, Json(List { items: asked.questions, next: None })))
}

/// Show what the oracle of each zone answered so far
///
/// `context_tokens` is measured: for each answer, the tokens that its oracle had in its context by its last report. At most, the asker would have
/// had to read that many; it read `answer_bytes` instead. `tokens` and `cost_micro_usd` are what the runs of a managed oracle consumed.
#[utoipa::path(
    get,
    path = "/api/projects/{id}/oracle-use",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = List<OracleUse>))
)]
pub(crate) async fn list_oracle_use(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<OracleUse>>> {
    Ok(Json(List { items: state.db.oracle_use(&project).await?, next: None }))
}
