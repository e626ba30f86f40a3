//! Follows the open pull requests: pushes what was merged since, sends failed checks and remarks back as tasks, and notices when one was
//! merged or closed. The looks are far apart, and only hosts of open pull requests answer them.
//!
//! Must not decide what follows from what a host says; `domain` does.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::{Db, MergedPullRequest};
use domain::board::attention::AttentionKind;
use domain::board::project::Project;
use domain::id::TaskId;
use domain::runs::evidence::Sha;
use domain::runs::publication::attribution::{TaskWork, task_concerned};
use domain::runs::publication::pull_request::{NextStep, PullRequestState, task_about};
use domain::runs::publication::{Publication, PublicationTarget};
use tokio::time::{Instant, sleep};

use super::host::Host;
use super::{Carrier, Tools, delete_branch, lfs, push, task};
use crate::runs::checkout::{CheckoutError, with_files};

/// The pause between two looks at all open pull requests.
const INTERVAL: Duration = Duration::from_secs(60);
/// How long a host may fail to answer about a task before a person has to look.
const ANSWER_LIMIT: Duration = Duration::from_mins(15);
/// Commits that are counted.
const MAX_COUNTED: usize = 10_000;
/// The newest commits of a task by which findings can name it.
const MAX_NAMED: usize = 100;

/// Looks at the open pull requests until the store closes. Without one, it costs a look at an empty index.
pub(crate) async fn run(db: Db) {
    let mut unanswered = HashMap::new();
    loop {
        match follow_all(&db, &Tools::installed(), &mut unanswered).await {
            Err(db::Error::Closed) => return,
            Err(error) => tracing::warn!(%error, "the open pull requests were not read; that is tried again"),
            Ok(()) => {}
        }
        sleep(INTERVAL).await;
    }
}

async fn follow_all(db: &Db, tools: &Tools, unanswered: &mut HashMap<TaskId, Instant>) -> db::Result<()> {
    for project in db.followed_projects().await? {
        // One host that does not answer must not keep the others from being asked.
        if let Err(error) = follow(db, tools, &project).await {
            tracing::warn!(project = %project.id, %error, "the pull request was not followed; that is tried again");
        }
    }
    follow_tasks(db, tools, unanswered, ANSWER_LIMIT).await
}

