//! Messages between participants, and a person's inbox.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::{Caller, Db, HistoryQuery};
use domain::id::{ProjectId, TaskId};
use domain::team::agent::{EVERYONE, RUNNER, resolve};
use domain::team::message::{HISTORY_DEFAULT, HISTORY_PAGE, Inbox, Message, NewMessage, Unread};
use domain::team::person::{Right, participant};
use domain::wire::{List, MessageView, ReadInbox};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, NoBody, NumericId, QueryParameters};
use crate::markdown;
use crate::page_size::{MAX_PAGE_BYTES, count_within};
use crate::state::AppState;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryParameters {
    /// Number of messages, newest first: at most 200; 10 if missing.
    count: Option<u32>,
    /// Only messages before this one: `next` of the previous page.
    before: Option<i64>,
    /// Only messages about this task.
    task: Option<TaskId>,
    /// Only messages from or to this agent, `human` or `runner`; `all` for broadcasts.
    agent: Option<String>,
}

/// List the newest messages of a project, oldest first, each once
///
/// A page ends early where it would exceed 1 MiB of text.
#[utoipa::path(
    get,
    path = "/api/projects/{id}/messages",
    params(("id" = ProjectId, Path), HistoryParameters),
    responses((status = 200, body = List<MessageView>))
)]
pub(crate) async fn list_messages(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    QueryParameters(history): QueryParameters<HistoryParameters>,
) -> Result<Json<List<MessageView>>> {
    state.db.project(&project).await?;
    let agent = match history.agent {
        Some(given) => Some(resolve_name(&state.db, &caller, &project, &given).await?),
        None => None,
    };
    let count = history.count.unwrap_or(HISTORY_DEFAULT).clamp(1, HISTORY_PAGE);
    let query = HistoryQuery { count: Some(count), task: history.task, agent, before: history.before };
    let mut items = state.db.history(&project, &query).await?;
    let full = items.len() == count as usize;
    let cut = items.len() - count_within(items.iter().map(|message| message.content.len()).rev(), MAX_PAGE_BYTES);
    items.drain(..cut);
    let next = items.first().filter(|_| full || cut > 0).map(|oldest| oldest.id);
    let ids: Vec<i64> = items.iter().map(|message| message.id).collect();
    let acknowledged = state.db.acknowledged_messages(&ids).await?;
    let view = |message: Message| MessageView {
        content_html: markdown::render(&message.content),
        acknowledged: acknowledged.contains(&message.id),
        message,
    };
    Ok(Json(List { items: items.into_iter().map(view).collect(), next }))
}

/// Resolves the name of a current or former participant.
async fn resolve_name(db: &Db, caller: &Caller, project: &ProjectId, given: &str) -> Result<String> {
    // A full name may belong to an agent that left long ago.
    if let Ok(agent) = db.agent(project, given).await {
        return Ok(agent.name);
    }
    let mut agents = db.agents(project).await?;
    agents.extend(db.departed_agents(project).await?);
    let persons: Vec<String> = db.persons().await?.iter().map(|person| participant(person.role, &person.name)).collect();
    let names = agents.iter().map(|agent| agent.name.as_str()).chain(persons.iter().map(String::as_str));
    let names: Vec<&str> = names.chain([RUNNER, EVERYONE]).collect();
    Ok(resolve(given, &caller.name().unwrap_or_default(), &names)?.to_owned())
}

/// Send a message to an agent, or to all
#[utoipa::path(
    post,
    path = "/api/projects/{id}/messages",
    params(("id" = ProjectId, Path)),
    request_body = NewMessage,
    responses((status = 201, body = Message), (status = 409, description = "The recipient left, or unread messages must be read first."))
)]
pub(crate) async fn send_message(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewMessage>,
) -> Result<(StatusCode, Json<Message>)> {
    Ok((StatusCode::CREATED, Json(state.db.send(&caller, &project, new).await?.message)))
}

/// Mark a message to you as read
///
/// Listing messages marks none.
#[utoipa::path(
    post,
    path = "/api/messages/{id}/read",
    params(("id" = i64, Path)),
    responses((status = 204, description = "It is read"))
)]
pub(crate) async fn mark_message_read(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(message): NumericId,
    _: NoBody,
) -> Result<StatusCode> {
    state.db.mark_message_read(&caller, message).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Count your unread messages, with their senders
#[utoipa::path(get, path = "/api/projects/{id}/inbox", params(("id" = ProjectId, Path)), responses((status = 200, body = Unread)))]
pub(crate) async fn get_inbox(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
) -> Result<Json<Unread>> {
    state.db.project(&project).await?;
    // A person who cannot acknowledge messages has no inbox.
    let unread = match caller.person(Right::Work, "reading messages") {
        Ok(_) => state.db.unread(&project, &caller.name().unwrap_or_default()).await?,
        Err(_) => Unread::default(),
    };
    Ok(Json(unread))
}

/// Read your inbox
///
/// The messages count as delivered from then on, and as read once they are acknowledged.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/inbox/read",
    params(("id" = ProjectId, Path)),
    request_body = ReadInbox,
    responses((status = 200, body = Inbox))
)]
pub(crate) async fn read_inbox(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(read): Body<ReadInbox>,
) -> Result<Json<Inbox>> {
    Ok(Json(state.db.check_inbox(&caller, &project, read.ack).await?))
}
