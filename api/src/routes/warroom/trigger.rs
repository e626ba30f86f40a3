//! Orders to agents by trigger words.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::message::{Message, NewMessage};
use domain::warroom::trigger::{NewTrigger, Trigger, TriggerWithdrawal, Triggers};

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// List the active orders of a project, and the last ones that ended
#[utoipa::path(get, path = "/api/projects/{id}/triggers", params(("id" = ProjectId, Path)), responses((status = 200, body = Triggers)))]
pub(crate) async fn list_triggers(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<Triggers>> {
    Ok(Json(state.db.triggers(&project).await?))
}

/// Give an order to the agents of a project
///
/// It is sent as a message that begins with the word.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/triggers",
    params(("id" = ProjectId, Path)),
    request_body = NewTrigger,
    responses((status = 201, body = Message))
)]
pub(crate) async fn give_trigger(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewTrigger>,
) -> Result<(StatusCode, Json<Message>)> {
    let (content, to) = new.message().map_err(Refusal::from)?;
    let sent = state.db.send(&caller, &project, NewMessage { to, content, cc: Vec::new(), task_id: None, reply_to: None }).await?;
    Ok((StatusCode::CREATED, Json(sent.message)))
}

/// Withdraw an active order
#[utoipa::path(
    post,
    path = "/api/projects/{id}/triggers/withdraw",
    params(("id" = ProjectId, Path)),
    request_body = TriggerWithdrawal,
    responses((status = 200, body = Trigger), (status = 409, description = "No such order is active."))
)]
pub(crate) async fn withdraw_trigger(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(given): Body<TriggerWithdrawal>,
) -> Result<Json<Trigger>> {
    Ok(Json(state.db.withdraw_trigger(&caller, &project, given.word, given.target.as_deref()).await?))
}
