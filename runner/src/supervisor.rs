//! The reconciler: looks at the whole state, plans, acts, and looks again when something changed. Boot is its first look.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use db::Db;
use domain::attention::AttentionKind;
use domain::config::Config;
use domain::id::TaskId;
use domain::park::{ParkReason, Parking};
use domain::time::Timestamp;
use domain::wire::Frame;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::plan::{Action, Plan, plan};
use crate::run::{self, Context};
use crate::watch::adopt;
use crate::{checkout, merge, preflight};

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
    let (poke, _) = watch::channel(0);
    let mut supervisor = Supervisor { context, poke, jobs: JoinSet::new(), busy: BTreeSet::new(), checked_at: None };
    let outcome = supervisor.run(shutdown).await;
    supervisor.jobs.shutdown().await;
    outcome
}

struct Supervisor {
    context: Context,
    /// Tells the watchers of runs to look whether anything is asked of them.
    poke: watch::Sender<u64>,
    jobs: JoinSet<TaskId>,
    busy: BTreeSet<TaskId>,
    /// When agents were last found to be startable.
    checked_at: Option<Instant>,
}

impl Supervisor {
    async fn run(&mut self, shutdown: CancellationToken) -> db::Result<()> {
        let mut news = self.context.db.subscribe();
        loop {
            // Marked as seen before looking: what happens while we look wakes us again.
            news.borrow_and_update();
            let look_again = match self.look().await {
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
                Some(job) = self.jobs.join_next() => self.finished(job),
                () = sleep(pause) => {}
                () = shutdown.cancelled() => return Ok(()),
            }
            while let Some(job) = self.jobs.try_join_next() {
                self.finished(job);
            }
        }
    }

    fn finished(&mut self, job: Result<TaskId, tokio::task::JoinError>) {
        match job {
            Ok(task) => {
                self.busy.remove(&task);
            }
            // Whose job it was is not told; all that still run say so themselves at the next look.
            Err(error) => {
                tracing::error!(%error, "an action of the runner broke off");
                self.jobs.abort_all();
                self.busy.clear();
            }
        }
    }

    async fn look(&mut self) -> db::Result<Option<Timestamp>> {
        let state = self.context.db.state().await?;
        let Plan { actions, whys, look_again } = plan(&state, &self.context.config, &self.busy, db::now());
        self.poke.send_modify(|count| *count += 1);
        if !whys.is_empty() {
            self.context.db.set_whys(whys).await?;
        }
        for action in actions {
            self.act(action).await?;
        }
        Ok(look_again)
    }

    async fn act(&mut self, action: Action) -> db::Result<()> {
        let db = self.context.db.clone();
        match action {
            Action::Resume { reason } => self.resume(reason).await,
            Action::NeedPerson { task, kind, detail } => db.need_person(&task, kind, &detail).await,
            Action::Start { task, phase, status } => {
                if self.startable().await? {
                    let (context, poke, id) = (self.context.clone(), self.poke.subscribe(), task.clone());
                    self.spawn(task, async move { run::start(&context, &id, phase, status, poke).await.map_err(|error| error.to_string()) });
                }
                Ok(())
            }
            Action::Adopt { task, run } => {
                let (context, poke) = (self.context.clone(), self.poke.subscribe());
                self.spawn(task, async move { adopt(&context, &run, poke).await.map_err(|error| error.to_string()) });
                Ok(())
            }
            Action::Merge { task } => {
                let id = task.clone();
                self.spawn(task, async move {
                    let Err(error) = merge::merge(&db, &id).await else { return Ok(()) };
                    let told = db.need_person(&id, AttentionKind::Repository, &format!("It could not be merged: {error}")).await;
                    told.map_err(|told| format!("{error}; {told}"))
                });
                Ok(())
            }
            Action::Clean { task } => {
                let id = task.clone();
                self.spawn(task, async move { clean(&db, &id).await.map_err(|error| error.to_string()) });
                Ok(())
            }
        }
    }

    /// Does something about a task beside the loop. Until it is done nothing else is done about that task.
    fn spawn(&mut self, task: TaskId, work: impl Future<Output = Result<(), String>> + Send + 'static) {
        if !self.busy.insert(task.clone()) {
            return;
        }
        self.jobs.spawn(async move {
            if let Err(error) = work.await {
                tracing::error!(%task, %error, "an action of the runner failed");
                sleep(PAUSE).await;
            }
            task
        });
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
            Err(obstacle) => {
                let until = db::now().after(LOOK_EVERY);
                self.context.db.park(Parking { reason: obstacle.reason, until, detail: obstacle.detail }).await?;
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
        if parkings.iter().any(|parking| parking.reason == reason && parking.until > db::now()) {
            Ok(())
        } else {
            self.context.db.resume(reason).await
        }
    }
}

async fn clean(db: &Db, id: &TaskId) -> Result<(), checkout::CheckoutError> {
    let task = db.task(id).await?;
    let project = db.project(&task.card.project_id).await?;
    let rescue = checkout::clean(db, &project, &task).await?;
    Ok(db.checkout_removed(id, rescue).await?)
}
