//! Following the base branch: what was merged from it, and the task that brings conflicting changes together. Must not read the repository.

use domain::board::project::ProjectEvent;
use domain::board::status::Status;
use domain::board::task::TaskFields;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::base::FetchProblem;
use domain::runs::evidence::Sha;

use crate::board::project::row as projects;
use crate::board::task::write::{NewTaskRow, insert};
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::branch::write as branch;

/// The task that brings the base branch and the project branch together, while it is open.
pub(crate) const OPEN_SYNC_TASK: &str = "SELECT t.id FROM projects p JOIN tasks t ON t.id = p.sync_task_id
  WHERE p.id = $1 AND t.status IN ('backlog', 'in_progress', 'in_review')";

/// Priority of a sync task: the longer it waits, the more conflicts.
const PRIORITY: i64 = 1;

/// A merge of the base branch, or of its upstream, into the project branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseMerge {
    /// The tip of the project branch before, as it was recorded.
    pub from: Sha,
    /// The name and the tip of the project branch afterwards.
    pub branch: String,
    pub head: Sha,
    pub base_branch: String,
    /// The merged tip.
    pub sha: Sha,
}

impl Db {
    /// Records that the project branch holds what its base gained. Nothing waits to be landed that did not wait before.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn record_base_merge(&self, id: &ProjectId, merge: BaseMerge) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                if projects::read(&mut tx.connection, &id).await?.integration_head.as_ref() != Some(&merge.from) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                branch::record_tip(tx, &Caller::Runner, &id, &merge.branch, &merge.head).await?;
                sqlx::query("UPDATE projects SET landed_sha = $3 WHERE id = $1 AND landed_sha = $2")
                    .bind(id.as_str())
                    .bind(&merge.from)
                    .bind(&merge.head)
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_for_project(&Caller::Runner, &id, ProjectEvent::BaseMerged { base_branch: merge.base_branch, sha: merge.sha });
                Ok(())
            })
        })
        .await
    }

    /// Records that the upstream of the base branch cannot be fetched, or that it can again. A problem that goes on is recorded once.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn record_fetch(&self, id: &ProjectId, problem: Option<&str>) -> Result<()> {
        let (id, problem) = (id.clone(), problem.map(str::to_owned));
        self.write(move |tx| {
            Box::pin(async move {
                let project = projects::read(&mut tx.connection, &id).await?;
                if project.fetch_problem.is_some() == problem.is_some() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let (base_branch, since) = (project.base_branch, tx.now);
                let problem = problem.map(|detail| FetchProblem { base_branch: base_branch.clone(), detail, since });
                sqlx::query("UPDATE projects SET fetch_problem = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(problem.as_ref().map(serde_json::to_string).transpose()?)
                    .execute(&mut tx.connection)
                    .await?;
                let event = match problem {
                    Some(FetchProblem { base_branch, detail, .. }) => ProjectEvent::BaseNotFetched { base_branch, detail },
                    None => ProjectEvent::BaseFetched { base_branch },
                };
                tx.record_for_project(&Caller::Runner, &id, event);
                Ok(())
            })
        })
        .await
    }

    /// Creates the task that brings the base at `sha` and the project branch together, unless one is open or there was one for this tip.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn create_sync_task(&self, id: &ProjectId, sha: &Sha, title: &str, description: &str) -> Result<Option<TaskId>> {
        let (id, sha, title, description) = (id.clone(), sha.clone(), title.to_owned(), description.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let open: Option<String> = sqlx::query_scalar(OPEN_SYNC_TASK).bind(id.as_str()).fetch_optional(&mut tx.connection).await?;
                let last: Option<String> =
                    sqlx::query_scalar("SELECT sync_sha FROM projects WHERE id = $1").bind(id.as_str()).fetch_one(&mut tx.connection).await?;
                // A person who cancelled it does not want it.
                if open.is_some() || last.as_ref() == Some(&sha) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(None);
                }
                let row = NewTaskRow {
                    project: id.clone(),
                    parent: None,
                    fields: TaskFields { title, description: Some(description), priority: PRIORITY, ..TaskFields::default() },
                    phase: AgentKind::Coder,
                    status: Status::Backlog,
                    held_by: None,
                    round: None,
                };
                let task = insert(tx, &Caller::Runner, row).await?;
                sqlx::query("UPDATE projects SET sync_task_id = $2, sync_sha = $3 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(task.as_str())
                    .bind(&sha)
                    .execute(&mut tx.connection)
                    .await?;
                task_changed(tx, &Caller::Runner, &id, &task).await?;
                Ok(Some(task))
            })
        })
        .await
    }

    /// Returns the open task that brings the base branch and the project branch together.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open_sync_task(&self, id: &ProjectId) -> Result<Option<TaskId>> {
        let found: Option<String> = sqlx::query_scalar(OPEN_SYNC_TASK).bind(id.as_str()).fetch_optional(&self.readers).await?;
        Ok(found.map(|id| id.parse()).transpose()?)
    }
}
