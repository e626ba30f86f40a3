//! The project branch: named, created, restored, and compared with the record before a run starts from it or work is merged into it.
//!
//! Its tip is approved when the store recorded it, when a killed server merged it without recording it, or when the human accepted it.
//! Any other commit bypassed review: no run starts from it until the human decides.

mod compare;
mod unapproved;

pub(crate) use unapproved::UnapprovedCommits;

use std::path::Path;

use db::Db;
use domain::board::project::Project;
use domain::id::{ProjectId, TaskId};
use domain::runs::evidence::Sha;
use repo::{RESCUE_PREFIX, RepoError};

use super::checkout::{CheckoutError, free_branch_name, with_repository};
use compare::compare_with_record;

/// The state of a project branch.
#[derive(Debug)]
pub(crate) struct BranchState {
    pub(crate) name: String,
    /// The last approved commit, as long as the repository has it. Commits between it and the tip may still be removed.
    pub(crate) ours: Sha,
    pub(crate) unapproved: Option<UnapprovedCommits>,
}

/// Returns the project branch's name and tip.
///
/// # Errors
/// When it holds unapproved commits, when the repository is unusable, or when the base branch does not exist.
pub(crate) async fn project_branch(db: &Db, project: &Project) -> Result<(String, Sha), CheckoutError> {
    let BranchState { name, ours, unapproved } = branch_state(db, &project.id).await?;
    match unapproved {
        Some(unapproved) => Err(CheckoutError::UnapprovedCommits(Box::new(unapproved))),
        None => Ok((name, ours)),
    }
}

/// Asks the human to decide about unapproved commits, on the card that they block.
///
/// # Errors
/// When the store fails.
pub(crate) async fn request_decision(db: &Db, task: &TaskId, unapproved: &UnapprovedCommits) -> db::Result<()> {
    db.request_branch_decision(task, &unapproved.tip, &unapproved.to_string()).await
}

/// Clears the decision that a card asks for when the human has restored the branch. Unreadable repositories are retried later.
///
/// # Errors
/// When the store fails.
pub(crate) async fn recheck(db: &Db, task: &TaskId) -> db::Result<()> {
    let card = db.card(task).await?;
    let project = db.project(&card.project_id).await?;
    let disputed = card.attention.and_then(|attention| attention.tip);
    // An unchanged tip needs no second comparison, and this check is frequent.
    let branch = project.integration_branch;
    let tip = with_repository(Path::new(&project.git_dir), move |repository| repository.ref_sha(&branch)).await;
    if tip.is_ok_and(|tip| tip == disputed) {
        return Ok(());
    }
    match branch_state(db, &card.project_id).await {
        Ok(BranchState { unapproved: None, .. }) => db.clear_branch_decision(task).await,
        Ok(BranchState { unapproved: Some(_), .. }) => Ok(()),
        Err(CheckoutError::Store(error)) => Err(error),
        Err(error) => {
            tracing::warn!(%task, %error, "could not read the project branch; retrying later");
            Ok(())
        }
    }
}

/// Reads the state of the project branch, and creates the branch when it does not exist.
///
/// # Errors
/// When the repository is unusable or the base branch does not exist.
pub(super) async fn branch_state(db: &Db, id: &ProjectId) -> Result<BranchState, CheckoutError> {
    let project = db.project(id).await?;
    let git_dir = Path::new(&project.git_dir);
    // Two runs of a project that start together must not name its branch twice.
    let _repository = repo::exclusive(git_dir).await?;
    // The previous holder of the lock may have named it.
    let wanted = db.project(id).await?.integration_branch;
    let is_ours = db.owns_reference(&project.git_dir, &wanted).await?;
    let name = if is_ours { wanted } else { free_branch_name(git_dir, wanted).await? };
    db.claim_reference(&project.git_dir, &name, None).await?;
    loop {
        // Read before the tip, because the record knows the approval of whatever is merged in between.
        let record = db.branch_record(id).await?;
        let read = {
            let (record, name) = (record.clone(), name.clone());
            with_repository(git_dir, move |repository| {
                let project = &record.project;
                // A branch that someone rewound keeps its record, so that landing can tell which commits it lost.
                let new_base = repository.moved_on(&project.base_branch, &project.base_head)?;
                Ok((compare_with_record(repository, &record, &name)?, new_base))
            })
        };
        let (state, new_base) = read.await.map_err(|error| base_missing(&record.project, error))?;
        if let Some(new_base) = new_base {
            db.record_base_tip(id, &record.project.base_head, &new_base).await?;
        }
        let recorded_tip = record.project.integration_head.as_ref();
        let Some(unapproved) = state.unapproved else {
            if recorded_tip != Some(&state.ours) || record.project.integration_branch != name {
                db.record_branch_tip(id, &name, recorded_tip, &state.ours).await?;
            }
            return Ok(BranchState { name, ..state });
        };
        // An approval and merge since the record was read would explain these commits, so compare again.
        if db.branch_record(id).await?.is_same_tip(&record) {
            preserve_tip(db, &record.project, &unapproved).await?;
            return Ok(BranchState { name, ours: state.ours, unapproved: Some(unapproved) });
        }
    }
}

/// Names the step that a missing base branch needs.
fn base_missing(project: &Project, error: CheckoutError) -> CheckoutError {
    match error {
        CheckoutError::Repository { error: RepoError::BranchMissing { branch, near } } if branch == project.base_branch => {
            CheckoutError::BaseMissing { project: project.id.clone(), branch, near }
        }
        other => other,
    }
}

/// Keeps commits that were removed from the branch, so that the human can restore it at any later time.
async fn preserve_tip(db: &Db, project: &Project, unapproved: &UnapprovedCommits) -> Result<(), CheckoutError> {
    let Some(recorded_tip) = unapproved.recorded_tip.clone().filter(|_| !unapproved.lost.is_empty()) else { return Ok(()) };
    let name = format!("{RESCUE_PREFIX}{}/{}", project.id, recorded_tip.get(..12).unwrap_or(&recorded_tip));
    db.claim_reference(&project.git_dir, &name, None).await?;
    with_repository(Path::new(&project.git_dir), move |repository| repository.rescue_tip(&name, &recorded_tip)).await
}

#[cfg(test)]
mod tests;
