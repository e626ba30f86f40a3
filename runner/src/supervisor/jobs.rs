//! Work beside the supervisor's loop: at most one job for each key, and a pause after one that failed.
//!
//! It must not know what a job does.

use std::collections::{BTreeSet, HashMap};
use std::future::pending;
use std::path::PathBuf;
use std::time::Duration;

use domain::id::{ProjectId, TaskId};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::sleep;
use tracing::{Instrument, Span};

/// How long the key of a failed job stays taken.
pub(super) const ERROR_PAUSE: Duration = Duration::from_secs(60);

/// The subject of a job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JobKey {
    /// A run, a check or a cleanup. Nothing else is scheduled for the task meanwhile.
    Task(TaskId),
    /// A merge. Nothing else is scheduled for its tasks meanwhile, also not for those that it has finished already.
    Merge(Vec<TaskId>),
    /// A look at the project branch, asked for on this task. The task itself stays free.
    BranchCheck(TaskId),
    /// The removal of what is left of a deleted project.
    Removal(ProjectId),
    /// Whether agents can start at all.
    StartCheck,
    /// Which sandbox they would get.
    Sandbox,
    /// The removal of a repository's stale locks, by its common `.git` folder.
    Unlock(String),
    /// A repository that does not respond.
    Repository(PathBuf),
}

impl JobKey {
    /// The tasks for which nothing else is scheduled.
    fn tasks(&self) -> &[TaskId] {
        match self {
            Self::Task(task) => std::slice::from_ref(task),
            Self::Merge(tasks) => tasks,
            _ => &[],
        }
    }

    /// Names the task in every line of the log about it.
    fn span(&self) -> Span {
        match self {
            Self::Merge(tasks) => tracing::info_span!("job", task = tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" ")),
            Self::Task(task) | Self::BranchCheck(task) => tracing::info_span!("job", %task),
            Self::Removal(project) => tracing::info_span!("job", %project),
            Self::Unlock(git_dir) => tracing::info_span!("job", repository = git_dir),
            Self::Repository(git_dir) => tracing::info_span!("job", repository = %git_dir.display()),
            Self::StartCheck | Self::Sandbox => Span::none(),
        }
    }
}

/// The jobs in progress.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    set: JoinSet<()>,
    keys: HashMap<Id, JobKey>,
    running: BTreeSet<JobKey>,
    /// The tasks among `running`.
    busy_tasks: BTreeSet<TaskId>,
}

impl Jobs {
    /// Starts a job, unless one with the same key is running. After an error the key stays taken for [`ERROR_PAUSE`].
    pub(super) fn start(&mut self, key: JobKey, work: impl Future<Output = Result<(), String>> + Send + 'static) {
        let (name, span) = (key.clone(), key.span());
        let job = async move {
            if let Err(error) = work.await {
                tracing::error!(job = ?name, %error, "a job of the runner failed");
                sleep(ERROR_PAUSE).await;
            }
        };
        self.track(key, job.instrument(span));
    }

    #[cfg(test)]
    pub(super) fn is_running(&self, key: &JobKey) -> bool {
        self.running.contains(key)
    }

    pub(super) fn busy_tasks(&self) -> &BTreeSet<TaskId> {
        &self.busy_tasks
    }

    /// Waits for a job to end and returns its key, which is free again. A job that panicked ends after [`ERROR_PAUSE`].
    pub(super) async fn join_next(&mut self) -> JobKey {
        loop {
            let Some(job) = self.set.join_next_with_id().await else { pending().await };
            let id = job.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
            let Some(key) = self.keys.remove(&id) else { continue };
            self.running.remove(&key);
            for task in key.tasks() {
                self.busy_tasks.remove(task);
            }
            match job {
                Ok(_) => return key,
                Err(error) => {
                    tracing::error!(job = ?key, %error, "a job of the runner panicked");
                    self.track(key, sleep(ERROR_PAUSE));
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.set.is_empty()
    }

    /// Aborts all jobs and waits until they are gone.
    pub(super) async fn shutdown(&mut self) {
        self.set.shutdown().await;
    }

    fn track(&mut self, key: JobKey, work: impl Future<Output = ()> + Send + 'static) {
        if !self.running.insert(key.clone()) {
            return;
        }
        self.busy_tasks.extend(key.tasks().iter().cloned());
        let job = self.set.spawn(work);
        self.keys.insert(job.id(), key);
    }
}

#[cfg(test)]
mod tests;
