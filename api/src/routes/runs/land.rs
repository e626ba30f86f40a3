//! Landing: merges the project branch into the base branch when the human asks for it.

pub(super) mod preview;
pub(super) mod undo;

use std::path::Path;

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::refusal::RepositoryRefusal;
use domain::runs::evidence::{Sha, short};
use domain::runs::land::{LandRefusal, LandingEvidence};
use domain::wire::{LandOptions, LandingResult};
use repo::{Effort, GitUpdate, LandOutcome, LandRequest, RepoError, Repository};

use crate::error::Result;
use crate::extract::{Id, OptionalBody};
use crate::state::AppState;

/// Unapproved commits that an error lists.
const MAX_LISTED: usize = 5;

/// New commits that are counted.
const MAX_COUNTED: usize = 10_000;

/// Land a project: merge its branch into the base branch
///
/// Commits that were removed from the base branch, and that the project branch still holds, return only when the request confirms them.
#[utoipa::path(
    post,
    path = "/api/projects/{id}/land",
    params(("id" = ProjectId, Path)),
    request_body(content = LandOptions, description = "May be empty"),
    responses(
        (status = 200, body = LandingResult),
        (
            status = 409,
            description = "Landing would bring back the commits in `returning`, which were removed from the base branch; or a task first brings \
                           conflicting changes of the base branch together; or the checks run, or cannot run, on the merge with them."
        )
    )
)]
pub(crate) async fn land_project(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(id): Id<ProjectId>,
    OptionalBody(options): OptionalBody<LandOptions>,
) -> Result<Json<LandingResult>> {
    // Runs as a task of its own, because a client that disconnects must not leave a landing unrecorded.
    Ok(Json(tokio::spawn(follow_and_land(state, caller, id, options)).await??))
}

/// Lands the project branch together with what its base gained meanwhile.
async fn follow_and_land(state: AppState, caller: Caller, id: ProjectId, options: LandOptions) -> Result<LandingResult> {
    (state.follow_base)(id.clone()).await?;
    if let Some(task) = state.db.open_sync_task(&id).await? {
        let base_branch = state.db.project(&id).await?.base_branch;
        return Err(LandRefusal::SyncPending { base_branch, task }.into());
    }
    land_and_record(state, caller, id, options).await
}

async fn land_and_record(state: AppState, caller: Caller, id: ProjectId, options: LandOptions) -> Result<LandingResult> {
    let db = &state.db;
    let git_dir = db.project(&id).await?.git_dir;
    // Two landings at once could both write the files of a checkout, and a merge could move the project branch.
    let git_dir = Path::new(&git_dir);
    let exclusive = repo::exclusive(git_dir).await?;
    let project = db.project(&id).await?;
    let merged = db.has_merged_work(&id).await?;
    let landed = project.clone();
    // Work that takes too long keeps the repository until it ends; a landing keeps it until it is recorded.
    let landing = repo::in_lane(git_dir, Effort::Long, move || (land_in_repository(&project, &options), exclusive));
    let (landing, _exclusive) = landing.await?;
    let landing = landing?;
    if let Some(update) = landing.by_git.clone() {
        (state.update_checkout)(landed.clone(), update.clone()).await?;
        let finish = move || Repository::open(Path::new(&landed.git_dir))?.finish_landing(&landed.base_branch, &update, &landed.integration_branch);
        repo::in_lane(git_dir, Effort::Long, finish).await??;
    }
    if landing.landed.commits == 0 && (landing.already_recorded || !merged) {
        return Err(LandRefusal::NothingToLand { detail: landing.landed.detail }.into());
    }
    let LandingResult { base_branch, sha, commits, .. } = landing.landed.clone();
    let evidence = LandingEvidence { base_branch, sha, before_sha: landing.before, tip: landing.tip, commits };
    db.record_landing(&caller, &id, evidence).await?;
    Ok(landing.landed)
}

struct LandedBranch {
    landed: LandingResult,
    /// The tip of the base branch before.
    before: Sha,
    /// The tip of the project branch.
    tip: Sha,
    /// Whether the store already has this tip as landed.
    already_recorded: bool,
    /// The update that `git` has to make before the base branch moves.
    by_git: Option<GitUpdate>,
}

