//! Pages of cards: the finished ones, which the board of a project leaves out, and the open ones of all projects.

use axum::Json;
use axum::extract::State;
use domain::board::status::Status;
use domain::id::ProjectId;
use domain::wire::{CardPage, OpenCards};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

/// Cards of a page.
const PAGE: u32 = 50;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// `done` or `cancelled`.
    status: Status,
    /// `next` of the page before, or of the board's column.
    before: Option<String>,
}

/// Open cards of a page, unless its last project has more.
const OPEN_PAGE: u32 = 500;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OpenQuery {
    /// `next` of the page before.
    after: Option<ProjectId>,
}

/// List the open cards of all projects, a page of whole projects at a time
#[utoipa::path(get, path = "/api/board", params(OpenQuery), responses((status = 200, body = OpenCards)))]
pub(crate) async fn list_open_cards(State(state): State<AppState>, QueryParameters(query): QueryParameters<OpenQuery>) -> Result<Json<OpenCards>> {
    Ok(Json(state.db.open_cards(query.after.as_ref(), OPEN_PAGE).await?))
}

/// List finished cards of a project, newest first
#[utoipa::path(get, path = "/api/projects/{id}/cards", params(("id" = ProjectId, Path), PageQuery), responses((status = 200, body = CardPage)))]
pub(crate) async fn list_finished_cards(
    State(state): State<AppState>,
    Id(id): Id<ProjectId>,
    QueryParameters(query): QueryParameters<PageQuery>,
) -> Result<Json<CardPage>> {
    state.db.project(&id).await?;
    Ok(Json(state.db.finished_cards(&id, query.status, query.before.as_deref(), PAGE).await?))
}
