//! Information about the server, and the OpenAPI document.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::config::setting::{RolePrompt, SettingsView, settings};
use domain::runs::agent_kind::AgentKind;
use domain::runs::limit::Usd;
use domain::team::person::Right;
use domain::wire::{DemoInfo, ServerInfo};
use utoipa::openapi::OpenApi;

use crate::error::Result;
use crate::routes::{DOCUMENT, health, runs};
use crate::state::AppState;

/// Get the version, the reasons why no agents are started, and the demonstration
#[utoipa::path(get, path = "/api/server", responses((status = 200, body = ServerInfo)))]
pub(crate) async fn get_server(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Result<Json<ServerInfo>> {
    let live = state.config.borrow().clone();
    let spending = state.db.spending().await?;
    Ok(Json(ServerInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        person: state.db.person(caller.person(Right::Read, "reading the board")?.id).await?,
        epoch: state.db.epoch().to_owned(),
        repo_path: live.config.repo_path.as_ref().map(|path| path.display().to_string()),
        project_budget_micro_usd: live.config.limits.project_cost_usd.map(Usd::micro_usd),
        allowed_hosts: live.config.allowed_hosts,
        config_notice: live.notice,
        runner: health::runner(&state).await?,
        paused_at: state.db.pause_status().await?.paused_at,
        sandbox: runs::sandbox::status(&state).await?,
        cost_today_micro_usd: spending.today_micro_usd,
        cost_per_hour_micro_usd: spending.per_hour_micro_usd,
        demo: state.demo.as_ref().map(|demo| DemoInfo { page_url: demo.page_url.clone(), scripted: demo.scripted }),
    }))
}

/// Get the settings in use: each with its value, where it comes from, and what to write into the configuration file to change it
///
/// Values that could be secret are described in words.
#[utoipa::path(get, path = "/api/settings", responses((status = 200, body = SettingsView)))]
pub(crate) async fn get_settings(State(state): State<AppState>) -> Result<Json<SettingsView>> {
    let config = state.config.borrow().config.clone();
    let prompts = AgentKind::ALL.iter().map(|phase| RolePrompt {
        phase: *phase,
        text: config.prompts.text(*phase).to_owned(),
        file: config.prompts.file(*phase).map(|path| path.display().to_string()),
    });
    Ok(Json(SettingsView {
        file: config.origin.file.as_ref().map(|path| path.display().to_string()),
        file_is_named: config.origin.is_named,
        settings: settings(&config),
        prompts: prompts.collect(),
        in_use: state.db.limits_in_use().await?,
        task_limit_micro_usd: config.limits.task_cost_usd.map(Usd::micro_usd),
    }))
}

/// Get this document
#[utoipa::path(get, path = "/api/openapi.json", responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)))]
pub(crate) async fn get_document() -> Json<&'static OpenApi> {
    Json(&DOCUMENT)
}
