//! Tasks: creating, reading, editing, moving, starting and stopping.

use std::path::{Path, PathBuf};

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::{Caller, Db, MoveRequest};
use domain::board::order::NewPlace;
use domain::board::project::Project;
use domain::board::review::ReviewRefusal;
use domain::board::status::Status;
use domain::board::task::retry::RetryOptions;
use domain::board::task::{NewTask, Task, TaskPatch};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::diff::Diff;
use domain::runs::evidence::{EvidenceResult, Sha};
use domain::runs::publication::task_pull_request::TaskPullRequest;
use domain::wire::{Cancel, TaskView};
use repo::{DiffLimits, Effort, RepoError, Repository};

use crate::error::{Error, Result};
use crate::extract::{Body, Id, NoBody, OptionalBody};
use crate::markdown;
use crate::state::AppState;

/// Create a task
#[utoipa::path(
    post,
    path = "/api/projects/{id}/tasks",
    params(("id" = ProjectId, Path)),
    request_body = NewTask,
    responses((status = 201, body = TaskView), (status = 409, description = "The assignee left, or wore a conflicting hat."))
)]
pub(crate) async fn create_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewTask>,
) -> Result<(StatusCode, Json<TaskView>)> {
    if let Some(branch) = &new.from_branch {
        repo::check_start_branch(Path::new(&state.db.project(&project).await?.git_dir), branch).await??;
    }
    let task = state.db.create_task(&caller, &project, new).await?;
    Ok((StatusCode::CREATED, view(&state.db, task, None).await?))
}

/// Get a task
#[utoipa::path(get, path = "/api/tasks/{id}", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn get_task(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<TaskView>> {
    view(&state.db, state.db.task(&id).await?, None).await
}

/// Edit a task, move it, or both
///
/// If either is refused, neither happens. The board sends `sha` with each move that approves, so that nobody approves a commit unseen.
#[utoipa::path(
    patch,
    path = "/api/tasks/{id}",
    params(("id" = TaskId, Path)),
    request_body = TaskPatch,
    responses((status = 200, body = TaskView), (status = 409, description = "The approval is of another commit."))
)]
pub(crate) async fn change_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(mut patch): Body<TaskPatch>,
) -> Result<Json<TaskView>> {
    let (to, reason, merge, sha) = (patch.status.take(), patch.reason.take(), patch.merge.take(), patch.sha.take());
    let of_move = [("reason", reason.is_some()), ("merge", merge.is_some()), ("sha", sha.is_some())];
    if let (None, Some((field, _))) = (to, of_move.into_iter().find(|(_, is_given)| *is_given)) {
        return Err(Refusal::invalid(field, "it needs a move", "Set `status` in the same request.").into());
    }
    if sha.is_some() && to != Some(Status::Done) {
        return Err(Refusal::invalid("sha", "only an approval names a commit", "Move the task to done, or omit `sha`.").into());
    }
    let Some(to) = to else { return view(&state.db, state.db.edit_task(&caller, &id, patch).await?, None).await };
    let before = state.db.task(&id).await?;
    let request = state.db.required_evidence(&caller, &id, to).await?;
    let evidence = repo::read_evidence(request).await?;
    if let Some(shown) = sha.filter(|_| before.card.status.is_open()) {
        ReviewRefusal::require_current(&id, &shown, &evidence)?;
    }
    let requested = MoveRequest { to, reason, merge: merge.unwrap_or(true) };
    let after = state.db.edit_and_move_task(&caller, &id, patch, requested, evidence).await?;
    let note = move_note(&before, to, &after);
    view(&state.db, after, note).await
}

/// Put an open task before or after another one of its column
///
/// Tasks of equal priority start in this order. A task keeps its priority unless its new neighbours exclude it.
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/reorder",
    params(("id" = TaskId, Path)),
    request_body = NewPlace,
    responses((status = 200, body = TaskView))
)]
pub(crate) async fn reorder_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(place): Body<NewPlace>,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.reorder_task(&caller, &id, place).await?, None).await
}

/// Release a held task, so that the runner may start it
#[utoipa::path(post, path = "/api/tasks/{id}/start", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn start_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    _: NoBody,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.start_task(&caller, &id).await?, None).await
}

