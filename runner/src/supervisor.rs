//! The reconciler: looks at the whole state, plans, acts, and looks again when something changed. Boot is its first look.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use db::Db;
use domain::config::Config;
use domain::id::TaskId;
use domain::runs::parking::{ParkReason, Parking};
use domain::time::Timestamp;
use domain::wire::Frame;
use tokio::sync::{broadcast, watch};
use tokio::task::{Id as JobId, JoinError, JoinSet};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::plan::{Action, Plan, plan};
use crate::run::{self, Context};
use crate::watch::adopt;
use crate::{checkout, patience, preflight};

/// The longest time between two looks: nothing should depend on it.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How long a found program and sign-in are believed.
const PREFLIGHT_HOLDS: Duration = Duration::from_secs(600);
/// The pause after an action that failed for reasons of the repository or the store.
const PAUSE: Duration = Duration::from_secs(60);

/// Runs agents until `shutdown`. Agents that are at work then go on, and are taken over by the next server.
///
/// # Errors
/// When the store fails for good.
pub async fn supervise(
    db: Db,
    config: Arc<Config>,
    program: PathBuf,
    activity: broadcast::Sender<Frame>,
    shutdown: CancellationToken,
) -> db::Result<()> {
    let context = Context { db, config, program, activity };
    let mut supervisor = Supervisor::new(context);
    let outcome = supervisor.run(shutdown).await;
    supervisor.jobs.shutdown().await;
    outcome
}

struct Supervisor {
    context: Context,
    /// Tells the watchers of runs to look whether anything is asked of them.
    poke: watch::Sender<u64>,
    jobs: JoinSet<()>,
    /// What each job is about.
    about: HashMap<JobId, TaskId>,
    /// The tasks that a job is about.
    busy: BTreeSet<TaskId>,
    /// When agents were last found to be startable.
    checked_at: Option<Instant>,
}

impl Supervisor {
    fn new(context: Context) -> Self {
        let (poke, _) = watch::channel(0);
        Self { context, poke, jobs: JoinSet::new(), about: HashMap::new(), busy: BTreeSet::new(), checked_at: None }
    }

