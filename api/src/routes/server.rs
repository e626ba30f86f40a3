//! What the board says about the machine it runs on, and the description of this interface.

use axum::Json;
use axum::extract::State;
use domain::wire::{DemoInfo, ServerInfo};
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;

use crate::error::Result;
use crate::routes::Document;
use crate::state::AppState;

/// Version, what keeps agents from starting, and the demonstration
#[utoipa::path(get, path = "/api/server", responses((status = 200, body = ServerInfo)))]
pub(crate) async fn show(State(state): State<AppState>) -> Result<Json<ServerInfo>> {
    let live = state.config.borrow().clone();
    Ok(Json(ServerInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        epoch: state.db.epoch().to_owned(),
        repo_path: live.config.repo_path.as_ref().map(|path| path.display().to_string()),
        config_notice: live.notice,
        parked: state.db.parkings().await?,
        demo: state.demo.as_ref().map(|demo| DemoInfo { page_url: demo.page_url.clone(), scripted: demo.scripted }),
    }))
}

/// This document
#[utoipa::path(get, path = "/api/openapi.json", responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)))]
pub(crate) async fn document() -> Json<OpenApi> {
    Json(Document::openapi())
}