fn land_in_repository(project: &Project, options: &LandOptions) -> Result<LandedBranch> {
    let repository = Repository::open(Path::new(&project.git_dir))?;
    let (branch, base_branch) = (&project.integration_branch, &project.base_branch);
    let Some(tip) = repository.ref_sha(branch)? else {
        return Err(LandRefusal::NothingToLand { detail: format!("{branch} does not exist yet") }.into());
    };
    // Landing covers approved work only, so unapproved commits must not reach the base branch with it.
    if let Some(recorded) = project.integration_head.as_ref().filter(|recorded| **recorded != tip) {
        let added = repository.log(recorded, &tip, MAX_LISTED)?;
        let named = added.iter().map(|commit| format!("; {} “{}” is not approved", short(&commit.sha), commit.subject));
        let detail = format!("{branch} has moved since the last merge{}; nothing was changed", named.collect::<String>());
        let hint = format!("Set it back with `git branch -f {branch} {recorded}` and land again, or merge {branch} into {base_branch} by hand.");
        return Err(refused("branch-foreign", detail, hint));
    }
    let base = match repository.base_tip(base_branch) {
        Err(RepoError::BranchMissing { branch, near }) => {
            return Err(LandRefusal::BaseMissing { project: project.id.clone(), base_branch: branch, near }.into());
        }
        read => read?,
    };
    let commits = u32::try_from(repository.log(&base, &tip, MAX_COUNTED)?.len()).unwrap_or(u32::MAX);
    let identity = repository.identity("land")?;
    let message = format!("Land {branch}: {}\n\nProject: {}\n", project.title, project.id);
    let landed = |sha, commits, detail| LandingResult { base_branch: base_branch.clone(), sha, commits, detail };
    let request = LandRequest {
        project_branch: branch,
        base_branch,
        base_head: &project.base_head,
        bring_back: options.bring_back.as_deref(),
        workdir: Path::new(&project.repo_path),
        message: &message,
        identity: &identity,
    };
    let moved = |is_fast_forward: bool| {
        if is_fast_forward { format!("{base_branch} was fast-forwarded to {branch}") } else { format!("{branch} was merged into {base_branch}") }
    };
    let (mut by_git, mut before) = (None, base.clone());
    let landed = match repository.land(request)? {
        LandOutcome::WouldReturn(returning) => {
            let (project, base_branch, returning) = (project.id.clone(), base_branch.clone(), Box::new(returning));
            return Err(LandRefusal::CommitsReturn { project, base_branch, returning }.into());
        }
        LandOutcome::Landed { sha, fast_forward } => landed(sha, commits, moved(fast_forward)),
        LandOutcome::NeedsGit { update, fast_forward } => {
            let landed = landed(update.to.clone(), commits, moved(fast_forward));
            by_git = Some(update);
            landed
        }
        LandOutcome::AlreadyLanded { sha } => {
            // A server that was killed may have moved the base branch and not recorded it.
            if let Some(tip) = repository.tip_before_landing(base_branch, branch)? {
                before = tip;
            }
            landed(sha, 0, format!("{base_branch} already contains {branch}"))
        }
        LandOutcome::Dirty { files } => return Err(LandRefusal::CheckoutDirty { action: "landing", files: Box::new(files) }.into()),
        LandOutcome::Conflict { paths } => {
            let detail = format!("{base_branch} and {branch} both changed {}; nothing was changed", paths.join(", "));
            return Err(refused(
                "land-conflict",
                detail,
                format!("Create a task that merges {base_branch} into its branch, then land again; or merge {branch} into {base_branch} by hand."),
            ));
        }
        LandOutcome::CheckedOutElsewhere { path } => return Err(checked_out_elsewhere(base_branch, &path, "land again")),
    };
    Ok(LandedBranch { landed, before, already_recorded: project.landed_sha.as_ref() == Some(&tip), tip, by_git })
}

fn checked_out_elsewhere(base_branch: &str, path: &Path, then: &str) -> crate::error::Error {
    let path = path.display();
    let detail = format!("{base_branch} is checked out at {path}, which is not the project's folder; nothing was changed");
    refused("branch-checked-out", detail, format!("Switch {path} to another branch, then {then}."))
}

fn refused(code: &'static str, detail: String, hint: String) -> crate::error::Error {
    RepositoryRefusal { code, detail, hint }.into()
}
