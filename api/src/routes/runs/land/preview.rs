//! The preview of a landing, and earlier landings: read from the store and the repository, without changing either.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use domain::id::ProjectId;
use domain::runs::diff::Diff;
use domain::runs::evidence::Sha;
use domain::runs::land::LandRefusal;
use domain::runs::land::preview::{LandingChange, LandingPreview, LandingTask, OpenTask};
use repo::{DiffLimits, Effort, LandingQuestion, RepoError, Repository};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Id, QueryParameters};
use crate::state::AppState;

/// Open tasks that a preview lists.
const MAX_OPEN: usize = 100;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LandingParameters {
    /// An earlier landing, from `landings`; what would land now if missing.
    landing: Option<i64>,
}

/// Preview the landing of a project, or get an earlier one: tasks, commits, files, what blocks it, and what stays open
#[utoipa::path(
    get,
    path = "/api/projects/{id}/landing",
    params(("id" = ProjectId, Path), LandingParameters),
    responses((status = 200, body = LandingPreview), (status = 422, description = "There is no project branch yet, or the repository cannot be read."))
)]
pub(crate) async fn preview_landing(
    State(state): State<AppState>,
    Id(id): Id<ProjectId>,
    QueryParameters(parameters): QueryParameters<LandingParameters>,
) -> Result<Json<LandingPreview>> {
    let db::LandingFacts { project, tasks, open, landings, landing } = state.db.landing_facts(&id, parameters.landing).await?;
    let git_dir = PathBuf::from(&project.git_dir);
    let (from_branch, to_branch) =
        (project.integration_branch.clone(), landing.as_ref().map_or(&project.base_branch, |landing| &landing.base_branch).clone());
    let asked = landing.clone();
    let read = repo::in_lane(&git_dir.clone(), Effort::Long, move || -> Result<_> {
        let repository = Repository::open(&git_dir)?;
        let change: LandingChange = match &landing {
            Some(landing) => repository.past_landing(&landing.before_sha, &landing.sha)?,
            None => {
                if repository.ref_sha(&project.integration_branch)?.is_none() {
                    return Err(LandRefusal::NothingToLand { detail: format!("{} does not exist yet", project.integration_branch) }.into());
                }
                let question = LandingQuestion {
                    project_branch: &project.integration_branch,
                    base_branch: &project.base_branch,
                    base_head: &project.base_head,
                    recorded_tip: project.integration_head.as_ref(),
                    workdir: project.repo_path.as_ref(),
                };
                repository.preview_landing(question).map_err(|error| match error {
                    RepoError::BranchMissing { branch, near } => {
                        LandRefusal::BaseMissing { project: project.id.clone(), base_branch: branch, near }.into()
                    }
                    other => crate::error::Error::from(other),
                })?
            }
        };
        let tip = landing.map_or_else(|| change.tip.clone(), |landing| landing.tip);
        let commits = repository.commits_of_merges(&change.base, &tip)?;
        Ok((change, commits))
    });
    let (change, commits) = read.await??;
    Ok(Json(LandingPreview {
        from_branch,
        to_branch,
        change,
        cost_micro_usd: tasks.iter().map(|card| card.cost_micro_usd).sum(),
        tasks: tasks.iter().map(|card| LandingTask::of(card, card.approved_sha.as_ref().and_then(|sha| commits.get(sha)).copied())).collect(),
        open_total: u32::try_from(open.len()).unwrap_or(u32::MAX),
        open: open.iter().take(MAX_OPEN).map(OpenTask::of).collect(),
        landings,
        landing: asked,
    }))
}

/// Get the combined change of a landing, or of what would land
#[utoipa::path(
    get,
    path = "/api/projects/{id}/landing/diff",
    params(("id" = ProjectId, Path), LandingParameters),
    responses((status = 200, body = Diff), (status = 422, description = "There is no project branch yet, or the repository cannot be read."))
)]
pub(crate) async fn get_landing_diff(
    State(state): State<AppState>,
    Id(id): Id<ProjectId>,
    QueryParameters(parameters): QueryParameters<LandingParameters>,
) -> Result<Json<Diff>> {
    let db::LandingFacts { project, landing, .. } = state.db.landing_facts(&id, parameters.landing).await?;
    let git_dir = PathBuf::from(&project.git_dir);
    let shown = repo::in_lane(&git_dir.clone(), Effort::Long, move || -> Result<Diff> {
        let repository = Repository::open(&git_dir)?;
        let missing = |branch: &str| LandRefusal::NothingToLand { detail: format!("{branch} does not exist") };
        let (base, tip): (Sha, Sha) = match landing {
            Some(landing) => (landing.before_sha, landing.sha),
            None => {
                let base = repository.ref_sha(&project.base_branch)?.ok_or_else(|| missing(&project.base_branch))?;
                (base, repository.ref_sha(&project.integration_branch)?.ok_or_else(|| missing(&project.integration_branch))?)
            }
        };
        let mut diff = repository.diff(&base, &tip, DiffLimits::default())?;
        repository.annotate(&mut diff)?;
        Ok(diff)
    });
    Ok(Json(shown.await??))
}
