//! Issues that became tasks. Must not read them from their host.

use domain::board::status::{HeldBy, Status};
use domain::board::task::Task;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::publication::issue::{Issue, IssueRefusal};

use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::board::task::write::{NewTaskRow, insert};
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::engine::open::Db;
use crate::error::Result;
use crate::runs::publication::fields_of;

/// The issue of a project, and those of its merged work that waits to be landed.
pub(crate) const TO_CLOSE: &str = "SELECT issue FROM projects WHERE id = $1 AND issue IS NOT NULL UNION SELECT issue FROM tasks
  WHERE project_id = $1 AND merged_sha IS NOT NULL AND landing_id IS NULL AND status = 'done' AND issue IS NOT NULL ORDER BY issue";

/// The task of an issue.
pub(crate) const OF_ISSUE: &str = "SELECT id FROM tasks WHERE project_id = $1 AND issue = $2 AND status <> 'cancelled' LIMIT 1";

impl Db {
    /// Creates the task of an issue, which is linked to it. It is held until a person starts it, unless `start`.
    ///
    /// # Errors
    /// When the caller is not a person who may work, the project does not exist, or the issue is already a task.
    pub async fn import_issue(&self, caller: &Caller, project: &ProjectId, issue: Issue, start: bool) -> Result<Task> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                caller.require_person("importing an issue")?;
                projects::read(&mut tx.connection, &project).await?;
                let known = sqlx::query_scalar::<_, String>(OF_ISSUE).bind(project.as_str()).bind(&issue.address);
                if let Some(task) = known.fetch_optional(&mut tx.connection).await? {
                    return Err(IssueRefusal::Imported { address: issue.address, task: task.parse::<TaskId>()? }.into());
                }
                let (fields, held_by) = (fields_of(issue.task())?, (!start).then_some(HeldBy::Human));
                let (parent, phase, status, round) = (None, AgentKind::Coder, Status::Backlog, None);
                let id = insert(tx, caller, NewTaskRow { project: project.clone(), parent, fields, phase, status, held_by, round }).await?;
                sqlx::query("UPDATE tasks SET issue = $2 WHERE id = $1").bind(id.as_str()).bind(&issue.address).execute(&mut tx.connection).await?;
                task_changed(tx, caller, &project, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Lists the addresses of the issue of a project, and of those whose merged work waits to be landed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn issues_to_close(&self, project: &ProjectId) -> Result<Vec<String>> {
        let mut connection = self.readers.acquire().await?;
        Ok(sqlx::query_scalar(TO_CLOSE).bind(project.as_str()).fetch_all(&mut *connection).await?)
    }
}
