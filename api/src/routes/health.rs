//! The health check.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use domain::wire::{HealthResponse, RunnerHealth};

use crate::error::Result;
use crate::guard;
use crate::state::AppState;

/// Check that the server is up. A request with a person's token also gets the state of the runner
#[utoipa::path(get, path = "/api/health", responses((status = 200, body = HealthResponse)))]
pub(crate) async fn get_health(State(state): State<AppState>, headers: HeaderMap) -> Json<HealthResponse> {
    // A failing store leaves the runner out; the server is up.
    let runner = if guard::has_readers_token(&state, &headers).await { runner(&state).await.ok() } else { None };
    Json(HealthResponse { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), runner })
}

/// Reads the state of the runner.
pub(super) async fn runner(state: &AppState) -> Result<RunnerHealth> {
    let ticks = *state.ticks.borrow();
    let max_agents = state.config.borrow().config.max_parallel_agents;
    Ok(RunnerHealth {
        ticking_since: ticks.since,
        last_tick_at: ticks.last_at,
        is_ticking: ticks.is_ticking(db::now()),
        max_agents,
        live_runs: state.db.live_runs().await?.into_iter().map(|run| run.id).collect(),
        parked: state.db.parkings().await?,
    })
}
