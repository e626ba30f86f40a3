//! The pull requests of single tasks: which are open, and what came of them. Must not ask their hosts.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::task::event::TaskEvent;
use domain::id::TaskId;
use domain::runs::evidence::{EvidenceResult, Sha};
use domain::runs::publication::pull_request::{PullRequestState, PullRequestStatus};
use domain::runs::publication::task_pull_request::TaskPullRequest;

use crate::board::attention::write as attention;
use crate::board::task::row as tasks;
use crate::board::task::row::wrong_status;
use crate::board::task::write::change::MoveRequest;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The approved tasks whose pull request is open. The index has no other than those in review.
pub(crate) const FOLLOWED: &str = "SELECT t.id FROM tasks t JOIN projects p ON p.id = t.project_id
  WHERE t.status = 'in_review' AND t.pull_request -> 'status' ->> 'state' = 'open' AND t.approved_sha IS NOT NULL
    AND (t.attention IS NULL OR t.attention ->> 'kind' = 'pull_request') AND p.archived_at IS NULL ORDER BY t.id";

impl Db {
    /// Lists the tasks whose pull request their host decides about. The cost grows with these alone.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn tasks_in_pull_requests(&self) -> Result<Vec<TaskId>> {
        let found: Vec<String> = sqlx::query_scalar(FOLLOWED).fetch_all(&self.readers).await?;
        Ok(found.iter().map(|id| id.parse()).collect::<std::result::Result<_, _>>()?)
    }

    /// Returns the address of the issue that a task was made from.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn issue_of(&self, task: &TaskId) -> Result<Option<String>> {
        let found = sqlx::query_scalar("SELECT issue FROM tasks WHERE id = $1").bind(task.as_str()).fetch_optional(&self.readers).await?;
        Ok(found.flatten())
    }

    /// Records that the approved commit was pushed, and is under review as a pull request at `address`. Findings that came back from the same pull
    /// request stay known.
    ///
    /// # Errors
    /// When the task is no longer approved at `sha`.
    pub async fn record_task_pull_request(&self, id: &TaskId, sha: &Sha, branch: &str, address: &str) -> Result<Task> {
        let (id, sha, branch, address) = (id.clone(), sha.clone(), branch.to_owned(), address.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let task = tasks::task(&mut tx.connection, &id).await?;
                if !task.card.is_approved() || task.card.approved_sha.as_ref() != Some(&sha) {
                    return Err(wrong_status(&task.card, "it is no longer approved at this commit", "Read it again.").into());
                }
                let known = task.card.pull_request.filter(|known| known.is_open() && known.address == address);
                let status = known.map_or_else(PullRequestStatus::default, |known| known.status);
                store(tx, &id, &TaskPullRequest { address: address.clone(), branch, sha: sha.clone(), status }).await?;
                let event = TaskEvent::Published { pull_request: address, sha };
                tx.record_for_task(&Caller::Runner, &task.card.project_id, &id, event);
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Sends failed checks and remarks, which are named by `seen`, back to the coder of the task with `reason`.
    ///
    /// # Errors
    /// When the task no longer waits for its pull request.
    pub async fn send_task_pull_request_back(&self, id: &TaskId, seen: Vec<String>, reason: &str) -> Result<Task> {
        let (id, reason) = (id.clone(), reason.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let (task, mut pull_request) = waiting(tx, &id).await?;
                pull_request.status.sent_back += 1;
                pull_request.status.seen.extend(seen);
                store(tx, &id, &pull_request).await?;
                let back = MoveRequest { to: Status::InProgress, reason: Some(reason), merge: false };
                move_task(tx, &Caller::Runner, &task, &back, &EvidenceResult::Nothing).await?;
                task_changed(tx, &Caller::Runner, &task.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Asks a person to look at the open pull request of a task, because its findings came back often enough. They come back again after that.
    ///
    /// # Errors
    /// When the task no longer waits for its pull request.
    pub async fn flag_task_pull_request(&self, id: &TaskId, seen: Vec<String>, detail: &str) -> Result<()> {
        let (id, detail) = (id.clone(), detail.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let (task, mut pull_request) = waiting(tx, &id).await?;
                pull_request.status.sent_back = 0;
                pull_request.status.seen.extend(seen);
                store(tx, &id, &pull_request).await?;
                ask_person(tx, &task, &detail).await
            })
        })
        .await
    }

    /// Records that the pull request of a task was merged on its host, or that someone closed it, so that a person has to look.
    ///
    /// # Errors
    /// When the task no longer waits for its pull request.
    pub async fn end_task_pull_request(&self, id: &TaskId, state: PullRequestState) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let (task, mut pull_request) = waiting(tx, &id).await?;
                pull_request.status.state = state;
                store(tx, &id, &pull_request).await?;
                let address = pull_request.address;
                tx.record_for_task(&Caller::Runner, &task.card.project_id, &id, TaskEvent::PullRequestEnded { pull_request: address.clone(), state });
                if state == PullRequestState::Closed {
                    return ask_person(tx, &task, &format!("Someone closed {address} without merging it. Press Retry to open another one, send the task back with what to change, or cancel it.")).await;
                }
                // The person was asked to look, and merged it.
                attention::clear(tx, &Caller::Runner, &task.card.project_id, &id).await?;
                task_changed(tx, &Caller::Runner, &task.card.project_id, &id).await
            })
        })
        .await
    }
}

/// Reads a task that waits for its pull request.
async fn waiting(tx: &mut Tx, id: &TaskId) -> Result<(Task, TaskPullRequest)> {
    let task = tasks::task(&mut tx.connection, id).await?;
    match task.card.pull_request.clone().filter(|_| task.card.awaits_pull_request()) {
        Some(pull_request) => Ok((task, pull_request)),
        None => Err(wrong_status(&task.card, "it does not wait for a pull request", "Read it again.").into()),
    }
}

async fn ask_person(tx: &mut Tx, task: &Task, detail: &str) -> Result<()> {
    let (project, id) = (&task.card.project_id, &task.card.id);
    attention::request(tx, &Caller::Runner, project, id, Attention::new(AttentionKind::PullRequest, detail)).await?;
    task_changed(tx, &Caller::Runner, project, id).await
}

async fn store(tx: &mut Tx, id: &TaskId, pull_request: &TaskPullRequest) -> Result<()> {
    sqlx::query("UPDATE tasks SET pull_request = $2, updated_at = $3 WHERE id = $1")
        .bind(id.as_str())
        .bind(serde_json::to_string(pull_request)?)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}
