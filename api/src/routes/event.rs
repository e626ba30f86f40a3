//! The log, by page or live.

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
use crate::extract::Parameters;
use crate::serve::Streams;
use crate::state::AppState;
use crate::ws::{self, Begin};

const USUAL_PAGE: u32 = 100;
const LARGEST_PAGE: u32 = 1_000;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Range {
    /// The last event that is known already.
    #[serde(default)]
    after: Seq,
    /// Events of this project, and those of none, only.
    project: Option<ProjectId>,
    /// At most 1000; 100 when missing.
    limit: Option<u32>,
}

/// What happened, oldest first
#[utoipa::path(get, path = "/api/events", params(Range), responses((status = 200, body = List<Envelope>)))]
pub(crate) async fn list(State(state): State<AppState>, Parameters(range): Parameters<Range>) -> Result<Json<List<Envelope>>> {
    let most = range.limit.unwrap_or(USUAL_PAGE).clamp(1, LARGEST_PAGE);
    let items = state.db.events_after(range.after, range.project.as_ref(), most).await?;
    let full = items.len() == most as usize;
    Ok(Json(List { next: items.last().filter(|_| full).map(|last| last.seq), items }))
}

/// What happens, live, over a WebSocket
///
/// First a `hello`, then every event after the given one, then events as they happen. After `resync` the board is to be read again.
#[utoipa::path(get, path = "/api/ws", params(Begin), responses((status = 101, description = "Frames as JSON texts", body = Frame)))]
pub(crate) async fn follow(
    State(state): State<AppState>,
    streams: Option<Extension<Streams>>,
    Parameters(begin): Parameters<Begin>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response> {
    let upgrade = upgrade.map_err(|_| Error::NoUpgrade)?;
    Ok(ws::accept(upgrade, state, streams.map(|Extension(streams)| streams), begin))
}
