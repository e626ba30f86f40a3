//! Rescues: listing, showing, restoring and dropping work that was kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axum::extract::State;
use axum::{Extension, Json};
use db::{Caller, Db};
use domain::board::project::{Project, refuse_managed_branch};
use domain::id::ProjectId;
use domain::runs::diff::Diff;
use domain::runs::rescue::{DropRescue, Rescue, RestoreRescue, task_of};
use domain::time::Timestamp;
use domain::wire::List;
use repo::{DiffLimits, Effort, KeptCommit, RESCUE_PREFIX, RepoError, Repository};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, QueryParameters};
use crate::state::AppState;

/// A rescue ref.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RescueQuery {
    /// Its full name.
    reference: String,
}

/// List the work that was kept in the repository of a project before its branch or checkout was removed
#[utoipa::path(
    get,
    path = "/api/projects/{id}/rescues",
    params(("id" = ProjectId, Path)),
    responses((status = 200, body = List<Rescue>), (status = 422, description = "The repository cannot be read."))
)]
pub(crate) async fn list_rescues(State(state): State<AppState>, Id(id): Id<ProjectId>) -> Result<Json<List<Rescue>>> {
    let project = state.db.project(&id).await?;
    Ok(Json(list(&state.db, &project).await?))
}

/// Get what a rescue ref keeps beyond the project branch
#[utoipa::path(
    get,
    path = "/api/projects/{id}/rescues/diff",
    params(("id" = ProjectId, Path), RescueQuery),
    responses((status = 200, body = Diff))
)]
pub(crate) async fn get_rescue_diff(
    State(state): State<AppState>,
    Id(id): Id<ProjectId>,
    QueryParameters(RescueQuery { reference }): QueryParameters<RescueQuery>,
) -> Result<Json<Diff>> {
    let project = state.db.project(&id).await?;
    let base = project.integration_head.clone().unwrap_or_else(|| project.base_head.clone());
    let diff =
        in_repository(&project, Effort::Long, move |repository| repository.diff(&base, &repository.rescued(&reference)?, DiffLimits::default()));
    Ok(Json(diff.await?))
}

/// Restore the work that a rescue ref keeps to a new branch. The rescue ref stays
#[utoipa::path(
    post,
    path = "/api/projects/{id}/rescues/restore",
    params(("id" = ProjectId, Path)),
    request_body = RestoreRescue,
    responses((status = 200, body = List<Rescue>))
)]
pub(crate) async fn restore_rescue(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(RestoreRescue { reference, branch }): Body<RestoreRescue>,
) -> Result<Json<List<Rescue>>> {
    refuse_managed_branch("branch", &branch)?;
    let db = state.db.clone();
    let restored = recorded(state.db, id, move |project| async move {
        let (from, to) = (reference.clone(), branch.clone());
        in_repository(&project, Effort::Brief, move |repository| repository.restore_rescue(&from, &to)).await?;
        Ok(db.record_restored_rescue(&caller, &project.id, &reference, &branch).await?)
    });
    restored.await
}

/// Delete a rescue ref. Work that exists nowhere else is lost
#[utoipa::path(
    post,
    path = "/api/projects/{id}/rescues/drop",
    params(("id" = ProjectId, Path)),
    request_body = DropRescue,
    responses((status = 200, body = List<Rescue>))
)]
pub(crate) async fn drop_rescue(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    Body(DropRescue { reference, sha }): Body<DropRescue>,
) -> Result<Json<List<Rescue>>> {
    let db = state.db.clone();
    let dropped = recorded(state.db, id, move |project| async move {
        let (name, expected) = (reference.clone(), sha.clone());
        in_repository(&project, Effort::Brief, move |repository| repository.drop_rescue(&name, &expected)).await?;
        Ok(db.record_dropped_rescue(&caller, &project.id, &reference, &sha).await?)
    });
    dropped.await
}

/// Changes a rescue while nothing else changes the repository, and returns what it then keeps.
async fn recorded<Work>(db: Db, id: ProjectId, change: impl FnOnce(Project) -> Work + Send + 'static) -> Result<Json<List<Rescue>>>
where
    Work: Future<Output = Result<()>> + Send + 'static,
{
    // Runs as a task of its own, because a client that disconnects must not leave a change unrecorded.
    let changed = tokio::spawn(async move {
        let git_dir = db.project(&id).await?.git_dir;
        let _exclusive = repo::exclusive(Path::new(&git_dir)).await?;
        let project = db.project(&id).await?;
        change(project.clone()).await?;
        list(&db, &project).await
    });
    Ok(Json(changed.await??))
}

async fn list(db: &Db, project: &Project) -> Result<List<Rescue>> {
    let base = project.integration_head.clone().unwrap_or_else(|| project.base_head.clone());
    let measured = move |repository: &Repository| {
        let kept = repository.rescues()?.into_iter().map(|kept| {
            // One that cannot be measured is listed all the same.
            let bytes = repository.size_beyond(&base, &kept.commit.sha).unwrap_or_default();
            (kept, bytes)
        });
        Ok(kept.collect::<Vec<_>>())
    };
    let found = in_repository(project, Effort::Long, measured).await?;
    let kept_at = db.references_kept_at(&project.git_dir, RESCUE_PREFIX).await?;
    let items = found.into_iter().map(|(kept, bytes)| rescue(kept, bytes, &kept_at)).collect();
    Ok(List { items, next: None })
}

async fn in_repository<T: Send + 'static>(
    project: &Project,
    effort: Effort,
    work: impl FnOnce(&Repository) -> Result<T, RepoError> + Send + 'static,
) -> Result<T> {
    let git_dir = PathBuf::from(&project.git_dir);
    Ok(repo::in_lane(&git_dir.clone(), effort, move || work(&Repository::open(&git_dir)?)).await??)
}

fn rescue(kept: KeptCommit, bytes: u64, kept_at: &BTreeMap<String, Timestamp>) -> Rescue {
    let kept_at = kept_at.get(&kept.reference).copied();
    let task_id = task_of(&kept.reference, RESCUE_PREFIX);
    let committed_at = Timestamp::from_milliseconds(kept.commit.at_seconds.saturating_mul(1000));
    Rescue { reference: kept.reference, sha: kept.commit.sha, subject: kept.commit.subject, committed_at, task_id, bytes, kept_at }
}
