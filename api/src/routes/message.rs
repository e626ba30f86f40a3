//! What agents and the person write to each other, and the person's own inbox.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use db::{Caller, Db, HistoryQuery};
use domain::id::{ProjectId, TaskId};
use domain::team::agent::{EVERYONE, HUMAN, RUNNER, resolve};
use domain::team::message::{HISTORY_DEFAULT, HISTORY_PAGE, Inbox, Message, NewMessage, Unread};
use domain::wire::{List, MessageView, ReadInbox};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, Parameters};
use crate::markdown;
use crate::state::AppState;

/// How many bytes of text a page holds at most, unless its only message is longer.
const PAGE_BYTES: usize = 1024 * 1024;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Part {
    /// The newest so many, at most 200; 10 when missing.
    count: Option<u32>,
    /// Only what came before this message: `next` of the page before.
    before: Option<i64>,
    /// Only what was said about this task.
    task: Option<TaskId>,
    /// Only what this agent, `human`, or `runner` wrote or was written; `all` for what was written to everybody.
    agent: Option<String>,
}

/// What was said in a project: the newest, oldest first, without carbon copies. A page ends early where it would hold over 1 MiB of text
#[utoipa::path(get, path = "/api/projects/{id}/messages", params(("id" = ProjectId, Path), Part), responses((status = 200, body = List<MessageView>)))]
pub(crate) async fn list(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    Parameters(part): Parameters<Part>,
) -> Result<Json<List<MessageView>>> {
    state.db.project(&project).await?;
    let agent = match part.agent {
        Some(given) => Some(meant(&state.db, &project, &given).await?),
        None => None,
    };
    let count = part.count.unwrap_or(HISTORY_DEFAULT).clamp(1, HISTORY_PAGE);
    let query = HistoryQuery { count: Some(count), task: part.task, agent, before: part.before };
    let mut items = state.db.history(&project, &query).await?;
    let full = items.len() == count as usize;
    let cut = items.len() - newest_within(items.iter().map(|message| message.content.len()).rev(), PAGE_BYTES);
    items.drain(..cut);
    let next = items.first().filter(|_| full || cut > 0).map(|oldest| oldest.id);
    let view = |message: Message| MessageView { content_html: markdown::html(&message.content), message };
    Ok(Json(List { items: items.into_iter().map(view).collect(), next }))
}

/// How many of `sizes` come to no more than `limit` together, but at least one.
fn newest_within(sizes: impl Iterator<Item = usize>, limit: usize) -> usize {
    let sums = sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    sums.enumerate().take_while(|(place, sum)| *place == 0 || *sum <= limit).count()
}

/// Whom the person means: somebody who takes or took part.
async fn meant(db: &Db, project: &ProjectId, given: &str) -> Result<String> {
    let agents = db.agents(project).await?;
    let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).chain([HUMAN, RUNNER, EVERYONE]).collect();
    Ok(resolve(given, HUMAN, &names)?.to_owned())
}

/// Write to an agent, or to all
#[utoipa::path(post, path = "/api/projects/{id}/messages", params(("id" = ProjectId, Path)), request_body = NewMessage, responses((status = 201, body = Message)))]
pub(crate) async fn create(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewMessage>,
) -> Result<(StatusCode, Json<Message>)> {
    Ok((StatusCode::CREATED, Json(state.db.send(&Caller::Human, &project, new).await?.message)))
}

/// How much waits for the person, and from whom
#[utoipa::path(get, path = "/api/projects/{id}/inbox", params(("id" = ProjectId, Path)), responses((status = 200, body = Unread)))]
pub(crate) async fn inbox(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<Unread>> {
    state.db.project(&project).await?;
    Ok(Json(state.db.unread(&project, HUMAN).await?))
}

/// What waits for the person: it counts as given from then on, and as read once it is confirmed
#[utoipa::path(post, path = "/api/projects/{id}/inbox/read", params(("id" = ProjectId, Path)), request_body = ReadInbox, responses((status = 200, body = Inbox)))]
pub(crate) async fn read(State(state): State<AppState>, Id(project): Id<ProjectId>, Body(read): Body<ReadInbox>) -> Result<Json<Inbox>> {
    Ok(Json(state.db.check_inbox(&Caller::Human, &project, read.ack).await?))
}

#[cfg(test)]
mod tests {
    use super::newest_within;

    #[test]
    fn a_page_is_bounded_and_never_empty() {
        let within = |sizes: &[usize]| newest_within(sizes.iter().copied(), 10);
        assert_eq!([within(&[]), within(&[4, 6]), within(&[4, 7]), within(&[4, 7, 1]), within(&[11]), within(&[11, 0])], [0, 2, 1, 1, 1, 1]);
    }
}
