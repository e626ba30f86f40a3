//! The result of a task: what its agent left behind.

use axum::Json;
use axum::extract::State;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::warroom::result::TaskResult;

use crate::error::Result;
use crate::extract::Id;
use crate::state::AppState;

/// Show the newest result of a task
#[utoipa::path(get, path = "/api/tasks/{id}/result", params(("id" = TaskId, Path)), responses((status = 200, body = TaskResult)))]
pub(crate) async fn get_task_result(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<TaskResult>> {
    let found = state.db.task_result(&id).await?;
    Ok(Json(found.ok_or_else(|| Refusal::not_found("result of task", &id))?))
}
