//! Publishes a project: pushes its branch with `git`, and opens its pull request with the program of its host. The credentials are the person's.
//!
//! Both run in a carrier, in which no hook and no configuration of the repository applies. Must not decide what is approved.

pub(crate) mod follow;
mod host;
pub mod issue;
mod lfs;
pub(crate) mod task;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::{Caller, Db};
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::evidence::Sha;
use domain::runs::publication::issue::closing_lines;
use domain::runs::publication::pull_request::PullRequestState;
use domain::runs::publication::text::pull_request_text;
use domain::runs::publication::{Publication, PublicationRefusal, PublicationTarget, PublishOptions, shown_url};
use domain::team::person::Right;

use crate::blocking::off_thread;
use crate::process::{self, ProbeOutput, ProcessError};
use crate::runs::checkout::with_files;

use host::{Host, NewPullRequest};

/// The folder of carriers beside the database.
const FOLDER: &str = "publishing";
/// A folder of no repository, for programs that are told the repository by name.
const NO_REPOSITORY: &str = "/";
/// How long a push may take. It may upload a whole repository.
const PUSH_LIMIT: Duration = Duration::from_secs(600);

/// The programs that publish, as far as they are installed.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    pub git: Option<PathBuf>,
    pub gh: Option<PathBuf>,
    pub glab: Option<PathBuf>,
}

impl Tools {
    /// Looks for them where the person's shell does.
    pub(crate) fn installed() -> Self {
        Self::find(&std::env::var_os("PATH").unwrap_or_default())
    }

    /// Looks for them in `path`.
    pub fn find(path: &OsStr) -> Self {
        Self { git: process::find_program("git", path), gh: process::find_program("gh", path), glab: process::find_program("glab", path) }
    }
}

/// Whether a pull request of the repository `host/owner/name` can be opened: its program is installed and signed in.
pub async fn can_open(tools: &Tools, repository: String) -> bool {
    match Host::of(tools, repository, Path::new(NO_REPOSITORY)) {
        Ok(host) => host.is_signed_in().await,
        Err(_) => false,
    }
}

/// Pushes the branch of a project, and opens a pull request if that is wanted and none is open.
///
/// # Errors
/// When the caller is not a person who may work, nothing is merged, the branch holds what nobody approved, there is no remote, or a program
/// is missing or failed. A push stays, and is recorded, if only the pull request failed.
pub async fn publish(db: &Db, tools: &Tools, caller: &Caller, id: &ProjectId, options: PublishOptions) -> db::Result<Project> {
    caller.person(Right::Work, "publishing")?;
    let facts = db.landing_facts(id, None).await?;
    let project = facts.project;
    let (tip, target) = read(&project).await?;
    let carrier = Carrier::at(db, id.as_str());
    let host = if options.pull_request { Some(Host::choose(tools, &target, &carrier.folder)?) } else { None };
    let git = tools.git.as_deref().ok_or(PublicationRefusal::NoProgram { program: "git" })?;
    let carrier = carrier.create(&project).await?;
    let issues = db.issues_to_close(id).await?;
    let text = pull_request_text(&project, &facts.tasks, &closing_lines(target.repository.as_deref().unwrap_or_default(), &issues));
    let pushed = match lfs::upload(git, &carrier.folder, &project, &target, &tip).await {
        Ok(()) => push(git, &carrier.folder, &target, None, &tip).await.map_err(db::Error::from),
        refused => refused,
    };
    let opened = match (&pushed, &host) {
        (Ok(()), Some(host)) => {
            let new = NewPullRequest { branch: &target.branch, base_branch: &target.base_branch, title: &project.title, text: &text };
            let opened = host.open(new).await.map(Some);
            opened.map_err(|output| PublicationRefusal::NoPullRequest { branch: target.branch.clone(), output })
        }
        _ => Ok(project.published.as_ref().and_then(|before| before.pull_request.clone())),
    };
    carrier.remove().await;
    pushed?;
    let (pull_request, failure) = match opened {
        Ok(address) => (address, None),
        Err(refusal) => (None, Some(refusal)),
    };
    let known = project.published.filter(|before| before.pull_request == pull_request).and_then(|before| before.status);
    let status = pull_request.as_ref().map(|_| known.filter(|known| known.state == PullRequestState::Open || host.is_none()).unwrap_or_default());
    let PublicationTarget { remote, branch, .. } = target;
    let published = Publication { remote, branch, sha: tip, at: db::now(), by: caller.actor(), pull_request, status };
    let recorded = db.record_publication(caller, id, published).await?;
    failure.map_or(Ok(recorded), |refusal| Err(refusal.into()))
}

