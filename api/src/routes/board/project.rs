//! Projects and their boards.

use std::path::{Path, PathBuf};

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::board::project::Project;
use domain::board::project::refusal::ProjectRefusal;
use domain::board::project::summary::ProjectSummary;
use domain::id::ProjectId;
use domain::runs::branch_start::BranchStart;
use domain::runs::evidence::{RepositoryInfo, Sha};
use domain::runs::profile::{Profile, PullRequests};
use domain::runs::publication::task_text::TaskText;
use domain::wire::{BoardView, List, NewProject, ProjectDeletion, ProjectPatch, Relocation};
use repo::{Effort, RepoError, Repository};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::{Error, Result};
use crate::extract::{Body, Id, QueryParameters};
use crate::routes::repository::{ProbeQuery, absolute, probe};
use crate::routes::runs::publication::require_pull_requests;
use crate::state::AppState;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProjectQuery {
    /// Whether to list the archived projects instead, with the deleted ones whose work is still kept.
    #[serde(default)]
    archived: bool,
}

/// List the current projects, newest first, with how far each is and what happened last
///
/// A page that shows the list follows `GET /api/ws` without a project, and reads the list again after events, at most once a second.
#[utoipa::path(get, path = "/api/projects", params(ProjectQuery), responses((status = 200, body = List<ProjectSummary>)))]
pub(crate) async fn list_projects(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    QueryParameters(query): QueryParameters<ProjectQuery>,
) -> Result<Json<List<ProjectSummary>>> {
    Ok(Json(List { items: state.db.project_summaries(&caller, query.archived).await?, next: None }))
}

/// Create a project on a git repository
#[utoipa::path(
    post,
    path = "/api/projects",
    request_body = NewProject,
    responses((status = 201, body = Project), (status = 409, description = "The host refused to show the issue."))
)]
pub(crate) async fn create_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Body(mut new): Body<NewProject>,
) -> Result<(StatusCode, Json<Project>)> {
    let query = ProbeQuery { path: new.repo_path.clone(), base_branch: new.base_branch.clone(), make_base: new.make_base };
    let mut repository = probe(&state, query).await?;
    if new.profile.as_ref().is_some_and(|profile| profile.pull_requests == PullRequests::Task) {
        require_pull_requests(&state, &repository.git_dir, &repository.base_branch).await?;
    }
    if let Some(given) = new.issue.take() {
        let issue = (state.read_issue)(caller.clone(), repository.git_dir.clone().into(), repository.base_branch.clone(), given).await?;
        let TaskText { title, description } = issue.goal(&new.title, new.description.as_deref());
        (new.title, new.description, new.issue) = (title, Some(description), Some(issue.address));
    }
    let known = repository.detection.known.clone().unwrap_or_default();
    let profiles: Vec<Profile> = new.profile.clone().into_iter().chain([known]).collect();
    let (found, start) = (repository.clone(), new.start);
    repository.start = repo::in_lane(Path::new(&repository.git_dir), Effort::Long, move || begin(&found, start, &profiles)).await??;
    Ok((StatusCode::CREATED, Json(state.db.create_project(&caller, new, repository).await?)))
}

/// Makes the base branch if it does not exist yet, and returns the commit at which the project branch begins, if that is not its tip. The
/// files with secrets that `profiles` name are in no snapshot.
fn begin(found: &RepositoryInfo, start: BranchStart, profiles: &[Profile]) -> Result<Option<Sha>, RepoError> {
    let repository = Repository::open(Path::new(&found.git_dir))?;
    if let Some(from) = &found.base_made_from {
        repository.make_base(&found.base_branch, &found.base_sha, from)?;
    }
    match start {
        BranchStart::Base => Ok(None),
        BranchStart::Upstream => repository.start_at_upstream(&found.base_branch, &found.base_sha),
        BranchStart::Snapshot => {
            let is_secret = |path: &str| profiles.iter().any(|profile| profile.copies(path));
            repository.start_with_snapshot(Path::new(&found.repo_path), &found.base_branch, &found.base_sha, is_secret)
        }
    }
}

