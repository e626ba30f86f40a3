//! Fetches the upstream of a base branch with `git`, in a carrier in which nothing of the repository applies.
//!
//! It must not fail the work that asked for it: without a remote, a program or a network, the last fetched tip counts.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use db::Db;
use domain::board::project::Project;
use domain::runs::publication::{PublicationRefusal, shown_url};
use repo::{FETCHED, Upstream, upstream_reference};

use crate::blocking::off_thread;
use crate::process::{self, ProbeOutput};
use crate::runs::checkout::{CheckoutError, with_files, with_repository};

/// The folder of carriers beside the database.
const FOLDER: &str = "fetching";
/// The time between two fetches of one branch, and after one that failed.
const INTERVAL: Duration = Duration::from_secs(60);
const INTERVAL_AFTER_FAILURE: Duration = Duration::from_secs(300);
const LIMIT: Duration = Duration::from_secs(120);

/// How old the last fetch may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Less than [`INTERVAL`].
    Recent,
    /// A person waits for the result.
    Now,
}

/// The last fetch of a branch in this process.
#[derive(Debug, Clone, Default)]
struct LastFetch {
    at: Option<Instant>,
    problem: Option<String>,
    /// Held during a fetch: all fetches of a project use the same folder.
    exclusive: Arc<tokio::sync::Mutex<()>>,
}

static LAST: LazyLock<Mutex<HashMap<(PathBuf, String), LastFetch>>> = LazyLock::new(Mutex::default);

fn last() -> MutexGuard<'static, HashMap<(PathBuf, String), LastFetch>> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fetches the upstream of the base branch, if it has one and the last fetch is too old. Shows on the project when a problem begins and ends.
pub(super) async fn fetch(db: &Db, project: &Project, freshness: Freshness) {
    let problem = fetch_if_old(db, project, freshness).await;
    if project.fetch_problem.is_some() != problem.is_some()
        && let Err(error) = db.record_fetch(&project.id, problem.as_deref()).await
    {
        tracing::warn!(project = %project.id, %error, "it was not recorded whether the upstream can be fetched");
    }
}

/// Returns why the last fetch failed. Projects with the same base branch share it.
async fn fetch_if_old(db: &Db, project: &Project, freshness: Freshness) -> Option<String> {
    let key = (PathBuf::from(&project.git_dir), project.base_branch.clone());
    let exclusive = {
        let mut fetches = last();
        let known = fetches.entry(key.clone()).or_default();
        let interval = if known.problem.is_some() { INTERVAL_AFTER_FAILURE } else { INTERVAL };
        if freshness == Freshness::Recent && known.at.is_some_and(|at| at.elapsed() < interval) {
            return known.problem.clone();
        }
        // Taken now, so that others do not fetch at the same time.
        known.at = Some(Instant::now());
        Arc::clone(&known.exclusive)
    };
    let exclusive = exclusive.lock().await;
    let problem = try_fetch(db, project).await.err();
    drop(exclusive);
    let mut fetches = last();
    let known = fetches.entry(key).or_default();
    if let Some(problem) = problem.as_ref().filter(|problem| known.problem.as_ref() != Some(*problem)) {
        tracing::warn!(project = %project.id, branch = project.base_branch, problem, "the upstream was not fetched; its last known commit counts");
    }
    known.problem.clone_from(&problem);
    problem
}

/// The error says why nothing was fetched.
async fn try_fetch(db: &Db, project: &Project) -> Result<(), String> {
    let said = |error: CheckoutError| error.to_string();
    let (git_dir, branch) = (PathBuf::from(&project.git_dir), project.base_branch.clone());
    let read = branch.clone();
    let Some(upstream) = with_repository(&git_dir, move |repository| repository.upstream(&read)).await.map_err(said)? else { return Ok(()) };
    let git = process::find_program("git", &std::env::var_os("PATH").unwrap_or_default()).ok_or("git is not installed")?;
    db.claim_reference(&project.git_dir, &upstream_reference(&branch), None).await.map_err(|error| error.to_string())?;
    let carrier = db.folder().join(FOLDER).join(format!("{}.git", project.id));
    remove(carrier.clone()).await;
    let (folder, of) = (carrier.clone(), branch.clone());
    with_files(&git_dir, move |repository| repository.make_fetch_carrier(&folder, &of)).await.map_err(said)?;
    let fetched = match run(&git, &carrier, &upstream).await {
        Ok(()) => {
            let folder = carrier.clone();
            with_files(&git_dir, move |repository| repository.take_fetched(&folder, &branch)).await.map(drop).map_err(said)
        }
        failed => failed,
    };
    remove(carrier).await;
    fetched
}

async fn run(git: &Path, carrier: &Path, upstream: &Upstream) -> Result<(), String> {
    let update = format!("+{}:{FETCHED}", upstream.reference);
    // Otherwise git would run itself in the repository, to list what it has.
    let settings = ["-c", "core.alternateRefsCommand=true"];
    let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--", &upstream.url, &update];
    let shown = |output: &str| PublicationRefusal::output(output).replace(&upstream.url, &shown_url(&upstream.url));
    match process::publish(git, &[&settings[..], &options[..]].concat(), carrier, LIMIT).await {
        Ok(ProbeOutput { code: Some(0), .. }) => Ok(()),
        Ok(ProbeOutput { stdout, stderr, .. }) => {
            Err(format!("{}: {}", upstream.remote, shown(if stderr.trim().is_empty() { &stdout } else { &stderr })))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// A server that was killed may have left it.
async fn remove(carrier: PathBuf) {
    // One that stays is removed before the next fetch.
    let _ = off_thread(move || fs::remove_dir_all(carrier)).await;
}