/// Returns the tip of the project branch, which the store knows, and where it is pushed.
async fn read(project: &Project) -> db::Result<(Sha, PublicationTarget)> {
    let (branch, base) = (project.integration_branch.clone(), project.base_branch.clone());
    let found =
        with_files(Path::new(&project.git_dir), move |repository| Ok((repository.ref_sha(&branch)?, repository.publication_target(&branch, &base)?)));
    let (tip, target) = found.await?;
    let branch = || project.integration_branch.clone();
    let recorded = project.merged_at.and(project.integration_head.as_ref()).ok_or_else(|| PublicationRefusal::NothingMerged { branch: branch() })?;
    let tip = tip.filter(|tip| tip == recorded).ok_or_else(|| PublicationRefusal::BranchMoved { branch: branch() })?;
    Ok((tip, target.ok_or_else(|| PublicationRefusal::NoRemote { branch: branch() })?))
}

/// Pushes `tip`. The branch on the remote may lose commits if it is still at `known`, which was pushed before.
async fn push(git: &Path, carrier: &Path, target: &PublicationTarget, known: Option<&Sha>, tip: &Sha) -> Result<(), PublicationRefusal> {
    let branch = format!("refs/heads/{}", target.branch);
    let (update, lease) = (format!("{tip}:{branch}"), known.map(|known| format!("--force-with-lease={branch}:{known}")));
    let options: Vec<&str> = ["push", "--quiet", "--no-verify"].into_iter().chain(lease.as_deref()).chain(["--", &target.url, &update]).collect();
    let ended = process::publish(git, &options, carrier, PUSH_LIMIT).await;
    output_of(ended).map(drop).map_err(|output| {
        // The output of git repeats the address.
        let output = output.replace(&target.url, &shown_url(&target.url));
        PublicationRefusal::NotPushed { remote: target.remote.clone(), branch: target.branch.clone(), output }
    })
}

/// Removes the branch from its remote, if it is still at `tip`.
async fn delete_branch(git: &Path, carrier: &Path, target: &PublicationTarget, tip: &Sha) -> Result<(), String> {
    let branch = format!("refs/heads/{}", target.branch);
    let (lease, deletion) = (format!("--force-with-lease={branch}:{tip}"), format!(":{branch}"));
    let ended = process::publish(git, &["push", "--quiet", "--no-verify", &lease, "--", &target.url, &deletion], carrier, PUSH_LIMIT).await;
    output_of(ended).map(drop).map_err(|output| output.replace(&target.url, &shown_url(&target.url)))
}

/// Returns what a program wrote, or why it failed.
fn output_of(ended: Result<ProbeOutput, ProcessError>) -> Result<String, String> {
    match ended {
        Ok(ProbeOutput { code: Some(0), stdout, .. }) => Ok(stdout),
        Ok(ProbeOutput { stdout, stderr, .. }) => Err(PublicationRefusal::output(if stderr.trim().is_empty() { &stdout } else { &stderr })),
        Err(error) => Err(error.to_string()),
    }
}

/// The folder of one push, in which the programs run.
struct Carrier {
    folder: PathBuf,
}

impl Carrier {
    /// Its `name` keeps a push of a person and a look at a pull request apart.
    fn at(db: &Db, name: &str) -> Self {
        Self { folder: db.folder().join(FOLDER).join(format!("{name}.git")) }
    }

    async fn create(self, project: &Project) -> db::Result<Self> {
        let folder = self.folder.clone();
        with_files(Path::new(&project.git_dir), move |repository| repository.make_carrier(&folder)).await?;
        Ok(self)
    }

    async fn remove(self) {
        let shown = self.folder.display().to_string();
        if let Ok(Err(error)) = off_thread(move || fs::remove_dir_all(self.folder)).await {
            tracing::warn!(carrier = shown, %error, "the folder of a push was not removed");
        }
    }
}

#[cfg(test)]
mod tests;