/// Retry a task at once, with all of its attempts restored
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/retry",
    params(("id" = TaskId, Path)),
    request_body(content = RetryOptions, description = "May be empty"),
    responses((status = 200, body = TaskView))
)]
pub(crate) async fn retry_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    OptionalBody(options): OptionalBody<RetryOptions>,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.retry_task(&caller, &id, options).await?, None).await
}

/// Stop the run of a task and hold the task in its column
#[utoipa::path(post, path = "/api/tasks/{id}/stop", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn stop_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    _: NoBody,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.stop_task(&caller, &id).await?, None).await
}

/// Cancel a task
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/cancel",
    params(("id" = TaskId, Path)),
    request_body = Cancel,
    responses((status = 200, body = TaskView))
)]
pub(crate) async fn cancel_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(cancel): Body<Cancel>,
) -> Result<Json<TaskView>> {
    let requested = MoveRequest { to: Status::Cancelled, reason: Some(cancel.reason), merge: false };
    view(&state.db, state.db.move_task(&caller, &id, requested, EvidenceResult::Nothing).await?, None).await
}

/// Get the changes of a task's branch; after the merge, the changes that it brought
#[utoipa::path(
    get,
    path = "/api/tasks/{id}/diff",
    params(("id" = TaskId, Path)),
    responses((status = 200, body = Diff), (status = 422, description = "The repository cannot be read."))
)]
pub(crate) async fn get_task_diff(State(state): State<AppState>, Id(id): Id<TaskId>) -> Result<Json<Diff>> {
    let task = state.db.task(&id).await?;
    let project = state.db.project(&task.card.project_id).await?;
    let git_dir = PathBuf::from(&project.git_dir);
    let shown = repo::in_lane(&git_dir.clone(), Effort::Long, move || -> Result<Option<Diff>> {
        let repository = Repository::open(&git_dir)?;
        let Some((base, head)) = changes_of(&repository, &task, &project)? else { return Ok(None) };
        let mut diff = repository.diff(&base, &head, DiffLimits::default())?;
        repository.annotate(&mut diff)?;
        Ok(Some(diff))
    });
    shown.await??.map(Json).ok_or(Error::NoDiff(id))
}

/// The commit that a task's work is compared with, and its newest commit; after the merge, those of the merge.
pub(super) fn changes_of(repository: &Repository, task: &Task, project: &Project) -> Result<Option<(Sha, Sha)>, RepoError> {
    let head = match &task.branch {
        Some(branch) => repository.ref_sha(branch)?,
        None => None,
    };
    let base = match &task.merged_sha {
        // Commits made after the merge are compared like any others.
        Some(merged) if head.as_ref().is_none_or(|head| head == merged) => match repository.before_merge(&project.integration_branch, merged)? {
            // The host of its pull request squashed or rebased it.
            None if task.card.pull_request.as_ref().is_some_and(TaskPullRequest::is_merged) => repository.ref_sha(&project.integration_branch)?,
            before => before,
        },
        _ => repository.ref_sha(&project.integration_branch)?,
    };
    Ok(base.zip(head.or_else(|| task.merged_sha.clone())))
}

/// Consequences of a move that the card alone does not show.
pub(crate) fn move_note(before: &Task, to: Status, after: &Task) -> Option<String> {
    let mut notes = Vec::new();
    if after.card.is_approved() && matches!(to, Status::Done | Status::InReview) {
        notes.push("approved: the merge is queued");
    }
    // A move from done to done is a verification.
    if before.card.status != Status::Done && after.card.status == Status::Done && before.branch.is_some() {
        notes.push("closed without a merge: its commits are kept");
    }
    if after.card.run.as_ref().is_some_and(|run| run.stopping) {
        notes.push("its agent is being stopped");
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// A task with everything that its panel shows.
pub(crate) async fn view(db: &Db, task: Task, note: Option<String>) -> Result<Json<TaskView>> {
    let question = db.open_question(&task.card.id).await?;
    let description_html = task.description.as_deref().map(markdown::render);
    let permissions = db.open_permissions(&task.card.id).await?;
    let takeover = db.takeover(&task).await?;
    Ok(Json(TaskView { task, description_html, question, permissions, takeover, note }))
}
