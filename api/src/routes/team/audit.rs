//! The audit log: pages of it, and the check of its chain.

use axum::extract::State;
use axum::{Extension, Json};
use db::{AuditQuery, Caller};
use domain::actor::Actor;
use domain::audit::{AuditCheck, AuditKind, AuditRow};
use domain::id::ProjectId;
use domain::wire::List;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::QueryParameters;
use crate::state::AppState;

const DEFAULT_PAGE: u32 = 50;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditParameters {
    kind: Option<AuditKind>,
    /// Only rows of this participant, such as `human` or `coder-TASK-012`.
    actor: Option<Actor>,
    project: Option<ProjectId>,
    /// Only rows of this credential, such as `token:0123456789ab`.
    credential: Option<String>,
    /// Only rows before this one.
    #[param(minimum = 1)]
    before: Option<i64>,
    /// At most 200; 50 if missing.
    limit: Option<u32>,
}

/// List the audit log, newest first
///
/// A page can be short and still have a next one, if few rows match.
#[utoipa::path(get, path = "/api/audit", params(AuditParameters), responses((status = 200, body = List<AuditRow>)))]
pub(crate) async fn list_audit(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    QueryParameters(given): QueryParameters<AuditParameters>,
) -> Result<Json<List<AuditRow>>> {
    let AuditParameters { kind, actor, project, credential, before, limit } = given;
    let query = AuditQuery { kind, actor, project, credential, before, limit: limit.unwrap_or(DEFAULT_PAGE) };
    let (items, next) = state.db.audit(&caller, &query).await?;
    Ok(Json(List { items, next }))
}

/// Check the chain of the audit log
///
/// Reads the whole log. `vibe-relay audit verify` does the same without the server.
#[utoipa::path(get, path = "/api/audit/check", responses((status = 200, body = AuditCheck)))]
pub(crate) async fn check_audit(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Result<Json<AuditCheck>> {
    Ok(Json(state.db.check_audit(&caller).await?))
}
