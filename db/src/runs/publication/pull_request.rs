//! Following the pull requests of projects: which are open, and what came of them. Must not ask their hosts.

use domain::board::project::{Project, ProjectEvent};
use domain::board::status::Status;
use domain::board::task::Task;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{EvidenceResult, Sha};
use domain::runs::publication::pull_request::{PullRequestState, PullRequestStatus};
use domain::runs::publication::task_text::TaskText;
use domain::runs::publication::{Publication, PublicationRefusal};
use sqlx::AssertSqlSafe;

use crate::board::project::row::{self as projects, select_project};
use crate::board::task::row as tasks;
use crate::board::task::row::wrong_status;
use crate::board::task::write::change::MoveRequest;
use crate::board::task::write::{NewTaskRow, insert};
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::land::write::{self as land, MergedPullRequest};
use crate::runs::publication::{fields_of, store};

/// The projects whose pull request is open. The index has no other.
pub(crate) const FOLLOWED: &str = concat!(select_project!(), "WHERE p.pull_request_open = 1 AND p.archived_at IS NULL ORDER BY p.id");

impl Db {
    /// Lists the projects whose pull request is open. The cost grows with these alone.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn followed_projects(&self) -> Result<Vec<Project>> {
        let mut connection = self.readers.acquire().await?;
        let rows = sqlx::query(AssertSqlSafe(FOLLOWED)).fetch_all(&mut *connection).await?;
        rows.iter().map(projects::project_of).collect()
    }

    /// Records that work merged since was pushed to an open pull request.
    ///
    /// # Errors
    /// When the project has no publication.
    pub async fn record_push(&self, id: &ProjectId, sha: &Sha) -> Result<()> {
        let sha = sha.clone();
        self.change_pull_request(id, move |published, at| {
            (published.sha, published.at) = (sha.clone(), at);
            let Publication { remote, branch, pull_request, .. } = published.clone();
            ProjectEvent::Published { remote, branch, sha, pull_request }
        })
        .await
    }

    /// Creates the task about failed checks and remarks, which are named by `seen` and do not come back again.
    ///
    /// # Errors
    /// When the project has no publication, or a text is invalid.
    pub async fn send_pull_request_back(&self, id: &ProjectId, seen: Vec<String>, text: TaskText) -> Result<Task> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let published = published(tx, &id).await?;
                let (fields, phase) = (fields_of(text)?, AgentKind::Coder);
                let row = NewTaskRow { project: id.clone(), parent: None, fields, phase, status: Status::Backlog, held_by: None, round: None };
                let task = insert(tx, &Caller::Runner, row).await?;
                sent_back(tx, &id, published, seen, &task).await?;
                task_changed(tx, &Caller::Runner, &id, &task).await?;
                tasks::task(&mut tx.connection, &task).await
            })
        })
        .await
    }

    /// Sends failed checks and remarks, which are named by `seen`, back to the task that they concern: it is open again, with `reason`.
    ///
    /// # Errors
    /// When the project has no publication, or the task is not a finished one of its coders.
    pub async fn reopen_for_pull_request(&self, id: &ProjectId, task: &TaskId, seen: Vec<String>, reason: &str) -> Result<Task> {
        let (id, task, reason) = (id.clone(), task.clone(), reason.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let published = published(tx, &id).await?;
                let concerned = tasks::task(&mut tx.connection, &task).await?;
                if concerned.card.project_id != id || concerned.card.status != Status::Done {
                    return Err(wrong_status(&concerned.card, "it is not a finished task of this project", "Read it again.").into());
                }
                let back = MoveRequest { to: Status::InProgress, reason: Some(reason), merge: false };
                move_task(tx, &Caller::Runner, &concerned, &back, &EvidenceResult::Nothing).await?;
                sent_back(tx, &id, published, seen, &task).await?;
                task_changed(tx, &Caller::Runner, &id, &task).await?;
                tasks::task(&mut tx.connection, &task).await
            })
        })
        .await
    }

    /// Records that a person has to look at an open pull request.
    ///
    /// # Errors
    /// When the project has no publication.
    pub async fn flag_pull_request(&self, id: &ProjectId, seen: Vec<String>, detail: &str) -> Result<()> {
        let detail = detail.to_owned();
        self.change_pull_request(id, move |published, _| {
            let status = published.status.get_or_insert_default();
            status.seen.extend(seen);
            status.needs_you = Some(detail.clone());
            ProjectEvent::PullRequestNeedsYou { pull_request: published.pull_request.clone().unwrap_or_default(), detail }
        })
        .await
    }

    /// Records that someone closed the pull request without merging it. A person has to look.
    ///
    /// # Errors
    /// When the project has no publication.
    pub async fn record_closed_pull_request(&self, id: &ProjectId) -> Result<()> {
        self.change_pull_request(id, |published, _| {
            let status = published.status.get_or_insert_default();
            status.state = PullRequestState::Closed;
            status.needs_you = Some("someone closed it without merging it".to_owned());
            ProjectEvent::PullRequestClosed { pull_request: published.pull_request.clone().unwrap_or_default() }
        })
        .await
    }

    /// Records that the pull request was merged on its host, which lands its work.
    ///
    /// # Errors
    /// When the project has no publication.
    pub async fn record_merged_pull_request(&self, id: &ProjectId, merged: MergedPullRequest) -> Result<Project> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let mut published = published(tx, &id).await?;
                let project = projects::read(&mut tx.connection, &id).await?;
                let pull_request = published.pull_request.clone().unwrap_or_default();
                sqlx::query("UPDATE projects SET landed_sha = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&merged.tip)
                    .execute(&mut tx.connection)
                    .await?;
                published.status =
                    Some(PullRequestStatus { state: PullRequestState::Merged, needs_you: None, ..published.status.take().unwrap_or_default() });
                store(tx, &id, &published).await?;
                land::insert_merged(tx, &project, merged, &pull_request, &published.by.to_string()).await?;
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// A person looked: an open pull request is followed again, and a closed one is forgotten.
    ///
    /// # Errors
    /// When the caller is not a person who may work, or there is no pull request that needs one.
    pub async fn settle_pull_request(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("settling a pull request")?;
                let mut published = published(tx, &id).await?;
                let waiting = published.status.as_ref().filter(|status| status.needs_you.is_some());
                let status = waiting.cloned().ok_or_else(|| PublicationRefusal::NothingToSettle { project: id.clone() })?;
                let pull_request = published.pull_request.clone().unwrap_or_default();
                if status.state == PullRequestState::Open {
                    published.status = Some(PullRequestStatus { sent_back: 0, needs_you: None, ..status });
                } else {
                    (published.status, published.pull_request) = (None, None);
                }
                store(tx, &id, &published).await?;
                tx.record_for_project(&caller, &id, ProjectEvent::PullRequestSettled { pull_request });
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    async fn change_pull_request(
        &self,
        id: &ProjectId,
        change: impl FnOnce(&mut Publication, domain::time::Timestamp) -> ProjectEvent + Send + 'static,
    ) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let mut published = published(tx, &id).await?;
                let event = change(&mut published, tx.now);
                store(tx, &id, &published).await?;
                tx.record_for_project(&Caller::Runner, &id, event);
                Ok(())
            })
        })
        .await
    }
}

/// Records the task to which findings came back.
async fn sent_back(tx: &mut Tx, id: &ProjectId, mut published: Publication, seen: Vec<String>, task: &TaskId) -> Result<()> {
    let mut status = published.status.take().unwrap_or_default();
    status.sent_back += 1;
    status.seen.extend(seen);
    status.task = Some(task.clone());
    published.status = Some(status);
    store(tx, id, &published).await?;
    let pull_request = published.pull_request.unwrap_or_default();
    tx.record_for_project(&Caller::Runner, id, ProjectEvent::PullRequestSentBack { pull_request, task: task.clone() });
    Ok(())
}

async fn published(tx: &mut Tx, id: &ProjectId) -> Result<Publication> {
    let published = projects::read(&mut tx.connection, id).await?.published;
    Ok(published.ok_or_else(|| PublicationRefusal::NothingToSettle { project: id.clone() })?)
}
