//! Knowledge of a project: intel, traps and the notes of agents.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::{Caller, KnowledgeQuery};
use domain::id::ProjectId;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgeState, NewClosing, NewKnowledge};
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, NumericId, QueryParameters};
use crate::state::AppState;

/// The items on a page.
const PAGE: u32 = 20;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct KnowledgeParameters {
    kind: Option<KnowledgeKind>,
    #[param(inline)]
    state: Option<KnowledgeState>,
    /// Only items before this one: `next` of the previous page.
    before: Option<i64>,
}

/// List knowledge of a project, newest first
#[utoipa::path(
    get,
    path = "/api/projects/{id}/knowledge",
    params(("id" = ProjectId, Path), KnowledgeParameters),
    responses((status = 200, body = List<Knowledge>))
)]
pub(crate) async fn list_knowledge(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<KnowledgeParameters>,
) -> Result<Json<List<Knowledge>>> {
    let query = KnowledgeQuery { kind: given.kind, state: given.state, before: given.before, limit: Some(PAGE + 1) };
    let items = state.db.knowledge(&project, &query).await?;
    Ok(Json(List::page(items, PAGE, |item| item.id)))
}

/// Write intel or a trap, or the next version of a live one
#[utoipa::path(
    post,
    path = "/api/projects/{id}/knowledge",
    params(("id" = ProjectId, Path)),
    request_body = NewKnowledge,
    responses((status = 201, body = Knowledge), (status = 409, description = "There is too much live knowledge."))
)]
pub(crate) async fn write_knowledge(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewKnowledge>,
) -> Result<(StatusCode, Json<Knowledge>)> {
    Ok((StatusCode::CREATED, Json(state.db.write_knowledge(&caller, &project, new).await?)))
}

/// Resolve a trap
#[utoipa::path(
    post,
    path = "/api/knowledge/{id}/resolve",
    params(("id" = i64, Path)),
    request_body = NewClosing,
    responses((status = 200, body = Knowledge), (status = 409, description = "It was resolved before."))
)]
pub(crate) async fn resolve_trap(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(id): NumericId,
    Body(new): Body<NewClosing>,
) -> Result<Json<Knowledge>> {
    Ok(Json(state.db.close_knowledge_item(&caller, id, KnowledgeKind::Trap, new).await?))
}

/// Archive intel
#[utoipa::path(
    post,
    path = "/api/knowledge/{id}/archive",
    params(("id" = i64, Path)),
    request_body = NewClosing,
    responses((status = 200, body = Knowledge), (status = 409, description = "It was archived before."))
)]
pub(crate) async fn archive_intel(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(id): NumericId,
    Body(new): Body<NewClosing>,
) -> Result<Json<Knowledge>> {
    Ok(Json(state.db.close_knowledge_item(&caller, id, KnowledgeKind::Intel, new).await?))
}
