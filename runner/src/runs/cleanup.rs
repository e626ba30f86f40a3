//! The commands of a profile that run in a checkout before it is removed, such as `docker compose down`.
//!
//! Their failure is logged and keeps no checkout: what they leave behind is outside of it. It must not remove anything itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::ProjectId;
use domain::runs::output::COMMAND_OUTPUT_FILE;
use tokio::time::sleep;

use crate::blocking::off_thread;
use crate::liveness::Liveness;
use crate::run_dir::ExitRecord;
use crate::runs::check::tail;
use crate::runs::checkout::CheckoutPlan;
use crate::runs::command::{self, NewCommand};
use crate::runs::run::RunContext;
use crate::runs::run::preparation::Preparation;

/// The folder of these commands beside the database, with one folder for each project.
const FOLDER: &str = "cleanups";
/// How long one command may take. A checkout that is no longer needed must not stay for it.
const LIMIT: Duration = Duration::from_secs(5 * 60);
const MAX_OUTPUT_BYTES: u64 = 4 << 20;
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Runs the commands one after another in the checkout of a task, all of them even if one fails.
///
/// # Errors
/// When the store fails.
pub(crate) async fn run(context: &RunContext, project: &Project, task: &Task) -> db::Result<()> {
    let Some(path) = task.worktree_path.as_ref().map(PathBuf::from).filter(|path| path.is_dir()) else { return Ok(()) };
    for (number, line) in project.profile.cleanup.iter().enumerate() {
        // A server that restarts finds a command that still runs by the name of its folder.
        let folder = folder(context, &project.id).join(format!("{}-{number}", task.card.id));
        match run_one(context, project, &path, line, &folder).await? {
            Ok(ExitRecord { code: Some(0), .. }) => tracing::debug!(task = %task.card.id, line, "ran a cleanup command"),
            Ok(exit) => {
                let output = tail(&folder.join(COMMAND_OUTPUT_FILE));
                tracing::warn!(task = %task.card.id, line, code = exit.code, output, "a cleanup command failed; the checkout is removed all the same");
            }
            Err(error) => tracing::warn!(task = %task.card.id, line, error, "a cleanup command was not run; the checkout is removed all the same"),
        }
        // The next one with this name starts from the beginning.
        let _ = off_thread(move || fs::remove_dir_all(folder)).await;
    }
    Ok(())
}

/// The folder of the commands of a project.
pub(crate) fn folder(context: &RunContext, project: &ProjectId) -> PathBuf {
    context.db.folder().join(FOLDER).join(project.as_str())
}

async fn run_one(context: &RunContext, project: &Project, checkout: &Path, line: &str, folder: &Path) -> db::Result<Result<ExitRecord, String>> {
    let (run_dir, marker) = match command::open(folder) {
        Some(running) => running,
        None => {
            let plan = CheckoutPlan::of_existing(project, checkout.to_owned());
            let new = NewCommand {
                kind: "cleanup",
                project,
                plan: &plan,
                setup: Preparation::default(),
                line: line.to_owned(),
                limit: LIMIT,
                output_limit: MAX_OUTPUT_BYTES,
                variables: Vec::new(),
                inbound: Vec::new(),
            };
            match command::start(context, folder, new).await? {
                Ok(started) => started,
                Err(error) => return Ok(Err(error)),
            }
        }
    };
    loop {
        if let Liveness::Gone(exit) = command::liveness_of(&run_dir, &marker).await {
            return Ok(Ok(exit));
        }
        sleep(POLL_INTERVAL).await;
    }
}
