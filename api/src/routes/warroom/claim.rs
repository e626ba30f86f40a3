//! Claims: which agent edits which files of a repository, and who waits for them.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::id::ProjectId;
use domain::warroom::claim::queue::Claims;
use domain::warroom::claim::{Claim, ClaimRelease};

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// List the claims of a project's repository, and the agents that wait
///
/// Claims of other projects on the same repository are included.
#[utoipa::path(get, path = "/api/projects/{id}/claims", params(("id" = ProjectId, Path)), responses((status = 200, body = Claims)))]
pub(crate) async fn list_claims(State(state): State<AppState>, Id(project): Id<ProjectId>) -> Result<Json<Claims>> {
    Ok(Json(state.db.claims(&project, None).await?))
}

/// Take a claim away from its holder, who reads the reason
///
/// The first agent in line gets the path.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/claims/release",
    params(("id" = ProjectId, Path)),
    request_body = ClaimRelease,
    responses((status = 200, body = Claim))
)]
pub(crate) async fn release_claim(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(project): Id<ProjectId>,
    Body(release): Body<ClaimRelease>,
) -> Result<Json<Claim>> {
    Ok(Json(state.db.release_file(&caller, &project, &release.path, Some(&release.reason)).await?))
}
