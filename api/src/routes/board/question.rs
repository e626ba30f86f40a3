//! The human's answers to questions that agents ask.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::id::TaskId;
use domain::wire::{TaskView, TextBody};

use super::task::view;
use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// Answer the open question of a task
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/answer",
    params(("id" = TaskId, Path)),
    request_body = TextBody,
    responses((status = 200, body = TaskView))
)]
pub(crate) async fn answer_question(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(text): Body<TextBody>,
) -> Result<Json<TaskView>> {
    let task = state.db.answer(&caller, &id, &text.content).await?;
    view(&state.db, task, None).await
}
