//! Contracts: interfaces that agents declare, with all their versions.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::team::contract::{Contract, ContractVersion, NewContract};
use domain::wire::List;

use crate::error::Result;
use crate::extract::{Body, Id, NumericId};
use crate::state::AppState;

/// List the contracts of a project, by type and name
#[utoipa::path(get, path = "/api/projects/{id}/contracts", params(("id" = ProjectId, Path)), responses((status = 200, body = List<Contract>)))]
pub(crate) async fn list_contracts(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<List<Contract>>> {
    state.db.project(&project).await?;
    Ok(Json(List { items: state.db.contracts(&project).await?, next: None }))
}

/// Declare a contract, or a new version of one
#[utoipa::path(
    post,
    path = "/api/projects/{id}/contracts",
    params(("id" = ProjectId, Path)),
    request_body = NewContract,
    responses((status = 201, body = Contract))
)]
pub(crate) async fn declare_contract(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(new): Body<NewContract>,
) -> Result<(StatusCode, Json<Contract>)> {
    Ok((StatusCode::CREATED, Json(state.db.declare_contract(&caller, &project, new).await?)))
}

/// List the versions of a contract, oldest first
#[utoipa::path(get, path = "/api/contracts/{id}/versions", params(("id" = i64, Path)), responses((status = 200, body = List<ContractVersion>)))]
pub(crate) async fn list_contract_versions(State(state): State<AppState>, NumericId(id): NumericId) -> Result<Json<List<ContractVersion>>> {
    Ok(Json(List { items: state.db.contract_versions(id).await?, next: None }))
}
