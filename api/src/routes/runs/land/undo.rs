//! Takes the last landing of a project back, as long as nobody else can have it.

use std::path::Path;

use axum::extract::State;
use axum::{Extension, Json};
use db::{Caller, Db};
use domain::id::ProjectId;
use domain::runs::evidence::short;
use domain::runs::land::{LandRefusal, Landing};
use domain::wire::{LandingResult, UndoLanding};
use repo::{Effort, Repository, UndoOutcome, UndoRequest};

use super::checked_out_elsewhere;
use crate::error::Result;
use crate::extract::{Id, OptionalBody};
use crate::state::AppState;

/// Undo the last landing of a project: the base branch, and the files of a checkout of it, are what they were before
///
/// Its tasks wait to be landed again. A landing that was pushed, or that others built on, stays.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/landing/undo",
    params(("id" = ProjectId, Path)),
    request_body(content = UndoLanding, description = "May be empty"),
    responses(
        (status = 200, body = LandingResult),
        (status = 409, description = "It is not the last landing, the base branch moved since, or a branch of a remote has it."),
        (status = 422, description = "There is no landing to undo, or a checkout has changes in the same files.")
    )
)]
pub(crate) async fn undo_landing(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    OptionalBody(options): OptionalBody<UndoLanding>,
) -> Result<Json<LandingResult>> {
    // Runs as a task of its own, because a client that disconnects must not leave it unrecorded.
    Ok(Json(tokio::spawn(undo_and_record(state.db, caller, id, options.landing)).await??))
}

async fn undo_and_record(db: Db, caller: Caller, id: ProjectId, asked: Option<i64>) -> Result<LandingResult> {
    let git_dir = db.project(&id).await?.git_dir;
    let git_dir = Path::new(&git_dir);
    let exclusive = repo::exclusive(git_dir).await?;
    let (project, landing) = db.landing_to_undo(&id, asked).await?;
    let (undone, number) = (landing.clone(), landing.id);
    let undo = repo::in_lane(git_dir, Effort::Long, move || {
        let request = UndoRequest {
            base_branch: &landing.base_branch,
            project_branch: &project.integration_branch,
            tip: &landing.tip,
            landed: &landing.sha,
            before: &landing.before_sha,
            workdir: Path::new(&project.repo_path),
        };
        (Repository::open(Path::new(&project.git_dir)).and_then(|repository| repository.undo_landing(request)), exclusive)
    });
    let (outcome, _exclusive) = undo.await?;
    let Landing { base_branch, sha: landed, before_sha, tip, commits, .. } = undone;
    match outcome? {
        UndoOutcome::Undone => {}
        UndoOutcome::MovedOn { found } => return Err(LandRefusal::MovedSinceLanding { base_branch, landed, found }.into()),
        UndoOutcome::Pushed { branch: remote_branch } => {
            let is_merge = landed != tip;
            return Err(LandRefusal::LandingPushed { remote_branch, landed, is_merge }.into());
        }
        UndoOutcome::Dirty { files } => return Err(LandRefusal::CheckoutDirty { action: "undoing the landing", files: Box::new(files) }.into()),
        UndoOutcome::CheckedOutElsewhere { path } => return Err(checked_out_elsewhere(&base_branch, &path, "try again")),
    }
    db.record_undone_landing(&caller, &id, number).await?;
    let detail = format!("{base_branch} is back at {}", short(&before_sha));
    Ok(LandingResult { base_branch, sha: before_sha, commits, detail })
}
