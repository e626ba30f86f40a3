//! Looking at a path that may become a project's repository.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use domain::config::Config;
use domain::refusal::Refusal;
use domain::runs::evidence::RepositoryInfo;
use serde::Deserialize;
use tokio::task::spawn_blocking;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::Parameters;
use crate::state::AppState;

/// What a person named.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Any folder of the repository's checkout. The configuration's when missing.
    pub(crate) path: Option<String>,
    /// When missing: the configured branch if the path is in the configured repository, otherwise the checked-out one.
    pub(crate) base_branch: Option<String>,
}

/// What is at a path: branches, uncommitted files, and what commits will be signed with
#[utoipa::path(get, path = "/api/repository", params(Wanted), responses((status = 200, body = RepositoryInfo)))]
pub(crate) async fn show(State(state): State<AppState>, Parameters(wanted): Parameters<Wanted>) -> Result<Json<RepositoryInfo>> {
    Ok(Json(probe(&state, wanted).await?))
}

/// Looks at the repository that is `wanted`, or at the configuration's.
pub(crate) async fn probe(state: &AppState, wanted: Wanted) -> Result<RepositoryInfo> {
    let given = |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let config = state.config.borrow().config.clone();
    let path = match given(&wanted.path) {
        Some(path) => absolute(&path)?,
        None => config.repo_path.clone().ok_or_else(|| {
            Refusal::invalid("repo_path", "no repository is named", "Name a folder of a git repository, or set \"repo_path\" in the configuration.")
        })?,
    };
    let base_branch = given(&wanted.base_branch);
    if base_branch.as_ref().is_some_and(|branch| branch.contains('\0')) {
        return Err(Refusal::invalid("base_branch", "it holds a NUL character", "Name an existing local branch.").into());
    }
    Ok(spawn_blocking(move || {
        let base_branch = base_branch.or_else(|| configured_base(&config, &path));
        repo::probe(&path, base_branch.as_deref())
    })
    .await??)
}

/// The configured base branch, if `path` is in the configured repository: no other repository needs to have that branch.
fn configured_base(config: &Config, path: &Path) -> Option<String> {
    let configured = repo::git_dir(config.repo_path.as_ref()?).ok()?;
    (repo::git_dir(path).ok()? == configured).then(|| config.base_branch.clone())?
}

/// The path as a person writes it: absolute, or from their home. The server's own folder is nobody's starting point.
fn absolute(given: &str) -> Result<PathBuf> {
    let path = match (Path::new(given).strip_prefix("~"), std::env::home_dir()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(given),
    };
    if path.is_absolute() && !given.contains('\0') {
        return Ok(path);
    }
    Err(Refusal::invalid("repo_path", "it is not a whole path", "Write it from the root, like /home/you/project, or from your home, like ~/project.")
        .into())
}