    async fn run(&mut self, shutdown: CancellationToken) -> db::Result<()> {
        checkout::unlock(&self.context.db).await?;
        let mut news = self.context.db.subscribe();
        loop {
            // Marked as seen before looking: what happens while we look wakes us again.
            news.borrow_and_update();
            let looked = tokio::select! {
                biased;
                // A look may take long: it asks a program whether it is signed in.
                () = shutdown.cancelled() => return Ok(()),
                looked = self.look() => looked,
            };
            let look_again = match looked {
                Ok(look_again) => look_again,
                Err(db::Error::Closed) => return Err(db::Error::Closed),
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "the runner could not look at the board");
                    None
                }
            };
            let pause = look_again.map_or(LOOK_EVERY, |at| at.since(db::now()).min(LOOK_EVERY));
            tokio::select! {
                changed = news.changed() => if changed.is_err() { return Err(db::Error::Closed) },
                Some(job) = self.jobs.join_next_with_id() => self.finished(job),
                () = sleep(pause) => {}
                () = shutdown.cancelled() => return Ok(()),
            }
            while let Some(job) = self.jobs.try_join_next_with_id() {
                self.finished(job);
            }
        }
    }

    fn finished(&mut self, job: Result<(JobId, ()), JoinError>) {
        let id = job.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
        let Some(task) = self.about.remove(&id) else { return };
        self.busy.remove(&task);
        if let Err(error) = job {
            tracing::error!(%task, %error, "an action of the runner broke off");
            self.occupy(task, sleep(PAUSE));
        }
    }

    async fn look(&mut self) -> db::Result<Option<Timestamp>> {
        let state = self.context.db.snapshot().await?;
        let Plan { actions, whys, look_again } = plan(&state, &self.context.config, &self.busy, db::now());
        self.poke.send_modify(|count| *count += 1);
        if !whys.is_empty() {
            self.context.db.set_wait_reasons(whys).await?;
        }
        // What is at work goes before what may begin, which asks a program first.
        let (starts, others): (Vec<_>, Vec<_>) = actions.into_iter().partition(|action| matches!(action, Action::Start { .. }));
        for action in others {
            self.act(action).await?;
        }
        if !starts.is_empty() && self.startable().await? {
            for action in starts {
                self.act(action).await?;
            }
        }
        Ok(look_again)
    }

    async fn act(&mut self, action: Action) -> db::Result<()> {
        let db = self.context.db.clone();
        match action {
            Action::Resume { reason } => self.resume(reason).await,
            Action::NeedPerson { task, kind, detail } => db.request_attention(&task, kind, &detail).await,
            Action::MissAssignee { task, name, detail } => db.flag_unresponsive_assignee(&task, &name, &detail).await,
            Action::MissNobody { task } => db.clear_unresponsive_assignee(&task).await,
            Action::LookAtBranch { task } => checkout::look_again(&db, &task).await,
            Action::CompleteHandshake { id } => db.complete_handshake(id).await,
            Action::Start { task, phase, status } => {
                let (context, poke, id) = (self.context.clone(), self.poke.subscribe(), task.clone());
                self.spawn(task, async move { run::start(&context, &id, phase, status, poke).await.map_err(|error| error.to_string()) });
                Ok(())
            }
            Action::Adopt { task, run } => {
                let (context, poke) = (self.context.clone(), self.poke.subscribe());
                self.spawn(task, async move { adopt(&context, &run, poke).await.map_err(|error| error.to_string()) });
                Ok(())
            }
            Action::Merge { task } => {
                let id = task.clone();
                self.spawn(task, async move { patience::merge(&db, &id).await });
                Ok(())
            }
            Action::Clean { task } => {
                let id = task.clone();
                self.spawn(task, async move { patience::clean(&db, &id).await });
                Ok(())
            }
        }
    }

    /// Does something about a task beside the loop. Until it is done nothing else is done about that task.
    fn spawn(&mut self, task: TaskId, work: impl Future<Output = Result<(), String>> + Send + 'static) {
        let id = task.clone();
        self.occupy(task, async move {
            if let Err(error) = work.await {
                tracing::error!(task = %id, %error, "an action of the runner failed");
                sleep(PAUSE).await;
            }
        });
    }

    fn occupy(&mut self, task: TaskId, work: impl Future<Output = ()> + Send + 'static) {
        if self.busy.insert(task.clone()) {
            let job = self.jobs.spawn(work);
            self.about.insert(job.id(), task);
        }
    }

    /// Whether agents can be started; parks them where not.
    async fn startable(&mut self) -> db::Result<bool> {
        if self.checked_at.is_some_and(|at| at.elapsed() < PREFLIGHT_HOLDS) {
            return Ok(true);
        }
        match preflight::preflight(&self.context.config).await {
            Ok(()) => {
                self.checked_at = Some(Instant::now());
                Ok(true)
            }
            Err(failure) => {
                let until = db::now().after(failure.reason.max_duration());
                self.context.db.park(Parking { reason: failure.reason, until, detail: failure.detail }).await?;
                Ok(false)
            }
        }
    }

    /// Ends a parking whose time is over, unless what caused it can be seen to be still there.
    async fn resume(&mut self, reason: ParkReason) -> db::Result<()> {
        self.checked_at = None;
        if self.startable().await? {
            return self.context.db.resume(reason).await;
        }
        let parkings = self.context.db.parkings().await?;
        if parkings.iter().any(|parking| parking.reason == reason && !parking.has_expired(db::now())) {
            Ok(())
        } else {
            self.context.db.resume(reason).await
        }
    }
}

#[cfg(test)]
mod tests;
