//! The reconciler: reads the state, makes a schedule, executes it, and repeats when something changed. The first pass is the recovery.
//!
//! The loop awaits the store only. Everything that touches a repository, a program or a run is a job of `jobs`, whose end wakes the loop.

mod jobs;
mod repositories;
mod start_check;
mod wake;

use std::path::PathBuf;
use std::time::Duration;

use db::Snapshot;
use domain::event::Seq;
use domain::id::TaskId;
use domain::runs::tick::Ticks;
use domain::time::Timestamp;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::runs::publication::follow;
use crate::runs::run::{self, RunContext};
use crate::runs::{branch, preview};
use crate::schedule::{Action, Schedule, schedule};
use crate::warroom::knowledge;
use crate::watch::adopt;
use crate::{janitor, retry};

use jobs::{JobKey, Jobs};
use repositories::Repositories;
use start_check::StartCheck;
use wake::WakeRegistry;

pub(crate) use wake::WakeHandle;

/// The longest time between two ticks. It is a safety net: every change that matters wakes the loop.
const TICK_INTERVAL: Duration = Duration::from_secs(30);

/// Runs agents until `shutdown`. Agents keep working then, and the next server takes them over.
///
/// # Errors
/// When the store closes.
pub async fn supervise(context: RunContext, ticks: watch::Sender<Ticks>, shutdown: CancellationToken) -> db::Result<()> {
    let janitor = tokio::spawn(janitor::run(context.clone()));
    let knowledge = tokio::spawn(knowledge::run(context.db.clone()));
    let previews = tokio::spawn(preview::run(context.clone()));
    let pull_requests = tokio::spawn(follow::run(context.db.clone()));
    let mut supervisor = Supervisor::new(context);
    let outcome = supervisor.run(&ticks, shutdown).await;
    janitor.abort();
    knowledge.abort();
    previews.abort();
    pull_requests.abort();
    supervisor.jobs.shutdown().await;
    outcome
}

struct Supervisor {
    context: RunContext,
    jobs: Jobs,
    start_check: StartCheck,
    wake_registry: WakeRegistry,
    repositories: Repositories,
}

impl Supervisor {
    fn new(context: RunContext) -> Self {
        let wake_registry = WakeRegistry::new(context.db.latest());
        let (jobs, start_check) = (Jobs::default(), StartCheck::default());
        Self { context, jobs, start_check, wake_registry, repositories: Repositories::new() }
    }

