//! The gates that work passes: given to somebody, approved by somebody else, and verified by a third.

use axum::Json;
use axum::extract::State;
use db::Caller;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::wire::{Assign, Notes, RejectVerification, TaskView};
use tokio::task::spawn_blocking;

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::routes::task::{view, what_else};
use crate::state::AppState;

/// Give a task to an agent from outside, or take it back
#[utoipa::path(post, path = "/api/tasks/{id}/assign", params(("id" = TaskId, Path)), request_body = Assign, responses((status = 200, body = TaskView)))]
pub(crate) async fn assign(State(state): State<AppState>, Id(id): Id<TaskId>, Body(assign): Body<Assign>) -> Result<Json<TaskView>> {
    if assign.assigned_to.is_none() && assign.role_hat.is_some() {
        return Err(Refusal::invalid("role_hat", "it belongs to an assignee", "Name whom the task is assigned to along with it.").into());
    }
    let task = state.db.assign_task(&Caller::Human, &id, assign.assigned_to, assign.role_hat).await?;
    view(&state.db, task, None).await
}

/// Approve what was handed in
///
/// The newest commit of a branch joins the merge queue; a task without a branch is done.
#[utoipa::path(post, path = "/api/tasks/{id}/approve", params(("id" = TaskId, Path)), request_body = Notes, responses((status = 200, body = TaskView)))]
pub(crate) async fn approve(State(state): State<AppState>, Id(id): Id<TaskId>, Body(notes): Body<Notes>) -> Result<Json<TaskView>> {
    let before = state.db.task(&id).await?;
    let look = state.db.required_evidence(&Caller::Human, &id, Status::Done).await?;
    let found = spawn_blocking(move || repo::collect_evidence(&look)).await??;
    let after = state.db.approve_task(&Caller::Human, &id, notes.notes.as_deref(), found).await?;
    let note = what_else(&before, Status::Done, &after);
    view(&state.db, after, note).await
}

/// Verify finished work that the person has neither built nor approved
#[utoipa::path(post, path = "/api/tasks/{id}/verify", params(("id" = TaskId, Path)), request_body = Notes, responses((status = 200, body = TaskView)))]
pub(crate) async fn verify(State(state): State<AppState>, Id(id): Id<TaskId>, Body(notes): Body<Notes>) -> Result<Json<TaskView>> {
    view(&state.db, state.db.verify_task(&Caller::Human, &id, notes.notes.as_deref()).await?, None).await
}

/// Send finished work back to be worked on again
#[utoipa::path(post, path = "/api/tasks/{id}/reject-verification", params(("id" = TaskId, Path)), request_body = RejectVerification, responses((status = 200, body = TaskView)))]
pub(crate) async fn reject_verification(
    State(state): State<AppState>,
    Id(id): Id<TaskId>,
    Body(rejection): Body<RejectVerification>,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.reject_verification(&Caller::Human, &id, &rejection.reason).await?, None).await
}
