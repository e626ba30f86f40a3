//! Minions: the helpers that agents start, and how many they may start.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::team::minion::{Minion, SpawnPolicy};
use domain::wire::{List, SetSpawnPolicy};

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// List the spawn policies of a project: the global one, then those of agents by name
#[utoipa::path(
    get,
    path = "/api/projects/{id}/spawn-policies",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = List<SpawnPolicy>))
)]
pub(crate) async fn list_spawn_policies(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<SpawnPolicy>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.spawn_policies(&project).await?, next: None }))
}

/// Set the spawn policy of all agents or of one
#[utoipa::path(
    put,
    path = "/api/projects/{id}/spawn-policies",
    params(("id" = ProjectId, Path)),
    request_body = SetSpawnPolicy,
    responses((status = 200, body = SpawnPolicy))
)]
pub(crate) async fn set_spawn_policy(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(policy): Body<SetSpawnPolicy>,
) -> Result<Json<SpawnPolicy>> {
    let SetSpawnPolicy { scope, enabled, max_minions } = policy;
    Ok(Json(state.db.set_spawn_policy(&caller, &project, &scope, enabled, max_minions).await?))
}

/// List the newest 200 minions that agents logged, newest first
#[utoipa::path(get, path = "/api/projects/{id}/minions", params(("id" = ProjectId, Path)), responses((status = 200, body = List<Minion>)))]
pub(crate) async fn list_minions(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<Minion>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.minions(&project).await?, next: None }))
}
