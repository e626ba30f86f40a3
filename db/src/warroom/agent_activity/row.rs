//! Reads what shows that agents are at work. Must not change anything.

use std::collections::BTreeMap;

use domain::board::planned_files::PlannedFiles;
use domain::id::{ProjectId, TaskId};
use domain::team::agent::Agent;
use domain::time::Timestamp;
use domain::warroom::agent_activity::TaskChange;
use domain::warroom::claim::ClaimPath;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, json, parsed};
use crate::error::Result;

/// The updates of the open tasks of a project `$1` by assignee.
pub(crate) const BY_ASSIGNEE: &str = "SELECT assigned_to, SUM(activity_count) AS updates FROM tasks
  WHERE project_id = $1 AND status IN ('backlog', 'in_progress', 'in_review') AND assigned_to IS NOT NULL
  GROUP BY assigned_to HAVING SUM(activity_count) > 0";
/// The open tasks of a project `$1` that are assigned to the agent `$2`, the last changed one first.
pub(crate) const ASSIGNED: &str = "SELECT id, files, activity_count, updated_at FROM tasks
  WHERE project_id = $1 AND status IN ('backlog', 'in_progress', 'in_review') AND assigned_to = $2 ORDER BY updated_at DESC";
/// The task of the run `$1`, if it is live.
pub(crate) const OF_RUN: &str =
    "SELECT t.id, t.files, t.activity_count, t.updated_at, r.started_at FROM agent_runs r JOIN tasks t ON t.id = r.task_id
  WHERE r.id = $1 AND r.completed_at IS NULL";

/// The tasks of one agent in sum.
#[derive(Debug, Default)]
pub(super) struct TasksOfAgent {
    pub(super) planned: Vec<ClaimPath>,
    pub(super) newest: Option<TaskChange>,
    pub(super) activity_count: u32,
}

pub(crate) async fn by_assignee(connection: &mut SqliteConnection, project: &ProjectId) -> Result<BTreeMap<String, u32>> {
    let rows = sqlx::query(BY_ASSIGNEE).bind(project.as_str()).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get("assigned_to")?, count(row, "updates")?))).collect()
}

/// Reads the task of a managed agent at work, or the open tasks that are assigned to an external one.
pub(super) async fn of_agent(connection: &mut SqliteConnection, agent: &Agent) -> Result<TasksOfAgent> {
    let rows = match &agent.run_id {
        Some(run) => sqlx::query(OF_RUN).bind(run.as_str()).fetch_all(connection).await?,
        None => sqlx::query(ASSIGNED).bind(agent.project_id.as_str()).bind(&agent.name).fetch_all(connection).await?,
    };
    let mut tasks = TasksOfAgent::default();
    for row in &rows {
        let files: PlannedFiles = json(row, "files")?.unwrap_or_default();
        tasks.planned.extend(files.paths().iter().cloned());
        tasks.activity_count = tasks.activity_count.saturating_add(count(row, "activity_count")?);
        if tasks.newest.is_none() {
            tasks.newest = Some(TaskChange { task: parsed(row, "id")?, at: parsed(row, "updated_at")? });
        }
    }
    Ok(tasks)
}

/// Returns the task of a managed agent at work, and when its run started.
pub(super) async fn live_run(connection: &mut SqliteConnection, agent: &Agent) -> Result<Option<(TaskId, Timestamp)>> {
    let Some(run) = &agent.run_id else { return Ok(None) };
    let row = sqlx::query(OF_RUN).bind(run.as_str()).fetch_optional(connection).await?;
    row.map(|row| Ok((parsed(&row, "id")?, parsed(&row, "started_at")?))).transpose()
}
