//! Review rounds: what was submitted each time, and why it was sent back.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use domain::board::review_round::ReviewRound;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::diff::Diff;
use domain::wire::List;
use repo::{DiffLimits, Effort, Repository};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{Error, Result};
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

/// A round of a task.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RoundQuery {
    /// Its number, from 1.
    number: u32,
}

/// List the review rounds in which a task was sent back, the oldest first
#[utoipa::path(get, path = "/api/tasks/{id}/rounds", params(("id" = TaskId, Path)), responses((status = 200, body = List<ReviewRound>)))]
pub(crate) async fn list_review_rounds(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<List<ReviewRound>>> {
    Ok(Json(List { items: state.db.review_rounds(&id).await?, next: None }))
}

/// Get the changes that were submitted in a review round
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/rounds/diff",
    params(("id" = TaskId, Path), RoundQuery),
    responses((status = 200, body = Diff), (status = 422, description = "The repository cannot be read, or the commit is missing."))
)]
pub(crate) async fn get_review_round_diff(
    State(state): State<AppState>,
    Id(id): Id<TaskId>,
    QueryParameters(RoundQuery { number }): QueryParameters<RoundQuery>,
) -> Result<Json<Diff>> {
    let rounds = state.db.review_rounds(&id).await?;
    let round = rounds.into_iter().find(|round| round.number == number).ok_or_else(|| Refusal::not_found("review round", number))?;
    let project = state.db.project(&state.db.task(&id).await?.card.project_id).await?;
    let git_dir = PathBuf::from(&project.git_dir);
    let shown = repo::in_lane(&git_dir.clone(), Effort::Long, move || -> Result<Option<Diff>> {
        let repository = Repository::open(&git_dir)?;
        let Some(base) = repository.ref_sha(&project.integration_branch)? else { return Ok(None) };
        Ok(Some(repository.diff(&base, &round.sha, DiffLimits::default())?))
    });
    shown.await??.map(Json).ok_or(Error::NoDiff(id))
}