/// Looks at the pull requests of tasks. `unanswered` has those whose host did not answer, since when; after `limit`, a person has to look.
pub(super) async fn follow_tasks(db: &Db, tools: &Tools, unanswered: &mut HashMap<TaskId, Instant>, limit: Duration) -> db::Result<()> {
    let followed = db.tasks_in_pull_requests().await?;
    unanswered.retain(|id, _| followed.contains(id));
    for id in followed {
        let Err(error) = task::follow(db, tools, &id).await else {
            unanswered.remove(&id);
            continue;
        };
        tracing::warn!(task = %id, %error, "the pull request was not followed; that is tried again");
        let since = *unanswered.entry(id.clone()).or_insert_with(Instant::now);
        if since.elapsed() >= limit && db.card(&id).await?.attention.is_none() {
            let detail =
                format!("Its pull request cannot be read: {error}. The board tries again every minute. Press Retry once the cause is fixed.");
            db.request_attention(&id, AttentionKind::PullRequest, &detail).await?;
        }
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum FollowError {
    #[error(transparent)]
    Store(#[from] db::Error),
    #[error(transparent)]
    Repository(#[from] CheckoutError),
    #[error("{0}")]
    Host(String),
}

/// Looks at the open pull request of a project once.
pub(crate) async fn follow(db: &Db, tools: &Tools, project: &Project) -> Result<(), FollowError> {
    let Some(published) = &project.published else { return Ok(()) };
    let Some(address) = &published.pull_request else { return Ok(()) };
    let (branch, base, git_dir) = (published.branch.clone(), project.base_branch.clone(), PathBuf::from(&project.git_dir));
    let project_branch = project.integration_branch.clone();
    let found = with_files(&git_dir, move |repository| Ok((repository.publication_target(&branch, &base)?, repository.ref_sha(&project_branch)?)));
    let (Some(target), tip) = found.await? else { return Err(FollowError::Host("the repository no longer has a remote".to_owned())) };
    let carrier = Carrier::at(db, &format!("{}-followed", project.id)).create(project).await?;
    let asked = ask_and_act(db, tools, project, (published, address), (&target, tip), &carrier).await;
    carrier.remove().await;
    asked
}

async fn ask_and_act(
    db: &Db,
    tools: &Tools,
    project: &Project,
    (published, address): (&Publication, &str),
    (target, tip): (&PublicationTarget, Option<Sha>),
    carrier: &Carrier,
) -> Result<(), FollowError> {
    let host = Host::choose(tools, target, &carrier.folder).map_err(|refusal| FollowError::Host(refusal.to_string()))?;
    let news = host.news(address).await.map_err(FollowError::Host)?;
    let known = published.status.clone().unwrap_or_default();
    let is_waiting = match &known.task {
        Some(task) => db.task(task).await?.card.status.is_open(),
        None => false,
    };
    let step = known.next_step(&news, &published.sha, is_waiting);
    match step {
        NextStep::Merged => {
            let merged = merged(db, project, (&news.head, &published.sha), target).await?;
            if let Some(git) = &tools.git {
                // Someone may have removed it already, and a branch that went on is kept.
                if let Err(output) = delete_branch(git, &carrier.folder, target, &news.head).await {
                    tracing::info!(branch = target.branch, output, "the branch of a merged pull request was not removed");
                }
            }
            db.record_merged_pull_request(&project.id, merged).await?;
        }
        NextStep::Closed => db.record_closed_pull_request(&project.id).await?,
        NextStep::AskPerson { seen, detail } => db.flag_pull_request(&project.id, seen, &detail).await?,
        NextStep::SendBack { seen, mut checks, remarks } => {
            host.read_logs(&mut checks).await;
            let text = task_about(address, &checks, &remarks);
            let work = merged_work(db, project).await?;
            match task_concerned(&work, &checks, &remarks) {
                Some(task) => db.reopen_for_pull_request(&project.id, task, seen, &text.description).await?,
                None => db.send_pull_request_back(&project.id, seen, text).await?,
            };
        }
        NextStep::Wait => {}
    }
    // Only the tip that the store recorded is pushed, as the first time.
    let recorded = project.integration_head.clone().filter(|recorded| tip.as_ref() == Some(recorded) && *recorded != published.sha);
    if let (Some(tip), Some(git), true) = (recorded, &tools.git, news.state == PullRequestState::Open) {
        lfs::upload(git, &carrier.folder, project, target, &tip).await.map_err(|refusal| FollowError::Host(refusal.to_string()))?;
        push(git, &carrier.folder, target, None, &tip).await.map_err(|refusal| FollowError::Host(refusal.to_string()))?;
        db.record_push(&project.id, &tip).await?;
    }
    Ok(())
}

/// Lists the merged tasks whose work waits to be landed, with their commits. The cost grows with these alone.
pub(crate) async fn waiting_work(db: &Db, project: &Project) -> db::Result<Vec<(TaskId, Sha)>> {
    let mut waiting = Vec::new();
    for card in db.landing_facts(&project.id, None).await?.tasks {
        waiting.extend(db.task(&card.id).await?.merged_sha.map(|sha| (card.id, sha)));
    }
    Ok(waiting)
}

/// Reads what the tasks of an open pull request changed.
async fn merged_work(db: &Db, project: &Project) -> Result<Vec<TaskWork>, FollowError> {
    let merged = waiting_work(db, project).await?;
    let branch = project.integration_branch.clone();
    let read = with_files(Path::new(&project.git_dir), move |repository| {
        let mut work = Vec::with_capacity(merged.len());
        for (task, sha) in merged {
            // Without a merge of its own, nothing says what is its work.
            let Some(base) = repository.before_merge(&branch, &sha)? else { continue };
            let commits = repository.log(&base, &sha, MAX_NAMED)?.into_iter().map(|commit| commit.sha).collect();
            work.push(TaskWork { task, files: repository.changed_paths(&base, &sha)?, commits });
        }
        Ok(work)
    });
    Ok(read.await?)
}

/// Finds the tasks whose work a merged tip has. A tip that others added to the branch is not here, and the pushed tip stands for it.
async fn merged(db: &Db, project: &Project, (head, pushed): (&Sha, &Sha), target: &PublicationTarget) -> Result<MergedPullRequest, FollowError> {
    let waiting = waiting_work(db, project).await?;
    let (base, head, pushed, base_branch) = (project.base_head.clone(), head.clone(), pushed.clone(), target.base_branch.clone());
    let found = with_files(Path::new(&project.git_dir), move |repository| {
        let tip = if repository.has_commit(&head)? { head } else { pushed };
        let mut tasks: Vec<TaskId> = Vec::new();
        for (task, sha) in waiting {
            if repository.is_ancestor(&sha, &tip)? {
                tasks.push(task);
            }
        }
        let commits = u32::try_from(repository.log(&base, &tip, MAX_COUNTED)?.len()).unwrap_or(u32::MAX);
        Ok(MergedPullRequest { tip, base_branch, tasks, commits })
    });
    Ok(found.await?)
}
