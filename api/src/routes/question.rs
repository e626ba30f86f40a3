//! Answers of the person to what an agent asked.

use axum::Json;
use axum::extract::State;
use db::Caller;
use domain::id::TaskId;
use domain::wire::{TaskView, TextBody};

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::routes::task::view;
use crate::state::AppState;

/// Answer the open question of a task
#[utoipa::path(post, path = "/api/tasks/{id}/answer", params(("id" = TaskId, Path)), request_body = TextBody, responses((status = 200, body = TaskView)))]
pub(crate) async fn answer(State(state): State<AppState>, Id(id): Id<TaskId>, Body(words): Body<TextBody>) -> Result<Json<TaskView>> {
    let task = state.db.answer(&Caller::Human, &id, &words.content).await?;
    view(&state.db, task, None).await
}
