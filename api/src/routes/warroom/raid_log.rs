//! The raid log of a project.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::{Caller, RaidLogQuery};
use domain::id::ProjectId;
use domain::warroom::raid_log::{NewRaidLogEntry, Priority, RaidLogEntry};
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, QueryParameters};
use crate::state::AppState;

/// The entries on a page: the default, and the most.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 100;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RaidLogParameters {
    /// Only entries of this priority and above.
    priority: Option<Priority>,
    /// Only entries of this participant.
    agent: Option<String>,
    /// Only entries before this one: `next` of the previous page.
    before: Option<i64>,
    /// At most 100; 50 if missing.
    limit: Option<u32>,
}

/// List the raid log of a project, newest first
#[utoipa::path(
    get,
    path = "/api/projects/{id}/raid-log",
    params(("id" = ProjectId, Path), RaidLogParameters),
    responses((status = 200, body = List<RaidLogEntry>))
)]
pub(crate) async fn list_raid_log(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<RaidLogParameters>,
) -> Result<Json<List<RaidLogEntry>>> {
    let limit = given.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let agent = given.agent.filter(|agent| !agent.trim().is_empty());
    let query = RaidLogQuery { priority: given.priority, agent, before: given.before, limit: Some(limit + 1) };
    let items = state.db.raid_log(&caller, &project, &query).await?;
    Ok(Json(List::page(items, limit, |entry| entry.id)))
}

/// Append an entry to the raid log of a project
#[utoipa::path(
    post,
    path = "/api/projects/{id}/raid-log",
    params(("id" = ProjectId, Path)),
    request_body = NewRaidLogEntry,
    responses((status = 201, body = RaidLogEntry))
)]
pub(crate) async fn log_raid(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewRaidLogEntry>,
) -> Result<(StatusCode, Json<RaidLogEntry>)> {
    Ok((StatusCode::CREATED, Json(state.db.log_raid(&caller, &project, new).await?)))
}