/// Get a project
#[utoipa::path(get, path = "/api/projects/{id}", params(("id" = ProjectId, Path)), responses((status = 200, body = Project)))]
pub(crate) async fn get_project(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<Project>> {
    Ok(Json(state.db.project(&id).await?))
}

/// Change a project: its texts, plan approval, budget, base branch, or what its agents may reach
#[utoipa::path(
    patch,
    path = "/api/projects/{id}",
    params(("id" = ProjectId, Path)),
    request_body = ProjectPatch,
    responses((status = 200, body = Project), (status = 409, description = "Tasks would have pull requests, but merged work is not landed."))
)]
pub(crate) async fn edit_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(patch): Body<ProjectPatch>,
) -> Result<Json<Project>> {
    if patch.profile.as_ref().is_some_and(|profile| profile.pull_requests == PullRequests::Task) {
        let project = state.db.project(&id).await?;
        if project.profile.pull_requests != PullRequests::Task {
            require_pull_requests(&state, &project.git_dir, &project.base_branch).await?;
        }
    }
    let Some(branch) = patch.base_branch.clone() else { return Ok(Json(state.db.edit_project(&caller, &id, patch, None).await?)) };
    let git_dir = PathBuf::from(state.db.project(&id).await?.git_dir);
    // The runner records the tip of the base branch while it has the repository, and a landing moves it.
    let _exclusive = repo::exclusive(&git_dir).await?;
    let project = state.db.project(&id).await?;
    let base = repo::in_lane(&git_dir, Effort::Long, move || {
        // `landed_sha` may be a later merge of the base, which only the project branch has.
        let landed = project.landed_sha.as_ref().and(project.landed.as_ref()).map(|landing| &landing.tip);
        Repository::open(Path::new(&project.git_dir))?.base_evidence(&branch, &project.base_head, landed)
    });
    Ok(Json(state.db.edit_project(&caller, &id, patch, Some(base.await??)).await?))
}

/// Archive a project: it leaves the lists, and no agent starts in it until it is restored
#[utoipa::path(
    post,
    path = "/api/projects/{id}/archive",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = Project), (status = 409, description = "An agent or a person works on one of its tasks."))
)]
pub(crate) async fn archive_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.archive_project(&caller, &id).await?))
}

/// Restore an archived project
#[utoipa::path(
    post,
    path = "/api/projects/{id}/restore",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = Project), (status = 409, description = "The project was deleted."))
)]
pub(crate) async fn restore_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.restore_project(&caller, &id).await?))
}

/// Delete a project: the runner keeps the unmerged work of its tasks, removes their checkouts, and then everything that the board knows about it
///
/// The repository and its branches stay as they are.
#[utoipa::path(
    delete,
    path = "/api/projects/{id}",
    params(("id" = ProjectId, Path)),
    request_body = ProjectDeletion,
    responses((status = 200, body = Project), (status = 409, description = "An agent or a person works on one of its tasks."))
)]
pub(crate) async fn delete_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(deletion): Body<ProjectDeletion>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.delete_project(&caller, &id, &deletion.title).await?))
}

/// Set the folder that the repository of a project was moved to, for every project on it
#[utoipa::path(
    post,
    path = "/api/projects/{id}/relocate",
    params(("id" = ProjectId, Path)),
    request_body = Relocation,
    responses((status = 200, body = Project), (status = 409, description = "Agents work in the repository."))
)]
pub(crate) async fn relocate_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(to): Body<Relocation>,
) -> Result<Json<Project>> {
    let path = absolute(&to.repo_path)?;
    let place = repo::in_lane(&path.clone(), Effort::Brief, move || repo::place(&path)).await??;
    let (old, new) = (PathBuf::from(state.db.project(&id).await?.git_dir), PathBuf::from(&place.git_dir));
    let _old = repo::exclusive(&old).await?;
    let _new = if old == new { None } else { Some(repo::exclusive(&new).await?) };
    let record = state.db.repository_record(&id).await?;
    let project = state.db.project(&id).await?;
    let found = place.clone();
    let relinked = repo::in_lane(&new, Effort::Long, move || {
        let repository = Repository::open(Path::new(&found.git_dir))?;
        let missing = repository.missing_of(&record)?;
        if !missing.is_empty() {
            return Err(ProjectRefusal::OtherRepository { project: project.id, path: found.repo_path, missing }.into());
        }
        // Comes before the record, so that a repeated request finishes what a killed server began.
        Ok::<_, Error>(repository.relink_checkouts(&record, Path::new(&project.repo_path), Path::new(&found.repo_path))?)
    });
    let moved = relinked.await??;
    Ok(Json(state.db.relocate_project(&caller, &id, place, moved).await?))
}

/// Get the open and the newest finished cards of a project, with the number of the last event that they include
#[utoipa::path(get, path = "/api/projects/{id}/board", params(("id" = ProjectId, Path)), responses((status = 200, body = BoardView)))]
pub(crate) async fn get_board(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<BoardView>> {
    Ok(Json(state.db.board(&id).await?))
}
