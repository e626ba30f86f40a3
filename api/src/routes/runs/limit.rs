//! Limits: raising them.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::project::Project;
use domain::id::{ProjectId, TaskId};
use domain::wire::TaskView;

use crate::error::Result;
use crate::extract::{Id, NoBody};
use crate::routes::board::task::view;
use crate::state::AppState;

/// Raise the limit that a task waits for: of its run, its project or the day; otherwise that of the task. A raise adds the original limit once more
#[utoipa::path(post, path = "/api/tasks/{id}/raise", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn raise_task_limit(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    _: NoBody,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.raise_task_limit(&caller, &id).await?, None).await
}

/// Raise the budget of a project by the original amount
#[utoipa::path(post, path = "/api/projects/{id}/raise", params(("id" = ProjectId, Path)), responses((status = 200, body = Project)))]
pub(crate) async fn raise_project_limit(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    _: NoBody,
) -> Result<Json<Project>> {
    Ok(Json(state.db.raise_project_limit(&caller, &id).await?))
}
