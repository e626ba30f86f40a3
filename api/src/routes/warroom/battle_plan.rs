//! Battle plans: what leads want to reach, with those that ended.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::{BattlePlanQuery, Caller};
use domain::id::ProjectId;
use domain::warroom::battle_plan::{BattlePlan, BattlePlanPatch, BattlePlanStatus, NewBattlePlan};
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, NumericId, QueryParameters};
use crate::state::AppState;

/// The plans on a page.
const PAGE: u32 = 20;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct BattlePlanParameters {
    /// Only plans with this status.
    status: Option<BattlePlanStatus>,
    /// Only plans before this one: `next` of the previous page.
    before: Option<i64>,
}

/// List the battle plans of a project, newest first
#[utoipa::path(
    get,
    path = "/api/projects/{id}/battle-plans",
    params(("id" = ProjectId, Path), BattlePlanParameters),
    responses((status = 200, body = List<BattlePlan>))
)]
pub(crate) async fn list_battle_plans(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<BattlePlanParameters>,
) -> Result<Json<List<BattlePlan>>> {
    let query = BattlePlanQuery { status: given.status, before: given.before, limit: Some(PAGE + 1) };
    let items = state.db.battle_plans(&project, &query).await?;
    Ok(Json(List::page(items, PAGE, |plan| plan.id)))
}

/// Set a battle plan, which supersedes the active one of its scope
#[utoipa::path(
    post,
    path = "/api/projects/{id}/battle-plans",
    params(("id" = ProjectId, Path)),
    request_body = NewBattlePlan,
    responses((status = 201, body = BattlePlan))
)]
pub(crate) async fn set_battle_plan(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewBattlePlan>,
) -> Result<(StatusCode, Json<BattlePlan>)> {
    Ok((StatusCode::CREATED, Json(state.db.set_battle_plan(&caller, &project, new).await?)))
}

/// End an active battle plan
#[utoipa::path(
    patch,
    path = "/api/battle-plans/{id}",
    params(("id" = i64, Path)),
    request_body = BattlePlanPatch,
    responses((status = 200, body = BattlePlan), (status = 409, description = "The plan ended before."))
)]
pub(crate) async fn end_battle_plan(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(id): NumericId,
    Body(patch): Body<BattlePlanPatch>,
) -> Result<Json<BattlePlan>> {
    Ok(Json(state.db.end_battle_plan(&caller, id, patch.status).await?))
}
