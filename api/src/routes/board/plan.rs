//! Plans that wait for the human's approval.

use axum::extract::State;
use axum::{Extension, Json};
use db::{Caller, PlanFacts};
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::ProjectId;
use domain::wire::TextBody;
use domain::wire::{PlanView, PlannedTask};

use crate::error::Result;
use crate::extract::{Body, Id, NoBody};
use crate::markdown;
use crate::routes::board::comment;
use crate::state::AppState;

/// Get the plan that awaits approval: its goal, the planner's reasons and the long texts of its tasks
///
/// Without such a plan, it has no tasks.
#[utoipa::path(get, path = "/api/projects/{id}/plan", params(("id" = ProjectId, Path)), responses((status = 200, body = PlanView)))]
pub(crate) async fn get_plan(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<PlanView>> {
    let PlanFacts { project, planner, comments, tasks } = state.db.plan(&id).await?;
    let task = |task: Task| {
        let description_html = task.description.as_deref().map(markdown::render);
        PlannedTask { id: task.card.id, description: task.description, description_html }
    };
    Ok(Json(PlanView {
        goal_html: project.description.as_deref().map(markdown::render),
        cost_micro_usd: planner.as_ref().map_or(0, |planner| planner.cost_micro_usd),
        planner: planner.map(|planner| planner.id),
        comments: comments.into_iter().map(comment::view).collect(),
        tasks: tasks.into_iter().map(task).collect(),
    }))
}

/// Approve a plan, which starts all of its tasks
#[utoipa::path(post, path = "/api/projects/{id}/plan/approve", params(("id" = ProjectId, Path)), responses((status = 200, body = Project)))]
pub(crate) async fn approve_plan(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    _: NoBody,
) -> Result<Json<Project>> {
    Ok(Json(state.db.approve_plan(&caller, &id).await?))
}

/// Send a plan back to its planner with comments
#[utoipa::path(
    post,
    path = "/api/projects/{id}/plan/revise",
    params(("id" = ProjectId, Path)),
    request_body = TextBody,
    responses((status = 200, body = Project))
)]
pub(crate) async fn revise_plan(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(text): Body<TextBody>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.revise_plan(&caller, &id, &text.content).await?))
}
