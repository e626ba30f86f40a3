//! Publishing: where the project branch can be pushed, and pushing it, with a pull request if that is wanted.

use std::path::{Path, PathBuf};

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::ProjectId;
use domain::runs::publication::host::HostKind;
use domain::runs::publication::issue::IssueImport;
use domain::runs::publication::{PublicationOffer, PublicationRefusal, PublicationTarget, PublishOptions, shown_url};
use repo::{Effort, Repository};

use crate::error::Result;
use crate::extract::{Body, Id, OptionalBody};
use crate::state::AppState;

/// Get where the branch of a project can be pushed
///
/// `target` is `null` if the repository has no remote.
#[utoipa::path(get, path = "/api/projects/{id}/publication", params(("id" = ProjectId, Path)), responses((status = 200, body = PublicationOffer)))]
pub(crate) async fn get_publication_target(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<PublicationOffer>> {
    let project = state.db.project(&id).await?;
    let git_dir = project.git_dir.clone();
    let read = move || Repository::open(Path::new(&project.git_dir))?.publication_target(&project.integration_branch, &project.base_branch);
    let target = repo::in_lane(Path::new(&git_dir), Effort::Brief, read).await??;
    let shown = |target: PublicationTarget| PublicationTarget { url: shown_url(&target.url), ..target };
    let can_open = match target.as_ref().and_then(|target| target.repository.clone()) {
        Some(repository) => (state.can_open)(repository).await,
        None => false,
    };
    Ok(Json(PublicationOffer { target: target.map(shown), can_open }))
}

/// Refuses pull requests for the tasks of a project where none could be opened, or nobody would know that one was merged.
pub(crate) async fn require_pull_requests(state: &AppState, git_dir: &str, base_branch: &str) -> Result<()> {
    let (opened, base) = (PathBuf::from(git_dir), base_branch.to_owned());
    let read = move || -> Result<_> {
        let repository = Repository::open(&opened)?;
        Ok((repository.publication_target(&base, &base)?, repository.upstream(&base)?))
    };
    let (target, upstream) = repo::in_lane(Path::new(git_dir), Effort::Brief, read).await??;
    let branch = || base_branch.to_owned();
    let PublicationTarget { url, repository, .. } = target.ok_or_else(|| PublicationRefusal::NoRemote { branch: branch() })?;
    if upstream.is_none() {
        return Err(PublicationRefusal::NoUpstream { branch: branch() }.into());
    }
    let repository = repository.ok_or_else(|| PublicationRefusal::NoHost { url: shown_url(&url) })?;
    let program = HostKind::of(&repository).program();
    if (state.can_open)(repository).await { Ok(()) } else { Err(PublicationRefusal::NotSignedIn { program }.into()) }
}

/// Turn an issue into a task: title, text and labels come from its host, and the pull request closes it
///
/// The text is marked as written by an outsider. It is read with `gh` or `glab`.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/issues",
    params(("id" = ProjectId, Path)),
    request_body = IssueImport,
    responses((status = 201, body = Task), (status = 409, description = "The host refused it, or the issue is already a task."))
)]
pub(crate) async fn import_issue(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(import): Body<IssueImport>,
) -> Result<(StatusCode, Json<Task>)> {
    Ok((StatusCode::CREATED, Json((state.import_issue)(caller, id, import).await?)))
}

/// Say that you looked at the pull request of a project: an open one is followed again, a closed one is forgotten
#[utoipa::path(
    post,
    path = "/api/projects/{id}/publication/settle",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = Project), (status = 422, description = "No pull request needs a person."))
)]
pub(crate) async fn settle_pull_request(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
) -> Result<Json<Project>> {
    Ok(Json(state.db.settle_pull_request(&caller, &id).await?))
}

/// Push the branch of a project to its remote, and open a pull request if the request says so
///
/// `git` and `gh` run with the credentials of the person who started the server. A pull request that is open is kept.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/publication",
    params(("id" = ProjectId, Path)),
    request_body(content = PublishOptions, description = "May be empty"),
    responses((status = 200, body = Project), (status = 409, description = "The remote or its host refused it."))
)]
pub(crate) async fn publish_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    OptionalBody(options): OptionalBody<PublishOptions>,
) -> Result<Json<Project>> {
    // Runs as a task of its own, because a client that disconnects must not leave a push unrecorded.
    Ok(Json(tokio::spawn((state.publish)(caller, id, options)).await??))
}
