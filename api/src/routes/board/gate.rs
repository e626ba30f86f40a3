//! Review gates: assigning a task, approving a submission, and verifying finished work.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::review::ReviewRefusal;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::wire::{Approval, Assign, Notes, RejectVerification, TaskView};

use super::task::{move_note, view};
use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// Assign a task to an external agent, or unassign it
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/assign",
    params(("id" = TaskId, Path)),
    request_body = Assign,
    responses((status = 200, body = TaskView), (status = 409, description = "The agent left, or wore a conflicting hat."))
)]
pub(crate) async fn assign_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(assign): Body<Assign>,
) -> Result<Json<TaskView>> {
    if assign.assigned_to.is_none() && assign.role_hat.is_some() {
        return Err(Refusal::invalid("role_hat", "it needs an assignee", "Set `assigned_to` in the same request.").into());
    }
    let task = state.db.assign_task(&caller, &id, assign.assigned_to, assign.role_hat).await?;
    view(&state.db, task, None).await
}

/// Approve a submission
///
/// The newest commit of the branch joins the merge queue. A task without a branch is done.
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/approve",
    params(("id" = TaskId, Path)),
    request_body = Approval,
    responses((status = 200, body = TaskView), (status = 409, description = "The approval is of another commit."))
)]
pub(crate) async fn approve_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(Approval { notes, sha }): Body<Approval>,
) -> Result<Json<TaskView>> {
    let before = state.db.task(&id).await?;
    let request = state.db.required_evidence(&caller, &id, Status::Done).await?;
    let evidence = repo::read_evidence(request).await?;
    if let Some(shown) = sha.filter(|_| before.card.status == Status::InReview) {
        ReviewRefusal::require_current(&id, &shown, &evidence)?;
    }
    let after = state.db.approve_task(&caller, &id, notes.as_deref(), evidence).await?;
    let note = move_note(&before, Status::Done, &after);
    view(&state.db, after, note).await
}

/// Verify finished work that the human has neither built nor approved
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/verify",
    params(("id" = TaskId, Path)),
    request_body = Notes,
    responses((status = 200, body = TaskView))
)]
pub(crate) async fn verify_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(notes): Body<Notes>,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.verify_task(&caller, &id, notes.notes.as_deref()).await?, None).await
}

/// Reject finished work, which returns the task to in_progress
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/reject-verification",
    params(("id" = TaskId, Path)),
    request_body = RejectVerification,
    responses((status = 200, body = TaskView))
)]
pub(crate) async fn reject_verification(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(rejection): Body<RejectVerification>,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.reject_verification(&caller, &id, &rejection.reason).await?, None).await
}
