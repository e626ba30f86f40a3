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
use uuid::Uuid;

use crate::blocking::off_thread;
use crate::env;
use crate::liveness::Liveness;
use crate::process::start_shim;
use crate::run_dir::{ExitRecord, RunDir};
use crate::runs::check::tail;
use crate::runs::checkout::CheckoutPlan;
use crate::runs::command::{self, CommandFiles};
use crate::runs::run::RunContext;
use crate::runs::run::jail;
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
        None => match start(context, project, checkout, line, folder).await? {
            Ok(started) => started,
            Err(error) => return Ok(Err(error)),
        },
    };
    loop {
        if let Liveness::Gone(exit) = command::liveness_of(&run_dir, &marker).await {
            return Ok(Ok(exit));
        }
        sleep(POLL_INTERVAL).await;
    }
}

async fn start(context: &RunContext, project: &Project, checkout: &Path, line: &str, folder: &Path) -> db::Result<Result<(RunDir, String), String>> {
    let tier = match context.choose_sandbox().await?.tier() {
        Ok(tier) => tier,
        Err(detail) => return Ok(Err(detail.to_owned())),
    };
    let plan = CheckoutPlan::of_existing(project, checkout.to_owned());
    let files = CommandFiles {
        jail: jail::check_inputs(context, project, &plan, tier, folder),
        marker: env::command_marker("cleanup", &project.id, Uuid::new_v4()),
        relay: context.programs.installed.clone(),
        cwd: plan.path.clone(),
        setup: Preparation::default(),
        line: line.to_owned(),
        limit_seconds: LIMIT.as_secs(),
        output_limit: MAX_OUTPUT_BYTES,
        variables: Vec::new(),
        inbound: Vec::new(),
    };
    let (path, program, inherited) = (folder.to_owned(), context.programs.running.clone(), project.profile.env.clone());
    let started = off_thread(move || {
        // An earlier server may have begun to write it.
        let _ = fs::remove_dir_all(&path);
        let run_dir = files.write(&path)?;
        start_shim(&program, &run_dir, &inherited).map_err(|error| error.to_string())?;
        Ok((run_dir, files.marker))
    });
    Ok(started.await.unwrap_or_else(|error| Err(error.to_string())))
}
