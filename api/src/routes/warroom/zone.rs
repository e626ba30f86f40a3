//! Zones: named parts of the repository of a project.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::warroom::zone::{NewZone, Zone, ZoneRemoval};
use domain::wire::List;

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// List the zones of a project by name
///
/// A project has at most 100, so there are no pages.
#[utoipa::path(get, path = "/api/projects/{id}/zones", params(("id" = ProjectId, Path)), responses((status = 200, body = List<Zone>)))]
pub(crate) async fn list_zones(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<Zone>>> {
    Ok(Json(List { items: state.db.zones(&project).await?, next: None }))
}

/// Create a zone, or replace the one of that name
#[utoipa::path(
    put,
    path = "/api/projects/{id}/zones",
    params(("id" = ProjectId, Path)),
    request_body = NewZone,
    responses(
        (status = 200, body = Zone),
        (status = 409, description = "A path is in another zone, or the project has too many zones.")
    )
)]
pub(crate) async fn set_zone(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewZone>,
) -> Result<Json<Zone>> {
    Ok(Json(state.db.set_zone(&caller, &project, new).await?))
}

/// Remove a zone
#[utoipa::path(
    post,
    path = "/api/projects/{id}/zones/remove",
    params(("id" = ProjectId, Path)),
    request_body = ZoneRemoval,
    responses((status = 204, description = "Removed"))
)]
pub(crate) async fn remove_zone(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(zone): Body<ZoneRemoval>,
) -> Result<StatusCode> {
    state.db.remove_zone(&caller, &project, &zone.name).await?;
    Ok(StatusCode::NO_CONTENT)
}
