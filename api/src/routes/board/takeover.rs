//! Takeovers: a person continues an agent's work in its worktree, and gives it back.

use std::path::{Path, PathBuf};

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::takeover::HandBack;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::evidence::Sha;
use domain::text;
use domain::wire::TaskView;
use repo::{Effort, RESCUE_PREFIX, RepoError, Repository};

use super::task::view;
use crate::error::Result;
use crate::extract::{Id, NoBody};
use crate::state::AppState;

/// Stop the agent of a task and hold the task, so that a person can continue in its worktree
///
/// `takeover` in the response, or in that of `GET /api/tasks/{id}` once the agent is gone, says where and how.
#[utoipa::path(post, path = "/api/tasks/{id}/take-over", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn take_over_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    _: NoBody,
) -> Result<Json<TaskView>> {
    let worktree = Worktree::of(&state, &id).await?;
    let branch = worktree.branch.clone();
    let head = worktree.read(move |repository, _| repository.ref_sha(&branch)).await?;
    let head = head.ok_or_else(|| Refusal::not_found("branch of the task", &id))?;
    view(&state.db, state.db.take_over(&caller, &id, &head).await?, None).await
}

/// Give a task back to its agents, which are told what changed in its worktree in the meantime
#[utoipa::path(post, path = "/api/tasks/{id}/give-back", params(("id" = TaskId, Path)), responses((status = 200, body = TaskView)))]
pub(crate) async fn give_back_task(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<TaskId>,
    _: NoBody,
) -> Result<Json<TaskView>> {
    let since = state.db.takeover_head(&id).await?;
    let worktree = Worktree::of(&state, &id).await?;
    let copy = format!("{RESCUE_PREFIX}{id}/given-back");
    state.db.claim_reference(&worktree.git_dir.to_string_lossy(), &copy, Some(&id)).await?;
    let branch = worktree.branch.clone();
    let work = worktree.read(move |repository, folder| hand_back(repository, folder, &branch, &since, copy)).await?;
    view(&state.db, state.db.give_back(&caller, &id, &work).await?, None).await
}

/// The branch and the checkout of a coder's task.
struct Worktree {
    git_dir: PathBuf,
    folder: PathBuf,
    branch: String,
}

impl Worktree {
    async fn of(state: &AppState, id: &TaskId) -> Result<Self> {
        let Task { card, worktree_path, branch, .. } = state.db.task(id).await?;
        let git_dir = PathBuf::from(state.db.project(&card.project_id).await?.git_dir);
        let (Some(folder), Some(branch)) = (worktree_path, branch) else {
            let hint = "Start it first: its first coder creates the worktree.";
            return Err(Refusal::invalid("task", format!("{id} has no worktree"), hint).into());
        };
        Ok(Self { git_dir, folder: PathBuf::from(folder), branch })
    }

    async fn read<T: Send + 'static>(self, work: impl FnOnce(&Repository, &Path) -> Result<T, RepoError> + Send + 'static) -> Result<T> {
        let Self { git_dir, folder, .. } = self;
        Ok(repo::in_lane(&git_dir.clone(), Effort::Long, move || work(&Repository::open(&git_dir)?, &folder)).await??)
    }
}

fn hand_back(repository: &Repository, folder: &Path, branch: &str, since: &Sha, copy: String) -> Result<HandBack, RepoError> {
    let mut work = HandBack::default();
    // Without its branch, the next agent reports the cause.
    let Some(tip) = repository.ref_sha(branch)? else { return Ok(work) };
    let shown = |mut paths: Vec<String>| {
        paths.truncate(HandBack::LISTED);
        paths
    };
    let commits = repository.log(since, &tip, HandBack::LISTED)?;
    work.commits = commits.into_iter().map(|commit| (commit.sha, text::excerpt(&commit.subject, 100))).collect();
    work.changed = shown(repository.changed_paths(since, &tip)?);
    if let Some(kept) = repository.rescue(&copy, folder, &tip)? {
        work.uncommitted = shown(repository.changed_paths(&tip, &kept.sha)?);
        work.not_kept = shown(kept.skipped);
        work.kept = Some(copy);
    }
    Ok(work)
}
