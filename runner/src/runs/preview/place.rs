//! The files on which an app runs. It must not start anything.

use std::path::PathBuf;

use db::Db;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::preview::PreviewSubject;

use crate::runs::branch::project_branch;
use crate::runs::checkout::{CheckoutError, CheckoutPlan};
use crate::runs::run::RunContext;
use crate::runs::run::preparation::Preparation;
use crate::runs::scratch::{self, Purpose};

/// A checkout with what has to run before an app can start in it.
pub(super) struct Place {
    pub(super) project: Project,
    pub(super) plan: CheckoutPlan,
    pub(super) setup: Preparation,
}

/// Finds the checkout of a task, or moves that of a project to the tip of its branch.
///
/// # Errors
/// When the repository or the store fails, or the task has no checkout.
pub(super) async fn prepare(context: &RunContext, subject: &PreviewSubject) -> Result<Result<Place, String>, CheckoutError> {
    let db = &context.db;
    let project = db.project(&project_of(db, subject).await?).await?;
    let PreviewSubject::Task(id) = subject else {
        let (_, tip) = project_branch(db, &project).await?;
        let (plan, setup) = scratch::prepare(context, &project, Purpose::Preview, &tip).await?;
        return Ok(Ok(Place { project, plan, setup }));
    };
    let Some(path) = db.task(id).await?.worktree_path.map(PathBuf::from).filter(|path| path.is_dir()) else {
        return Ok(Err(format!("{id} has no checkout")));
    };
    // The run of its coder has prepared it.
    let plan = CheckoutPlan::of_existing(&project, path);
    Ok(Ok(Place { project, plan, setup: Preparation::default() }))
}

/// The project of a preview.
///
/// # Errors
/// When the task does not exist.
pub(super) async fn project_of(db: &Db, subject: &PreviewSubject) -> db::Result<ProjectId> {
    Ok(match subject {
        PreviewSubject::Task(id) => db.card(id).await?.project_id,
        PreviewSubject::Project(id) => id.clone(),
    })
}
