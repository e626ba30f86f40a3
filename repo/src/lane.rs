//! Lanes: work on a repository runs beside the async threads and within a deadline, so that a repository that does not respond, such as one
//! on a network drive that is gone, holds up only its own tasks.
//!
//! Must not know what the work does. A blocked system call cannot be cancelled: its thread stays until the call returns, so the number of
//! such threads is limited.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use crate::error::RepoError;
use crate::handle::Repository;

/// How long work on a repository may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// It reads or moves references and commits.
    Brief,
    /// It reads, writes or removes whole trees of files, which takes minutes in a large repository.
    Long,
}

/// The deadline of brief work. Long work that takes longer goes on only if the repository responds otherwise.
const BRIEF_TIMEOUT: Duration = Duration::from_secs(30);
const LONG_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Brief work that one repository does at once.
const MAX_BRIEF: usize = 8;
/// Blocked threads of one repository after which it is not tried again until one of them returns.
const MAX_BLOCKED: usize = 16;
/// The pauses between two tries of a repository that does not respond.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const MAX_PAUSE: Duration = Duration::from_secs(10 * 60);

static LANES: LazyLock<Mutex<HashMap<PathBuf, Arc<Lane>>>> = LazyLock::new(Mutex::default);

/// Runs `work` on the repository at `git_dir`, and returns its result.
///
/// # Errors
/// [`RepoError::NotResponding`] if it takes too long, or if the repository did not respond before; [`RepoError::Interrupted`] if the process
/// is shutting down or the work panicked.
pub fn in_lane<T, Work>(git_dir: &Path, effort: Effort, work: Work) -> impl Future<Output = Result<T, RepoError>> + Send + use<T, Work>
where
    T: Send + 'static,
    Work: FnOnce() -> T + Send + 'static,
{
    lane_of(git_dir).run(effort, BRIEF_TIMEOUT, LONG_TIMEOUT, work)
}

/// Returns the repositories that do not respond, with the moment since when.
pub fn not_responding() -> BTreeMap<PathBuf, Instant> {
    let lanes = lock(&LANES);
    lanes.iter().filter_map(|(git_dir, lane)| Some((git_dir.clone(), lock(&lane.state).since?))).collect()
}

/// Tries whether a repository responds again, after a pause that grows with each failure.
pub async fn try_again(git_dir: &Path) {
    let lane = lane_of(git_dir);
    let failures = u32::try_from(lock(&lane.state).blocked).unwrap_or(u32::MAX);
    sleep((FIRST_PAUSE * 2_u32.saturating_pow(failures.min(8))).min(MAX_PAUSE)).await;
    lane.try_again(BRIEF_TIMEOUT).await;
}

fn lane_of(git_dir: &Path) -> Arc<Lane> {
    let mut lanes = lock(&LANES);
    // Keep only lanes that are in use, or that have something to tell.
    lanes.retain(|_, lane| Arc::strong_count(lane) > 1 || lock(&lane.state).since.is_some());
    let new = || Arc::new(Lane { git_dir: git_dir.to_owned(), brief: Arc::new(Semaphore::new(MAX_BRIEF)), state: Mutex::default() });
    lanes.entry(git_dir.to_owned()).or_insert_with(new).clone()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Lane {
    git_dir: PathBuf,
    brief: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Since when the repository does not respond.
    since: Option<Instant>,
    /// Threads past their deadline.
    blocked: usize,
}

/// The state of one piece of work. Changes only under the lock of its lane's state.
#[derive(Debug, Default)]
struct Work {
    ended: bool,
    is_late: bool,
}

impl Lane {
    async fn run<T: Send + 'static>(
        self: Arc<Self>,
        effort: Effort,
        brief: Duration,
        long: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RepoError> {
        if let Some(since) = lock(&self.state).since {
            return Err(self.not_responding(since));
        }
        let started = Instant::now();
        let permit = match effort {
            Effort::Long => None,
            Effort::Brief => match timeout(brief, self.brief.clone().acquire_owned()).await {
                Ok(permit) => permit.ok(),
                Err(_) => return Err(self.block(started)),
            },
        };
        let ticket = Ticket { lane: self.clone(), work: Arc::default(), _permit: permit };
        let state = ticket.work.clone();
        let mut job = spawn_blocking(move || {
            let _ticket = ticket;
            work()
        });
        for (number, limit) in [brief, long].into_iter().enumerate() {
            if let Ok(done) = timeout(limit, &mut job).await {
                return done.map_err(|_| RepoError::Interrupted);
            }
            // Long work may be long, unless the repository answers nothing else either.
            if effort == Effort::Brief || number > 0 || !self.responds(brief).await {
                break;
            }
        }
        if self.abandon(&state) { Err(self.block(started)) } else { job.await.map_err(|_| RepoError::Interrupted) }
    }

    /// Stops waiting for work. Returns false if it ended meanwhile.
    fn abandon(&self, work: &Mutex<Work>) -> bool {
        let mut lane = lock(&self.state);
        let mut work = lock(work);
        work.is_late = !work.ended;
        lane.blocked += usize::from(work.is_late);
        work.is_late
    }

    /// Records that the repository does not respond.
    fn block(&self, since: Instant) -> RepoError {
        let since = *lock(&self.state).since.get_or_insert(since);
        self.not_responding(since)
    }

    fn not_responding(&self, since: Instant) -> RepoError {
        RepoError::NotResponding { path: self.git_dir.clone(), seconds: since.elapsed().as_secs() }
    }

    async fn try_again(self: Arc<Self>, limit: Duration) {
        if lock(&self.state).blocked < MAX_BLOCKED && self.responds(limit).await {
            lock(&self.state).since = None;
        }
    }

    /// Whether the repository can be opened and its references can be read.
    async fn responds(self: &Arc<Self>, limit: Duration) -> bool {
        let ticket = Ticket { lane: self.clone(), work: Arc::default(), _permit: None };
        let (git_dir, state) = (self.git_dir.clone(), ticket.work.clone());
        let job = spawn_blocking(move || {
            let _ticket = ticket;
            // An error is an answer too. The next task that needs the repository reports it.
            drop(Repository::at(git_dir).read_references());
        });
        if timeout(limit, job).await.is_ok() {
            return true;
        }
        !self.abandon(&state)
    }
}

/// Tells its lane when work ends, however it ends.
struct Ticket {
    lane: Arc<Lane>,
    work: Arc<Mutex<Work>>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut lane = lock(&self.lane.state);
        let mut work = lock(&self.work);
        work.ended = true;
        if work.is_late {
            lane.blocked -= 1;
            if lane.blocked == 0 {
                lane.since = None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
