//! Publishes a project: pushes its branch with `git`, and opens its pull request with `gh`. The credentials are the person's.
//!
//! Both run in a carrier, in which no hook and no configuration of the repository applies. Must not decide what is approved.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::{Caller, Db};
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::evidence::Sha;
use domain::runs::publication::text::pull_request_text;
use domain::runs::publication::{Publication, PublicationRefusal, PublicationTarget, PublishOptions, shown_url};
use domain::team::person::Right;

use crate::blocking::off_thread;
use crate::process::{self, ProbeOutput, ProcessError};
use crate::runs::checkout::with_files;

/// The folder of carriers beside the database.
const FOLDER: &str = "publishing";
/// How long a push may take. It may upload a whole repository.
const PUSH_LIMIT: Duration = Duration::from_secs(600);
const PULL_REQUEST_LIMIT: Duration = Duration::from_secs(60);
/// The file with the text of a pull request.
const TEXT_FILE: &str = "pull-request.md";

/// The programs that publish, as far as they are installed.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    pub git: Option<PathBuf>,
    pub gh: Option<PathBuf>,
}

impl Tools {
    /// Looks for them in `path`.
    pub fn find(path: &OsStr) -> Self {
        Self { git: process::find_program("git", path), gh: process::find_program("gh", path) }
    }
}

/// `git`, and `gh` with the repository on its host if a pull request is wanted.
struct Programs {
    git: PathBuf,
    pull_requests: Option<(PathBuf, String)>,
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
    let programs = Programs::choose(tools, options, &target)?;
    let carrier = db.folder().join(FOLDER).join(format!("{id}.git"));
    let (git_dir, folder) = (PathBuf::from(&project.git_dir), carrier.clone());
    with_files(&git_dir, move |repository| repository.make_carrier(&folder)).await?;
    let text = pull_request_text(&project, &facts.tasks);
    let pushed = push(&programs.git, &carrier, &target, &tip).await;
    let opened = match (&pushed, &programs.pull_requests) {
        (Ok(()), Some(program)) => open_pull_request(program, &carrier, &target, &project.title, &text).await.map(Some),
        _ => Ok(project.published.clone().and_then(|before| before.pull_request)),
    };
    remove(carrier).await;
    pushed?;
    let (pull_request, failure) = match opened {
        Ok(address) => (address, None),
        Err(refusal) => (None, Some(refusal)),
    };
    let PublicationTarget { remote, branch, .. } = target;
    let published = Publication { remote, branch, sha: tip, at: db::now(), by: caller.actor(), pull_request };
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

impl Programs {
    fn choose(tools: &Tools, options: PublishOptions, target: &PublicationTarget) -> Result<Self, PublicationRefusal> {
        let installed = |found: &Option<PathBuf>, program| found.clone().ok_or(PublicationRefusal::NoProgram { program });
        let pull_requests = match (options.pull_request, &target.repository) {
            (false, _) => None,
            (true, Some(repository)) => Some((installed(&tools.gh, "gh")?, repository.clone())),
            (true, None) => return Err(PublicationRefusal::NoHost { url: shown_url(&target.url) }),
        };
        Ok(Self { git: installed(&tools.git, "git")?, pull_requests })
    }
}

async fn push(git: &Path, carrier: &Path, target: &PublicationTarget, tip: &Sha) -> Result<(), PublicationRefusal> {
    let update = format!("{tip}:refs/heads/{}", target.branch);
    let ended = process::publish(git, &["push", "--quiet", "--no-verify", "--", &target.url, &update], carrier, PUSH_LIMIT).await;
    output_of(ended).map(drop).map_err(|output| {
        // The output of git repeats the address.
        let output = output.replace(&target.url, &shown_url(&target.url));
        PublicationRefusal::NotPushed { remote: target.remote.clone(), branch: target.branch.clone(), output }
    })
}

/// Returns the address of the open pull request of the branch, or of a new one.
async fn open_pull_request(
    (gh, repository): &(PathBuf, String),
    carrier: &Path,
    target: &PublicationTarget,
    title: &str,
    text: &str,
) -> Result<String, PublicationRefusal> {
    let failed = |output: String| PublicationRefusal::NoPullRequest { branch: target.branch.clone(), output };
    let run = async |arguments: &[&str]| output_of(process::publish(gh, arguments, carrier, PULL_REQUEST_LIMIT).await).map_err(failed);
    let about = ["--repo", repository, "--head", &target.branch];
    let open = run(&[&["pr", "list"], &about[..], &["--state", "open", "--json", "url", "--jq", ".[0].url"]].concat()).await?;
    if let Some(address) = address_in(&open) {
        return Ok(address);
    }
    let file = carrier.join(TEXT_FILE);
    fs::write(&file, text).map_err(|error| failed(format!("write {}: {error}", file.display())))?;
    let file = file.to_string_lossy();
    let created = run(&[&["pr", "create"], &about[..], &["--base", &target.base_branch, "--title", title, "--body-file", &file]].concat()).await?;
    address_in(&created).ok_or_else(|| failed(format!("gh printed no address: {}", PublicationRefusal::output(&created))))
}

/// Returns the last line with an address of the web.
fn address_in(output: &str) -> Option<String> {
    output.lines().map(str::trim).rfind(|line| line.starts_with("https://")).map(str::to_owned)
}

/// Returns what a program wrote, or why it failed.
fn output_of(ended: Result<ProbeOutput, ProcessError>) -> Result<String, String> {
    match ended {
        Ok(ProbeOutput { code: Some(0), stdout, .. }) => Ok(stdout),
        Ok(ProbeOutput { stdout, stderr, .. }) => Err(PublicationRefusal::output(if stderr.trim().is_empty() { &stdout } else { &stderr })),
        Err(error) => Err(error.to_string()),
    }
}

async fn remove(carrier: PathBuf) {
    let shown = carrier.display().to_string();
    if let Ok(Err(error)) = off_thread(move || fs::remove_dir_all(carrier)).await {
        tracing::warn!(carrier = shown, %error, "the folder of a push was not removed");
    }
}

#[cfg(test)]
mod tests;
