//! Zones: named parts of the repository of a project.

use std::path::Path;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::warroom::zone::coverage::{ZoneCoverage, Zones};
use domain::warroom::zone::proposal::{ProposalSource, ZoneProposals, ZoneSelection};
use domain::warroom::zone::{NewZone, Zone, ZoneRemoval};
use domain::wire::List;
use repo::KeptCodeMap;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, QueryParameters};
use crate::state::AppState;

/// List the zones of a project by name, with their gaps
///
/// A project has at most 100, so there are no pages.
#[utoipa::path(get, path = "/api/projects/{id}/zones", params(("id" = ProjectId, Path)), responses((status = 200, body = Zones)))]
pub(crate) async fn list_zones(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<Zones>> {
    let items = state.db.zones(&project).await?;
    let project = state.db.project(&project).await?;
    let (branches, zones) = (vec![project.integration_branch, project.base_branch], items.clone());
    let coverage = repo::with_commit_files(Path::new(&project.git_dir), branches, move |files| ZoneCoverage::of(&zones, files)).await;
    Ok(Json(Zones { items, coverage: coverage.ok() }))
}

/// Where proposals come from.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProposalParameters {
    /// The file CODEOWNERS of the base branch, or the last code map.
    from: ProposalSource,
}

/// Propose zones, without setting any
#[utoipa::path(
    get,
    path = "/api/projects/{id}/zones/proposals",
    params(("id" = ProjectId, Path), ProposalParameters),
    responses((status = 200, body = ZoneProposals), (status = 422, description = "The repository cannot be read."))
)]
pub(crate) async fn propose_zones(
    State(state): State<AppState>,
    Id(project): Id<ProjectId>,
    QueryParameters(given): QueryParameters<ProposalParameters>,
) -> Result<Json<ZoneProposals>> {
    let project = state.db.project(&project).await?;
    let code_map = KeptCodeMap::folder(&state.db.folder(), project.id.as_str());
    let found = repo::read_proposal_source(given.from, Path::new(&project.git_dir), project.base_branch, code_map).await?;
    Ok(Json(state.db.propose_zones(&project.id, &found).await?))
}

/// Set the proposed zones that fit: all or none of them
#[utoipa::path(
    post,
    path = "/api/projects/{id}/zones/apply",
    params(("id" = ProjectId, Path)),
    request_body = ZoneSelection,
    responses(
        (status = 200, body = List<Zone>),
        (status = 409, description = "A path is in another zone, or the project has too many zones.")
    )
)]
pub(crate) async fn apply_zones(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(selection): Body<ZoneSelection>,
) -> Result<Json<List<Zone>>> {
    Ok(Json(List { items: state.db.set_zones(&caller, &project, selection.zones).await?, next: None }))
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
