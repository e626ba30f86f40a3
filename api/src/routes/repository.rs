//! Looking at a path that may become a project's repository.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use domain::config::Config;
use domain::refusal::Refusal;
use domain::runs::evidence::{RepositoryInfo, UncommittedFiles};
use domain::runs::repository_finding::{self, RepositoryFact, RepositoryFinding};
use repo::{DiskSpace, Effort};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::QueryParameters;
use crate::state::AppState;

/// A repository to look at.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProbeQuery {
    /// Any folder of the repository's checkout; the configured repository if missing.
    pub(crate) path: Option<String>,
    /// A local branch. If missing: the configured branch when the path is in the configured repository, otherwise the checked-out one.
    pub(crate) base_branch: Option<String>,
    /// Whether `base_branch` may be a branch of a remote or a tag, from which a local branch is made when the project is created.
    #[serde(default)]
    pub(crate) make_base: bool,
}

/// Files of a checkout.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UncommittedQuery {
    /// Any folder of the checkout.
    path: String,
}

/// Look at the repository at a path: its branches and commit identity
#[utoipa::path(get, path = "/api/repository", params(ProbeQuery), responses((status = 200, body = RepositoryInfo)))]
pub(crate) async fn probe_repository(
    State(state): State<AppState>,
    QueryParameters(query): QueryParameters<ProbeQuery>,
) -> Result<Json<RepositoryInfo>> {
    Ok(Json(probe(&state, query).await?))
}

/// Count the uncommitted files of the checkout at a path
///
/// The count stops when the client closes the connection.
#[utoipa::path(get, path = "/api/repository/uncommitted", params(UncommittedQuery), responses((status = 200, body = UncommittedFiles)))]
pub(crate) async fn count_uncommitted(QueryParameters(query): QueryParameters<UncommittedQuery>) -> Result<Json<UncommittedFiles>> {
    let path = absolute(query.path.trim())?;
    let cancelled = CancellationToken::new();
    // Dropped with the answer when the client has closed the connection.
    let _guard = cancelled.clone().drop_guard();
    let count = repo::in_lane(&path.clone(), Effort::Long, move || repo::uncommitted(&path, &cancelled)).await??;
    Ok(Json(UncommittedFiles::new(count)))
}

/// Reads the repository that `query` names, or the configured one.
pub(crate) async fn probe(state: &AppState, query: ProbeQuery) -> Result<RepositoryInfo> {
    let given = |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let config = state.config.borrow().config.clone();
    let path = match given(&query.path) {
        Some(path) => absolute(&path)?,
        None => config.repo_path.clone().ok_or_else(|| {
            Refusal::invalid("repo_path", "no repository is given", "Give a folder of a git repository, or set \"repo_path\" in the configuration.")
        })?,
    };
    let base_branch = given(&query.base_branch);
    if base_branch.as_ref().is_some_and(|branch| branch.contains('\0')) {
        return Err(Refusal::invalid("base_branch", "it contains a NUL character", "Give an existing local branch.").into());
    }
    let mut found = repo::in_lane(&path.clone(), Effort::Long, move || {
        let base_branch = base_branch.or_else(|| configured_base(&config, &path));
        let mut found =
            if query.make_base { repo::probe_or_plan_base(&path, base_branch.as_deref()) } else { repo::probe(&path, base_branch.as_deref()) }?;
        found.findings.extend(little_space(&config, found.checkout_bytes));
        repository_finding::sort(&mut found.findings);
        Ok::<_, repo::RepoError>(found)
    })
    .await??;
    found.detection.known = state.db.repository_profile(&found.git_dir).await?;
    if found.detection.preferred().submodules {
        found.findings.retain(|finding| finding.kind != RepositoryFact::SUBMODULES);
    }
    Ok(found)
}

/// The finding that the disk of the checkouts cannot hold one for each agent.
fn little_space(config: &Config, checkout: u64) -> Option<RepositoryFinding> {
    let slots = config.max_parallel_agents;
    let free = DiskSpace::of(&config.worktrees_path)?.free;
    let folder = config.worktrees_path.display().to_string();
    (free < checkout.saturating_mul(u64::from(slots))).then(|| RepositoryFact::LittleSpace { folder, free, checkout, slots }.describe())
}

/// The configured base branch, if `path` is in the configured repository: no other repository needs to have that branch.
fn configured_base(config: &Config, path: &Path) -> Option<String> {
    let configured = repo::git_dir(config.repo_path.as_ref()?).ok()?;
    (repo::git_dir(path).ok()? == configured).then(|| config.base_branch.clone())?
}

/// The absolute form of a path that may begin with `~`. A path relative to the server's own folder is not accepted.
pub(crate) fn absolute(given: &str) -> Result<PathBuf> {
    let path = match (Path::new(given).strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(given),
    };
    if path.is_absolute() && !given.contains('\0') {
        return Ok(path);
    }
    Err(Refusal::invalid(
        "repo_path",
        "it is not an absolute path",
        "Write it from the root, like /home/you/project, or from your home, like ~/project.",
    )
    .into())
}
