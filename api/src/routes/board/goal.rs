//! Goals: creating, reading and signing off, and linking tasks to them.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::board::goal::{Goal, NewGoal};
use domain::id::{GoalId, ProjectId, TaskId};
use domain::wire::{LinkGoal, List, Notes, TaskView};

use super::task::view;
use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// List the goals of a project, each with the progress of its tasks
#[utoipa::path(get, path = "/api/projects/{id}/goals", params(("id" = ProjectId, Path)), responses((status = 200, body = List<Goal>)))]
pub(crate) async fn list_goals(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<Goal>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.goals(&project).await?, next: None }))
}

/// Create a goal
#[utoipa::path(
    post,
    path = "/api/projects/{id}/goals",
    params(("id" = ProjectId, Path)),
    request_body = NewGoal,
    responses((status = 201, body = Goal))
)]
pub(crate) async fn create_goal(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewGoal>,
) -> Result<(StatusCode, Json<Goal>)> {
    Ok((StatusCode::CREATED, Json(state.db.create_goal(&caller, &project, new).await?)))
}

/// Get a goal
#[utoipa::path(get, path = "/api/goals/{id}", params(("id" = GoalId, Path)), responses((status = 200, body = Goal)))]
pub(crate) async fn get_goal(State(state): State<AppState>, Id(id): Id<GoalId>) -> Result<Json<Goal>> {
    Ok(Json(state.db.goal(&id).await?))
}

/// Sign off a goal whose tasks are all verified
#[utoipa::path(
    post,
    path = "/api/goals/{id}/verify",
    params(("id" = GoalId, Path)),
    request_body = Notes,
    responses((status = 200, body = Goal), (status = 409, description = "Some of its tasks are not verified."))
)]
pub(crate) async fn verify_goal(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<GoalId>,
    Body(notes): Body<Notes>,
) -> Result<Json<Goal>> {
    Ok(Json(state.db.verify_goal(&caller, &id, notes.notes.as_deref()).await?))
}

/// Link a task to a goal, or unlink it
#[utoipa::path(
    post,
    path = "/api/tasks/{id}/goal",
    params(("id" = TaskId, Path)),
    request_body = LinkGoal,
    responses((status = 200, body = TaskView))
)]
pub(crate) async fn link_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    Body(link): Body<LinkGoal>,
) -> Result<Json<TaskView>> {
    view(&state.db, state.db.link_task(&caller, &id, link.goal_id.as_ref()).await?, None).await
}
