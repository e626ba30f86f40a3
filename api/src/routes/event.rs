//! The event log: pages of it, and the live stream.

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use axum::{Extension, Json};
use domain::event::{Envelope, Seq};
use domain::id::ProjectId;
use domain::wire::{Frame, List};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{Error, Result};
use crate::extract::QueryParameters;
use crate::guard::Credential;
use crate::serve::Streams;
use crate::state::AppState;
use crate::ws::{self, StreamRequest};

const DEFAULT_PAGE: u32 = 100;
const MAX_PAGE: u32 = 1_000;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventQuery {
    /// The last event that the client already has.
    #[serde(default)]
    after: Seq,
    /// Only events of this project and of no project.
    project: Option<ProjectId>,
    /// At most 1000; 100 if missing.
    limit: Option<u32>,
}

/// List events, oldest first
#[utoipa::path(get, path = "/api/events", params(EventQuery), responses((status = 200, body = List<Envelope>)))]
pub(crate) async fn list_events(State(state): State<AppState>, QueryParameters(query): QueryParameters<EventQuery>) -> Result<Json<List<Envelope>>> {
    let limit = query.limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE);
    let items = state.db.events_after(query.after, query.project.as_ref(), limit).await?;
    let full = items.len() == limit as usize;
    Ok(Json(List { next: items.last().filter(|_| full).map(|last| last.seq), items }))
}

/// Follow events live over a WebSocket
///
/// Sends `hello`, then every event after the given one, then events as they happen. After `resync`, read the board again.
///
/// A page about one project names it and applies the events to its board. A page about all projects (the list of projects, what needs you,
/// the sidebar) names none and gets the events of all. It applies none of them: after any event, `resync` or `server` frame it reads its list
/// again, at most once a second, and after a connection that was lost once more. Every change of such a list has an event.
///
/// A browser offers the subprotocols `vibe-relay` and `vibe-relay.session-key.KEY`, because it cannot add a header; the first is accepted.
#[utoipa::path(
    get,
    path = "/api/ws",
    params(StreamRequest),
    responses((status = 101, description = "Frames as JSON texts.", body = Frame), (status = 426, description = "The request does not ask for a WebSocket."))
)]
pub(crate) async fn follow_events(
    State(state): State<AppState>,
    Extension(credential): Extension<Credential>,
    streams: Option<Extension<Streams>>,
    QueryParameters(request): QueryParameters<StreamRequest>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response> {
    let upgrade = upgrade.map_err(|_| Error::NoUpgrade)?;
    Ok(ws::accept(upgrade, state, credential, streams.map(|Extension(streams)| streams), request))
}
