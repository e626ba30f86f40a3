//! Summaries of all projects, read in one snapshot. The cost grows with the projects and with what is open, never with what is finished.

use std::collections::BTreeMap;

use domain::board::project::summary::{AgentAtWork, LastEvent, ProjectSummary, TaskCounts};
use domain::board::status::Status;
use domain::event::sentence::{DETAILS, sentence};
use domain::id::ProjectId;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use crate::board::needs_you::row as needs_you;
use crate::board::project::row;
use crate::caller::Caller;
use crate::engine::column::{count, parsed};
use crate::engine::event_log;
use crate::engine::open::Db;
use crate::error::Result;

/// The open tasks of a project.
pub(crate) const OPEN: &str = "SELECT t.status, t.attention IS NOT NULL AS needs_you, live.id IS NOT NULL AS is_at_work,
    t.status = 'backlog' AND COALESCE(t.held_by, '') = 'plan' AS is_planned, COUNT(*) AS total
  FROM tasks t LEFT JOIN agent_runs live ON live.task_id = t.id AND live.completed_at IS NULL
  WHERE t.project_id = $1 AND t.status IN ('backlog', 'in_progress', 'in_review') GROUP BY 1, 2, 3, 4";

pub(crate) const DONE: &str = "SELECT project_id, total FROM finished_sums WHERE status = 'done'";

pub(crate) const COSTS: &str = "SELECT project_id, CAST(SUM(cost_micro_usd) AS BIGINT) AS cost_micro_usd FROM usage_by_kind GROUP BY project_id";

pub(crate) const AT_WORK: &str = "SELECT t.project_id, r.id, r.task_id, t.title, r.phase, r.started_at
  FROM agent_runs r JOIN tasks t ON t.id = r.task_id WHERE r.completed_at IS NULL ORDER BY r.started_at, r.id";

/// How many events are read to find the last one that is worth telling.
const NEWEST_EVENTS: i64 = 200;

/// The number of the newest event of project `$1` that is not a detail, among its newest `$2`.
pub(crate) fn last_event_sql() -> String {
    let details: Vec<String> = DETAILS.iter().map(|kind| format!("'{kind}'")).collect();
    format!(
        "SELECT seq FROM (SELECT seq, kind FROM events WHERE project_id = $1 ORDER BY seq DESC LIMIT $2) AS newest
         WHERE kind NOT IN ({}) ORDER BY seq DESC LIMIT 1",
        details.join(", ")
    )
}

impl Db {
    /// Summarizes the current projects for a list, or the archived ones, newest first. The number of items that need the human depends on the
    /// caller.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn project_summaries(&self, caller: &Caller, archived: bool) -> Result<Vec<ProjectSummary>> {
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let needs_you = needs_you::read(&mut snapshot, caller).await?;
        let mut summaries = Vec::new();
        for found in &sqlx::query(if archived { row::ARCHIVED } else { row::CURRENT }).fetch_all(&mut *snapshot).await? {
            let project = row::project_of(found)?;
            summaries.push(ProjectSummary {
                needs_you: needs_you.count(&project.id),
                last_event: last_event(&mut snapshot, &project.id, caller).await?,
                tasks: TaskCounts::default(),
                agents: Vec::new(),
                planned_tasks: 0,
                cost_micro_usd: 0,
                ready_to_land: None,
                project,
            });
        }
        for summary in &mut summaries {
            for found in &sqlx::query(OPEN).bind(summary.project.id.as_str()).fetch_all(&mut *snapshot).await? {
                let total = count(found, "total")?;
                summary.tasks.add(parsed(found, "status")?, found.try_get("needs_you")?, found.try_get("is_at_work")?, total);
                summary.planned_tasks += if found.try_get("is_planned")? { total } else { 0 };
            }
        }
        let mut by_project: BTreeMap<ProjectId, &mut ProjectSummary> =
            summaries.iter_mut().map(|summary| (summary.project.id.clone(), summary)).collect();
        for found in &sqlx::query(DONE).fetch_all(&mut *snapshot).await? {
            let Some(summary) = by_project.get_mut(&parsed(found, "project_id")?) else { continue };
            summary.tasks.add(Status::Done, false, false, count(found, "total")?);
        }
        for found in &sqlx::query(COSTS).fetch_all(&mut *snapshot).await? {
            let Some(summary) = by_project.get_mut(&parsed(found, "project_id")?) else { continue };
            summary.cost_micro_usd = found.try_get("cost_micro_usd")?;
        }
        for found in &sqlx::query(AT_WORK).fetch_all(&mut *snapshot).await? {
            let Some(summary) = by_project.get_mut(&parsed(found, "project_id")?) else { continue };
            summary.agents.push(AgentAtWork {
                run_id: parsed(found, "id")?,
                task_id: parsed(found, "task_id")?,
                title: found.try_get("title")?,
                phase: parsed(found, "phase")?,
                started_at: parsed(found, "started_at")?,
            });
        }
        for found in &sqlx::query(needs_you::TO_LAND).fetch_all(&mut *snapshot).await? {
            let Some(summary) = by_project.get_mut(&parsed(found, "project_id")?) else { continue };
            summary.ready_to_land = Some(count(found, "tasks")?).filter(|_| summary.project.has_unlanded_work(true));
        }
        snapshot.rollback().await?;
        Ok(summaries)
    }
}

async fn last_event(connection: &mut SqliteConnection, project: &ProjectId, caller: &Caller) -> Result<Option<LastEvent>> {
    let seq: Option<i64> =
        sqlx::query_scalar(AssertSqlSafe(last_event_sql())).bind(project.as_str()).bind(NEWEST_EVENTS).fetch_optional(&mut *connection).await?;
    let Some(seq) = seq else { return Ok(None) };
    let found = event_log::page(connection, seq - 1, Some(project), 1).await?;
    Ok(found.first().map(|envelope| LastEvent { seq, at: envelope.at, sentence: sentence(envelope, &caller.actor()) }))
}
