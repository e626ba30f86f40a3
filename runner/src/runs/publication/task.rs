//! The pull request of one task: pushes its approved commit, opens the pull request, and notices what its host says about it.
//!
//! Must not decide which task gets one, and not finish it: that takes the proof that the base branch has its work.

use std::path::Path;

use db::Db;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::evidence::{Sha, short};
use domain::runs::publication::issue::{closing_lines, part_of};
use domain::runs::publication::pull_request::{NextStep, PullRequestState, task_about};
use domain::runs::publication::task_pull_request::TaskPullRequest;
use domain::runs::publication::text::task_pull_request_text;
use domain::runs::publication::{PublicationRefusal, PublicationTarget};

use super::follow::FollowError;
use super::host::{Host, NewPullRequest};
use super::{Carrier, NO_REPOSITORY, Tools, delete_branch, lfs, push};
use crate::runs::checkout::with_files;

/// Pushes the approved commit `sha` of a task to a branch of its own, and opens the pull request for it unless it is open. Repeating it is
/// harmless.
///
/// # Errors
/// When the base branch follows no remote, a program is missing or failed, or the task is no longer approved at `sha`.
pub(crate) async fn open(db: &Db, tools: &Tools, project: &Project, task: &Task, sha: &Sha) -> db::Result<()> {
    let id = &task.card.id;
    let open = task.card.pull_request.as_ref().filter(|known| known.is_open());
    // Other boards number their tasks in the same way and may push to the same remote. A branch whose pull request ended may be gone.
    let branch = open.map_or_else(|| format!("{}-{}", task.branch.as_deref().unwrap_or(id.as_str()), short(sha)), |known| known.branch.clone());
    let target = target(project, &branch).await?;
    let carrier = Carrier::at(db, id.as_str());
    let host = Host::choose(tools, &target, &carrier.folder).map_err(|refusal| match refusal {
        PublicationRefusal::NoProgram { program } => PublicationRefusal::NotSignedIn { program },
        other => other,
    })?;
    let git = tools.git.as_deref().ok_or(PublicationRefusal::NoProgram { program: "git" })?;
    let issue: Vec<String> = db.issue_of(id).await?.into_iter().collect();
    let repository = target.repository.as_deref().unwrap_or_default();
    let whole = project.issue.as_ref().map(|issue| part_of(repository, issue));
    let closing: Vec<String> = closing_lines(repository, &issue).into_iter().chain(whole).collect();
    let text = task_pull_request_text(&task.card, task.description.as_deref(), &db.comments(id).await?, &closing);
    let carrier = carrier.create(project).await?;
    let new = NewPullRequest { branch: &target.branch, base_branch: &target.base_branch, title: &task.card.title, text: &text };
    let known = open.map(|known| &known.sha);
    let opened = publish(git, &host, (project, &target, &carrier.folder), (known, sha), new).await;
    carrier.remove().await;
    db.record_task_pull_request(id, sha, &target.branch, &opened?).await.map(drop)
}

async fn publish(
    git: &Path,
    host: &Host,
    (project, target, carrier): (&Project, &PublicationTarget, &Path),
    (known, sha): (Option<&Sha>, &Sha),
    new: NewPullRequest<'_>,
) -> db::Result<String> {
    lfs::upload(git, carrier, project, target, sha).await?;
    push(git, carrier, target, known, sha).await?;
    let opened = host.open(new).await;
    Ok(opened.map_err(|output| PublicationRefusal::NoPullRequest { branch: target.branch.clone(), output })?)
}

/// Where `branch` is pushed. The base must follow its branch there, or it would never be known that the pull request was merged.
async fn target(project: &Project, branch: &str) -> db::Result<PublicationTarget> {
    let (pushed, base) = (branch.to_owned(), project.base_branch.clone());
    let read = move |repository: &repo::Repository| Ok((repository.publication_target(&pushed, &base)?, repository.upstream(&base)?));
    let (target, upstream) = with_files(Path::new(&project.git_dir), read).await?;
    let target = target.ok_or_else(|| PublicationRefusal::NoRemote { branch: branch.to_owned() })?;
    match upstream {
        Some(_) => Ok(target),
        None => Err(PublicationRefusal::NoUpstream { branch: project.base_branch.clone() }.into()),
    }
}

/// Looks at the open pull request of a task once.
pub(crate) async fn follow(db: &Db, tools: &Tools, id: &TaskId) -> Result<(), FollowError> {
    let task = db.task(id).await?;
    let Some(TaskPullRequest { address, branch, sha, status }) = task.card.pull_request else { return Ok(()) };
    let project = db.project(&task.card.project_id).await?;
    let target = target(&project, &branch).await?;
    let host = Host::choose(tools, &target, Path::new(NO_REPOSITORY)).map_err(|refusal| FollowError::Host(refusal.to_string()))?;
    let news = host.news(&address).await.map_err(FollowError::Host)?;
    // A person who was asked to look may merge or close it there.
    match status.next_step(&news, &sha, task.card.attention.is_some()) {
        NextStep::Wait => {}
        NextStep::Merged => db.end_task_pull_request(id, PullRequestState::Merged).await?,
        NextStep::Closed => db.end_task_pull_request(id, PullRequestState::Closed).await?,
        NextStep::AskPerson { seen, detail } => {
            db.flag_task_pull_request(id, seen, &format!("{detail}. Look at {address}, then press Retry, or send the task back.")).await?;
        }
        NextStep::SendBack { seen, mut checks, remarks } => {
            host.read_logs(&mut checks).await;
            db.send_task_pull_request_back(id, seen, &task_about(&address, &checks, &remarks).description).await?;
        }
    }
    Ok(())
}

/// Removes the branch of a merged pull request from its remote. A branch that went on is kept, and its host may have removed it already.
pub(crate) async fn remove_branch(db: &Db, tools: &Tools, project: &Project, task: &Task) -> db::Result<()> {
    let (Some(known), Some(git)) = (&task.card.pull_request, &tools.git) else { return Ok(()) };
    let target = target(project, &known.branch).await?;
    let carrier = Carrier::at(db, task.card.id.as_str()).create(project).await?;
    if let Err(output) = delete_branch(git, &carrier.folder, &target, &known.sha).await {
        tracing::info!(branch = known.branch, output, "the branch of a merged pull request was not removed");
    }
    carrier.remove().await;
    Ok(())
}
