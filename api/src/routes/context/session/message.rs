//! Messages of a context session: a part of its thread, a new one, and those with the words of a query.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::{Caller, SessionMessageQuery, SessionSearchQuery};
use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSessionId, NewSessionMessage, SessionHit, SessionMessage, SessionMessages};
use domain::likeness::{Query, excerpt};
use domain::text;
use domain::wire::{FoundMessage, List, QuotedMessage, SessionThread};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, QueryParameters};
use crate::page_size::{MAX_PAGE_BYTES, count_within};
use crate::rate_limit::CountedSearch;
use crate::state::AppState;

/// The maximum number of messages in one part.
const MAX_MESSAGES: u32 = 200;
/// How many letters a quotation and a result show.
const QUOTED_LETTERS: usize = 80;
const EXCERPT_LETTERS: usize = 240;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ThreadParameters {
    /// Only messages before this one: `earlier` of another part.
    before: Option<i64>,
    /// Only messages after this one: `later` of another part.
    after: Option<i64>,
    /// At most 200; 50 if missing.
    limit: Option<u32>,
    /// Only messages of this visibility. The owner of the board then reads those of others too, and the event log records it.
    visibility: Option<Visibility>,
}

/// Get the newest messages of a context session, or those before or after another one
///
/// A part ends early where it would exceed 1 MiB of text.
#[utoipa::path(
    get,
    path = "/api/context-sessions/{id}/messages",
    params(("id" = ContextSessionId, Path), ThreadParameters),
    responses((status = 200, body = SessionThread))
)]
pub(crate) async fn get_session_thread(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(session): Id<ContextSessionId>,
    QueryParameters(given): QueryParameters<ThreadParameters>,
) -> Result<Json<SessionThread>> {
    let ThreadParameters { before, after, limit, visibility } = given;
    let limit = limit.map(|limit| limit.clamp(1, MAX_MESSAGES));
    let found = state.db.session_messages(&caller, &session, &SessionMessageQuery { visibility, before, after, limit, offset: 0 }).await?;
    let mut thread = part(found, before, after);
    let unknown: Vec<i64> = {
        let is_shown = |id: &i64| thread.messages.iter().any(|message| message.id == *id);
        thread.messages.iter().filter_map(|message| message.parent_message_id).filter(|id| !is_shown(id)).collect()
    };
    let answered = state.db.session_messages_by_id(&caller, &session, &unknown).await?;
    let quote =
        |message: SessionMessage| QuotedMessage { id: message.id, sender: message.sender, excerpt: text::excerpt(&message.content, QUOTED_LETTERS) };
    thread.answered = answered.into_iter().map(quote).collect();
    Ok(Json(thread))
}

/// The messages that fit into an answer, oldest first, with the cursors of their neighbours.
fn part(found: SessionMessages, before: Option<i64>, after: Option<i64>) -> SessionThread {
    let SessionMessages { mut messages, total_count, mut has_more } = found;
    // The part begins where it was requested: after a message with the oldest, otherwise with the newest.
    if after.is_some() {
        messages.reverse();
    }
    let kept = count_within(messages.iter().map(|message| message.content.len()), MAX_PAGE_BYTES);
    has_more |= kept < messages.len();
    messages.truncate(kept);
    if after.is_none() {
        messages.reverse();
    }
    let (first, last) = (messages.first().map(|message| message.id), messages.last().map(|message| message.id));
    let (earlier, later) = match (after, before) {
        (Some(_), _) => (first, last.filter(|_| has_more)),
        (None, Some(_)) => (first.filter(|_| has_more), last),
        (None, None) => (first.filter(|_| has_more), None),
    };
    SessionThread { messages, answered: Vec::new(), total_count, earlier, later }
}

/// Add a message to a context session
///
/// It reaches no inbox and interrupts nobody.
#[utoipa::path(
    post,
    path = "/api/context-sessions/{id}/messages",
    params(("id" = ContextSessionId, Path)),
    request_body = NewSessionMessage,
    responses((status = 201, body = SessionMessage), (status = 409, description = "The session is closed."))
)]
pub(crate) async fn add_session_message(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(session): Id<ContextSessionId>,
    Body(new): Body<NewSessionMessage>,
) -> Result<(StatusCode, Json<SessionMessage>)> {
    Ok((StatusCode::CREATED, Json(state.db.add_session_message(&caller, &session, new).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionSearchParameters {
    /// The words to look for. Eight of them and 128 characters count.
    q: String,
    /// At most 100; 20 if missing.
    limit: Option<u32>,
    /// The least score of a result, from 0 to 100; 60 if missing.
    threshold: Option<f64>,
}

/// Search the messages of a context session that you may read, best first
///
/// Words are found in any order, with typing errors, and before they are finished.
#[utoipa::path(
    get,
    path = "/api/context-sessions/{id}/search",
    params(("id" = ContextSessionId, Path), SessionSearchParameters),
    responses((status = 200, body = List<FoundMessage>))
)]
pub(crate) async fn search_session(
    State(state): State<AppState>,
    _: CountedSearch,
    Extension(caller): Extension<Caller>,
    Id(session): Id<ContextSessionId>,
    QueryParameters(given): QueryParameters<SessionSearchParameters>,
) -> Result<Json<List<FoundMessage>>> {
    let SessionSearchParameters { q, limit, threshold } = given;
    let words = Query::new(&q);
    let query = SessionSearchQuery { text: q, threshold, limit: Some(limit.unwrap_or(20).clamp(1, 100)), metadata: true, visibility: None };
    let hits = state.db.search_session(&caller, &session, &query).await?;
    Ok(Json(List { items: hits.into_iter().map(|hit| found(hit, &words)).collect(), next: None }))
}

/// A result with the words that were found in its content.
fn found(SessionHit { message, score }: SessionHit, words: &Query) -> FoundMessage {
    let shown = excerpt(&message.content, &words.find(&message.content).places, EXCERPT_LETTERS);
    FoundMessage {
        id: message.id,
        sender: message.sender,
        visibility: message.visibility,
        at: message.timestamp,
        excerpt: shown.text,
        highlights: shown.highlights,
        score,
    }
}
