//! Tasks: made, shown, changed, moved, started and stopped.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use db::{Caller, Db, MoveRequest};
use domain::board::status::Status;
use domain::board::task::{NewTask, Task};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::diff::Diff;
use domain::runs::evidence::EvidenceResult;
use domain::wire::{Cancel, TaskPatch, TaskView};
use repo::{DiffLimits, Repository};
use tokio::task::spawn_blocking;

use crate::error::{Error, Result};
use crate::extract::{Body, Id, NoBody};
use crate::markdown;
use crate::state::AppState;

/// Add a card
#[utoipa::path(post, path = "/api/projects/{id}/tasks", params(("id" = ProjectId, Path)), request_body = NewTask, responses((status = 201, body = TaskView)))]
pub(crate) async fn create(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewTask>,
) -> Result<(StatusCode, Json<TaskView>)> {
    let task = state.db.create_task(&Caller::Human, &project, new).await?;
    Ok((StatusCode::CREATED, view(&state.db, task, None).await?))
}

/// One task
#[utoipa::path(get, path = "/api/tasks/{id}", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn show(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<TaskView>> {
    view(&state.db, state.db.task(&id).await?, None).await
}

/// Change a task, or move it, or both
///
/// The change is made first; when the move is refused, it stays.
#[utoipa::path(patch, path = "/api/tasks/{id}", params(("id" = TaskId, Path)), request_body = TaskPatch, responses((status = 200, body = TaskView)))]
pub(crate) async fn change(State(state): State<AppState>, Id(id): Id<TaskId>, Body(mut patch): Body<TaskPatch>) -> Result<Json<TaskView>> {
    let (to, reason, merge) = (patch.status.take(), patch.reason.take(), patch.merge.take());
    if to.is_none() && (reason.is_some() || merge.is_some()) {
        let field = if reason.is_some() { "reason" } else { "merge" };
        return Err(Refusal::invalid(field, "it belongs to a move", "Give the status to move to along with it.").into());
    }
    let before = state.db.edit_task(&Caller::Human, &id, patch).await?;
    let Some(to) = to else { return view(&state.db, before, None).await };
    let wish = MoveRequest { to, reason, merge: merge.unwrap_or(true) };
    let look = state.db.required_evidence(&Caller::Human, &id, to).await?;
    let found = spawn_blocking(move || repo::collect_evidence(&look)).await??;
    let after = state.db.move_task(&Caller::Human, &id, wish, found).await?;
    let note = what_else(&before, to, &after);
    view(&state.db, after, note).await
}

/// Let the runner work on a task that is held
#[utoipa::path(post, path = "/api/tasks/{id}/start", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn start(State(state): State<AppState>, Id(id): Id<TaskId>, _: NoBody) -> Result<Json<TaskView>> {
    view(&state.db, state.db.start_task(&Caller::Human, &id).await?, None).await
}

/// Try a task again at once, with all its attempts ahead of it
#[utoipa::path(post, path = "/api/tasks/{id}/retry", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn retry(State(state): State<AppState>, Id(id): Id<TaskId>, _: NoBody) -> Result<Json<TaskView>> {
    view(&state.db, state.db.retry_task(&Caller::Human, &id).await?, None).await
}

/// End a task's run and hold the card where it is
#[utoipa::path(post, path = "/api/tasks/{id}/stop", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn stop(State(state): State<AppState>, Id(id): Id<TaskId>, _: NoBody) -> Result<Json<TaskView>> {
    view(&state.db, state.db.stop_task(&Caller::Human, &id).await?, None).await
}

/// Give a task up
#[utoipa::path(post, path = "/api/tasks/{id}/cancel", params(("id" = TaskId, Path)), request_body = Cancel, responses((status = 200, body = TaskView)))]
pub(crate) async fn cancel(State(state): State<AppState>, Id(id): Id<TaskId>, Body(cancel): Body<Cancel>) -> Result<Json<TaskView>> {
    let wish = MoveRequest { to: Status::Cancelled, reason: Some(cancel.reason), merge: false };
    view(&state.db, state.db.move_task(&Caller::Human, &id, wish, EvidenceResult::Nothing).await?, None).await
}

/// What a task's branch changes; after the merge, what it changed
#[utoipa::path(get, path = "/api/tasks/{id}/diff", params(("id" = TaskId, Path)), responses((status = 200, body = Diff)))]
pub(crate) async fn diff(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<Diff>> {
    let task = state.db.task(&id).await?;
    let project = state.db.project(&task.card.project_id).await?;
    let shown = spawn_blocking(move || -> Result<Option<Diff>> {
        let repository = Repository::open(std::path::Path::new(&project.git_dir))?;
        let head = match &task.branch {
            Some(branch) => repository.ref_sha(branch)?,
            None => None,
        };
        let base = match &task.merged_sha {
            // Work after the merge is compared like any other.
            Some(merged) if head.as_ref().is_none_or(|head| head == merged) => repository.before_merge(&project.integration_branch, merged)?,
            _ => repository.ref_sha(&project.integration_branch)?,
        };
        let (Some(base), Some(head)) = (base, head.or(task.merged_sha)) else { return Ok(None) };
        Ok(Some(repository.diff(&base, &head, DiffLimits::default())?))
    });
    shown.await??.map(Json).ok_or(Error::NoDiff(id))
}

/// What a move set off, where the card alone does not say it.
pub(crate) fn what_else(before: &Task, to: Status, after: &Task) -> Option<String> {
    let mut notes = Vec::new();
    if after.card.is_approved() && matches!(to, Status::Done | Status::InReview) {
        notes.push("approved: the merge is queued");
    }
    // A move that stays in done is a verification.
    if before.card.status != Status::Done && after.card.status == Status::Done && before.branch.is_some() {
        notes.push("closed without a merge: its commits are kept");
    }
    if after.card.run.as_ref().is_some_and(|run| run.stopping) {
        notes.push("its agent is being stopped");
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// A task as its panel shows it.
pub(crate) async fn view(db: &Db, task: Task, note: Option<String>) -> Result<Json<TaskView>> {
    let question = db.open_question(&task.card.id).await?;
    let description_html = task.description.as_deref().map(markdown::html);
    Ok(Json(TaskView { task, description_html, question, note }))
}
