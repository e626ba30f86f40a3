//! Starts a run: reserves it in the store, prepares it, and hands it to its watcher.
//!
//! It must not decide which task runs; the schedule did.

pub(super) mod jail;
pub(crate) mod preparation;
mod prepare;
mod session;

use std::path::PathBuf;

use db::{Db, NewRun};
use domain::board::status::Status;
use domain::board::task::Task;
use domain::config::Config;
use domain::config::live::LiveConfig;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::parking::ParkReason;
use domain::runs::sandbox::{SandboxStatus, SandboxTier};
use domain::wire::ActivityLines;
use tokio::sync::watch;

use super::checkout::{self, CheckoutError, CheckoutPlan};
use super::port::lease_ports;
use super::{base, branch};
use crate::free_space;
use crate::jail::choice::{SandboxChoice, choose};
use crate::preflight::CHECK_INTERVAL;
use crate::process::Programs;
use crate::retry;
use crate::supervisor::WakeHandle;
use crate::watch::{record_never_started, record_start_failure, watch};

pub(crate) use preparation::CACHE as SETUP_CACHE;
use prepare::{StartFailure, checkout_failed, prepare};

/// Everything that any run needs.
#[derive(Debug, Clone)]
pub struct RunContext {
    pub db: Db,
    /// Changes while the server runs, when the configuration file does.
    pub config: watch::Receiver<LiveConfig>,
    /// This program, which also serves as the shim and as the agents' bridge to the board.
    pub programs: Programs,
    pub activity: watch::Sender<ActivityLines>,
    /// The sandbox of the next agents, for those who ask.
    pub sandbox: watch::Sender<Option<SandboxStatus>>,
}

impl RunContext {
    /// The current configuration.
    pub(crate) fn config(&self) -> Config {
        self.config.borrow().config.clone()
    }

    /// Chooses the sandbox of the next agents, by trying, and publishes the result.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn choose_sandbox(&self) -> db::Result<SandboxChoice> {
        let choice = choose(&self.config(), self.db.chosen_sandbox().await?).await;
        self.sandbox.send_replace(Some(choice.status()));
        Ok(choice)
    }

    pub(crate) fn runs_root(&self) -> PathBuf {
        self.db.folder().join("runs")
    }
}

/// Starts an agent for a task and watches it to its end. A run that cannot start ends as failed, so that it is visible and counted.
///
/// # Errors
/// When the store fails.
pub(crate) async fn start(context: &RunContext, task: &TaskId, phase: AgentKind, status: Status, wake: WakeHandle) -> Result<(), String> {
    let db = &context.db;
    if db.wants_new_tree(task).await.map_err(text)? {
        retry::clean(context, task).await?;
        // Otherwise the card says why, or the next schedule tries again.
        if db.wants_new_tree(task).await.map_err(text)? {
            return Ok(());
        }
    }
    start_run(context, task, phase, status, wake).await.map_err(text)
}

fn text(error: db::Error) -> String {
    error.to_string()
}

async fn start_run(context: &RunContext, task: &TaskId, phase: AgentKind, status: Status, wake: WakeHandle) -> db::Result<()> {
    let db = &context.db;
    let task = db.task(task).await?;
    base::follow_before_start(context, &task.card.project_id).await;
    let project = db.project(&task.card.project_id).await?;
    let sandbox = match context.choose_sandbox().await?.tier() {
        Ok(tier) => tier,
        // It changed since the last check of everything.
        Err(detail) => return db.park_after_check(ParkReason::Sandbox, detail, db::now().after(CHECK_INTERVAL)).await,
    };
    if let Some(detail) = free_space::shortage(&context.config()).await {
        return db.park_after_check(ParkReason::DiskFull, detail, db::now().after(CHECK_INTERVAL)).await;
    }
    let plan = match checkout::plan_checkout(db, &context.config().worktrees_path, &project, &task, phase).await {
        // The task did nothing wrong, so this is not an attempt.
        Err(CheckoutError::UnapprovedCommits(found)) => return branch::request_decision(db, &task.card.id, &found).await,
        // Nor is this the task's fault. The next schedule knows that the repository does not respond.
        Err(error) if error.is_outage() => {
            tracing::warn!(task = %task.card.id, %error, "not started");
            return Ok(());
        }
        plan => plan,
    };
    let new = new_run(context, &task, phase, status, plan.as_ref().ok(), sandbox).await?;
    let reserved = match db.reserve_run(new).await {
        Ok(reserved) => reserved,
        // The human, or another start with the same port, was faster; the next schedule takes that into account.
        Err(db::Error::Refused(refusal)) => {
            tracing::debug!(%refusal, task = %task.card.id, "not started");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let prepared = match plan {
        Ok(plan) => prepare(context, &project, &task, &plan, &reserved).await,
        Err(error) => Err(checkout_failed(error)),
    };
    match prepared {
        Ok(process) => watch(context, reserved.run, &process, wake).await,
        Err(StartFailure::Outage(error)) => record_never_started(context, &reserved.run, error).await,
        Err(StartFailure::Failed(failure, error)) => record_start_failure(context, &reserved.run, failure, error).await,
    }
}

async fn new_run(
    context: &RunContext,
    task: &Task,
    phase: AgentKind,
    status: Status,
    plan: Option<&CheckoutPlan>,
    sandbox: SandboxTier,
) -> db::Result<NewRun> {
    let port = if matches!(phase, AgentKind::Planner | AgentKind::Oracle) { None } else { lease_ports(context, 1).await?.first().copied() };
    Ok(NewRun {
        task: task.card.id.clone(),
        phase,
        status,
        sha: plan.map(|plan| plan.sha.clone()),
        worktree_path: plan.map(|plan| plan.path.to_string_lossy().into_owned()),
        runs_root: context.runs_root(),
        port,
        sandbox,
    })
}
