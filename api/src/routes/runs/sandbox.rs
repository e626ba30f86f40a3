//! The sandbox of agents: choosing it, and allowing what it refused.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::sandbox::{Access, SandboxStatus};
use domain::wire::SandboxChoice;

use crate::error::Result;
use crate::extract::{Body, Id};
use crate::state::AppState;

/// The sandbox of the next agents, as the runner found it and the owner chose it since.
///
/// # Errors
/// When the store fails.
pub(crate) async fn status(state: &AppState) -> Result<Option<SandboxStatus>> {
    let found = state.sandbox.borrow().clone();
    Ok(match found {
        Some(status) => Some(status.with_choice(state.db.chosen_sandbox().await?)),
        None => None,
    })
}

/// Choose the sandbox of agents, once, where the configuration leaves the choice
#[utoipa::path(post, path = "/api/sandbox", request_body = SandboxChoice, responses((status = 200, body = SandboxStatus)))]
pub(crate) async fn choose_sandbox(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Body(SandboxChoice { tier }): Body<SandboxChoice>,
) -> Result<Json<SandboxStatus>> {
    let before = status(&state).await?;
    match before {
        Some(before) if before.choices.contains(&tier) => {
            state.db.choose_sandbox(&caller, tier).await?;
            Ok(Json(before.with_choice(Some(tier))))
        }
        Some(before) if before.choices.is_empty() => {
            let detail = "the sandbox of agents is already chosen";
            Err(Refusal::invalid("tier", detail, "Set \"sandbox\" in the configuration to change it.").into())
        }
        _ => Err(Refusal::invalid("tier", format!("\"{tier}\" is not offered here"), "Run `vibe-relay doctor` to see what works.").into()),
    }
}

/// Allow an access that a sandbox refused, for later runs on the repository of a project
#[utoipa::path(
    post,
    path = "/api/projects/{id}/access",
    params(("id" = ProjectId, Path)),
    request_body = Access,
    responses((status = 200, body = Project))
)]
pub(crate) async fn allow_access(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(access): Body<Access>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.allow_access(&caller, &id, access).await?))
}