    async fn run(&mut self, ticks: &watch::Sender<Ticks>, shutdown: CancellationToken) -> db::Result<()> {
        let mut commits = self.context.db.subscribe();
        let mut config = self.context.config.clone();
        self.publish_sandbox();
        loop {
            // Marked as seen before the tick, so that a commit during the tick wakes the loop again.
            commits.borrow_and_update();
            self.wake_registry.dispatch(&self.context.db).await;
            let next_tick_at = match self.tick().await {
                Ok(next_tick_at) => {
                    ticks.send_modify(|ticks| ticks.record(db::now()));
                    next_tick_at
                }
                Err(db::Error::Closed) => return Err(db::Error::Closed),
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "the runner's tick failed; it is repeated");
                    None
                }
            };
            let pause = next_tick_at.map_or(TICK_INTERVAL, |at| at.since(db::now()).min(TICK_INTERVAL));
            tokio::select! {
                result = wait_for_change(&mut commits, &mut self.jobs) => result?,
                // The program that runs agents may have changed.
                Ok(()) = config.changed() => {
                    self.start_check.reset();
                    self.publish_sandbox();
                }
                () = sleep(pause) => {}
                () = shutdown.cancelled() => return Ok(()),
            }
        }
    }

    /// Finds out which sandbox agents would get, before there is an agent to start.
    fn publish_sandbox(&mut self) {
        let context = self.context.clone();
        let choose = async move { context.choose_sandbox().await.map(drop).map_err(|error| error.to_string()) };
        self.jobs.start(JobKey::Sandbox, choose);
    }

    /// Reads the state once, stores changed wait reasons and executes what is due. Returns when the next tick is due.
    async fn tick(&mut self) -> db::Result<Option<Timestamp>> {
        let state = self.context.db.snapshot().await?;
        let not_responding = self.repositories.observe();
        let Schedule { actions, wait_reasons, next_tick_at } =
            schedule(&state, &self.context.config(), self.jobs.busy_tasks(), not_responding, db::now());
        if !wait_reasons.is_empty() {
            self.context.db.set_wait_reasons(wait_reasons).await?;
        }
        for action in actions {
            if self.repositories.permits(&state, &action) {
                self.execute(&state, action).await?;
            }
        }
        self.prepare_repositories(&state);
        Ok(next_tick_at)
    }

    /// Removes stale locks, and tries repositories that do not respond.
    fn prepare_repositories(&mut self, state: &Snapshot) {
        for git_dir in self.repositories.locked(state) {
            let job = self.repositories.unlock(self.context.db.clone(), git_dir.clone());
            self.jobs.start(JobKey::Unlock(git_dir), job);
        }
        for git_dir in self.repositories.silent() {
            let job = async move |git_dir: PathBuf| {
                repo::try_again(&git_dir).await;
                Ok(())
            };
            self.jobs.start(JobKey::Repository(git_dir.clone()), job(git_dir));
        }
    }

    async fn execute(&mut self, state: &Snapshot, action: Action) -> db::Result<()> {
        let db = self.context.db.clone();
        match action {
            Action::RequestAttention { task, kind, detail } => db.request_attention(&task, kind, &detail).await?,
            Action::HandOver { run, limit } => db.request_hand_over(&run, limit).await?,
            Action::WarnOfLimit { subject, limit } => db.warn_of_limit(&subject, limit).await?,
            Action::FlagLimit { task, limit } => db.flag_limit(&task, limit).await?,
            Action::SettleLimit { task } => db.settle_limit(&task).await?,
            Action::FlagUnresponsiveAssignee { task, name, detail } => db.flag_unresponsive_assignee(&task, &name, &detail).await?,
            Action::ClearUnresponsiveAssignee { task } => db.clear_unresponsive_assignee(&task).await?,
            Action::CompleteHandshake { id } => db.complete_handshake(id).await?,
            Action::ExpireClaims { project, agent } => db.expire_claims(&project, &agent).await?,
            Action::ExpireTrigger { id } => db.expire_trigger(id).await?,
            Action::RemoveProject { project } => {
                let context = self.context.clone();
                let job = JobKey::Removal(project.clone());
                self.jobs.start(job, async move { janitor::remove_project(&context, &project).await });
            }
            Action::Resume { reason } => {
                let check = self.start_check.clone().resume(self.context.clone(), reason);
                self.jobs.start(JobKey::StartCheck, check);
            }
            Action::RecheckBranch { task } => {
                let id = task.clone();
                self.jobs.start(JobKey::BranchCheck(task), async move { branch::recheck(&db, &id).await.map_err(|error| error.to_string()) });
            }
            Action::Start { task, phase, status } if self.start_check.is_fresh() => {
                let (context, wake, id) = (self.context.clone(), self.register(state, &task), task.clone());
                let work = async move { run::start(&context, &id, phase, status, wake).await };
                self.jobs.start(JobKey::Task(task), work);
            }
            // The next tick starts it, when the check has passed.
            Action::Start { .. } => {
                let check = self.start_check.clone().run(self.context.clone());
                self.jobs.start(JobKey::StartCheck, check);
            }
            Action::Adopt { task, run } => {
                let (context, wake) = (self.context.clone(), self.register(state, &task));
                self.jobs.start(JobKey::Task(task), async move { adopt(&context, &run, wake).await.map_err(|error| error.to_string()) });
            }
            Action::Merge { task, others } => {
                let (context, key) = (self.context.clone(), JobKey::Merge([&task].into_iter().chain(&others).cloned().collect()));
                self.jobs.start(key, async move { retry::merge(&context, &task, &others).await });
            }
            Action::Check { task } => {
                let (context, id) = (self.context.clone(), task.clone());
                self.jobs.start(JobKey::Task(task), async move { retry::check(&context, &id).await });
            }
            Action::Clean { task } => {
                let (context, id) = (self.context.clone(), task.clone());
                self.jobs.start(JobKey::Task(task), async move { retry::clean(&context, &id).await });
            }
        }
        Ok(())
    }

    fn register(&mut self, state: &Snapshot, task: &TaskId) -> WakeHandle {
        let card = state.tasks.iter().map(|known| &known.task.card).find(|card| card.id == *task);
        self.wake_registry.register(task, card.map(|card| &card.project_id))
    }
}

/// Waits for a commit, or for the end of a job that lets the schedule change.
async fn wait_for_change(commits: &mut watch::Receiver<Seq>, jobs: &mut Jobs) -> db::Result<()> {
    loop {
        tokio::select! {
            changed = commits.changed() => return changed.map_err(|_| db::Error::Closed),
            // A branch check that changes something does it by a commit.
            ended = jobs.join_next() => if !matches!(ended, JobKey::BranchCheck(_)) { return Ok(()) },
        }
    }
}

#[cfg(test)]
mod tests;
