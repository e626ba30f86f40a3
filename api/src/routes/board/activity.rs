//! The history of a project.

use axum::extract::State;
use axum::{Extension, Json};
use db::{ActivityQuery, Caller};
use domain::board::activity::{Activity, Topic};
use domain::event::Seq;
use domain::id::{ProjectId, TaskId};
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

const DEFAULT_PAGE: u32 = 50;
const MAX_PAGE: u32 = 200;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ActivityParameters {
    /// Only events about this task.
    task: Option<TaskId>,
    /// Only events of this topic.
    topic: Option<Topic>,
    /// Only events of this kind.
    kind: Option<String>,
    /// Only events of this participant: `human`, `human/ann`, `runner`, or the name of an agent.
    actor: Option<String>,
    /// Whether to include what only helps to understand a run or a wait, such as wait reasons and usage.
    #[serde(default)]
    details: bool,
    /// Only events before this one: `next` of the previous page.
    before: Option<Seq>,
    /// At most 200; 50 if missing.
    limit: Option<u32>,
}

/// List what happened in a project, newest first, each event as a sentence
///
/// A page ends early where few of the events match; `next` then goes on.
#[utoipa::path(
    get,
    path = "/api/projects/{id}/activity",
    params(("id" = ProjectId, Path), ActivityParameters),
    responses((status = 200, body = List<Activity>))
)]
pub(crate) async fn list_activity(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<ActivityParameters>,
) -> Result<Json<List<Activity>>> {
    let ActivityParameters { task, topic, kind, actor, details, before, limit } = given;
    let limit = limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE);
    let query = ActivityQuery { task, topic, kind, actor: actor.map(Into::into), details, before, limit };
    let (items, next) = state.db.activity(&caller, &project, &query).await?;
    Ok(Json(List { items, next }))
}
