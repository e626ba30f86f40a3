//! Reports: the facts of a period, read in one snapshot. Their cost grows with what happened in the period and with what is open, never with
//! what is finished. Must not judge the facts: `domain` composes the report.

use std::collections::BTreeMap;

use domain::board::report::{Report, ReportFacts, WaitingTask};
use domain::board::status::Status;
use domain::board::task::event::TaskEvent;
use domain::event::{Envelope, Event, Seq};
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::usage::UsageSums;
use domain::time::Timestamp;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use crate::board::attention::row::NEEDING_ATTENTION;
use crate::board::project::row::{self as projects, project_of};
use crate::board::task::row::{CARD, card_of};
use crate::engine::column::parsed;
use crate::engine::event_log;
use crate::engine::open::Db;
use crate::error::Result;
use crate::now;
use crate::runs::usage::row::sums_of;

pub(crate) const WAITING: &str = "SELECT id, project_id, wait_reason FROM tasks
  WHERE status IN ('backlog', 'in_progress', 'in_review') AND wait_reason IS NOT NULL AND attention IS NULL ORDER BY length(id), id";

/// The kept events. One query for both ends would read all that is between them.
pub(crate) const RANGE: &str =
    "SELECT COALESCE((SELECT MIN(seq) FROM events), 1) AS oldest, COALESCE((SELECT MAX(seq) FROM events), 0) + 1 AS beyond";

/// The consumption of the runs that ended after an event, or are live.
pub(crate) const CONSUMED: &str = "SELECT t.project_id, CAST(SUM(r.turns) AS BIGINT) AS turns, CAST(SUM(r.input_tokens) AS BIGINT) AS input_tokens,
    CAST(SUM(r.output_tokens) AS BIGINT) AS output_tokens, CAST(SUM(r.cost_micro_usd) AS BIGINT) AS cost_micro_usd
  FROM agent_runs r JOIN tasks t ON t.id = r.task_id
  WHERE r.id IN (SELECT run_id FROM events WHERE seq >= $1 AND kind = 'run_ended' UNION SELECT id FROM agent_runs WHERE completed_at IS NULL)
  GROUP BY t.project_id";

/// The last comment of a run on a task until a time. It is the reason for which an agent sent the task back, unless the move has one.
pub(crate) const LAST_COMMENT: &str =
    "SELECT content FROM comments WHERE task_id = $1 AND run_id = $2 AND created_at <= $3 ORDER BY length(id) DESC, id DESC LIMIT 1";

impl Db {
    /// Reports on all projects since a time, without the sizes of changes. If events since then were removed, the report begins with the
    /// oldest one that is kept.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn report(&self, since: Timestamp) -> Result<Report> {
        let parked = self.parkings().await?;
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let (first, since) = first_event(&mut snapshot, since).await?;
        let mut events = event_log::of_kinds(&mut snapshot, first, &["task_moved", "project_completed", "project_reopened"], u32::MAX).await?;
        for envelope in &mut events {
            add_reason(&mut snapshot, envelope).await?;
        }
        let projects = sqlx::query(projects::CURRENT).fetch_all(&mut *snapshot).await?;
        let merged = sqlx::query("SELECT project_id FROM finished_sums WHERE status = 'done' AND merged > 0").fetch_all(&mut *snapshot).await?;
        let cards = sqlx::query(AssertSqlSafe(format!("{CARD} {NEEDING_ATTENTION}"))).fetch_all(&mut *snapshot).await?;
        let waiting = sqlx::query(WAITING).fetch_all(&mut *snapshot).await?;
        let consumed = sqlx::query(CONSUMED).bind(first).fetch_all(&mut *snapshot).await?;
        let facts = ReportFacts {
            projects: projects.iter().map(project_of).collect::<Result<_>>()?,
            merged: merged.iter().map(|row| parsed(row, "project_id")).collect::<Result<_>>()?,
            needing_attention: cards.iter().map(card_of).collect::<Result<_>>()?,
            waiting: waiting
                .iter()
                .map(|row| {
                    let reason = serde_json::from_str(row.try_get("wait_reason")?)?;
                    Ok(WaitingTask { id: parsed(row, "id")?, project_id: parsed(row, "project_id")?, reason })
                })
                .collect::<Result<_>>()?,
            tasks: titles(&mut snapshot, &events).await?,
            events,
            parked,
            usage: consumed.iter().map(|row| Ok((parsed(row, "project_id")?, sums_of(row)?))).collect::<Result<BTreeMap<ProjectId, UsageSums>>>()?,
        };
        snapshot.rollback().await?;
        Ok(Report::compose(since, now(), &facts))
    }
}

/// Returns the number of the first event at `since` or later, and the start of the period that the log covers.
///
/// The log is numbered without gaps in the order of time, so a binary search finds the event with few reads and without another index. If
/// the clock was set back, the search ends at one of the events around that moment.
pub(crate) async fn first_event(connection: &mut SqliteConnection, since: Timestamp) -> Result<(Seq, Timestamp)> {
    let range = sqlx::query(RANGE).fetch_one(&mut *connection).await?;
    let oldest: Seq = range.try_get("oldest")?;
    let (mut low, mut high) = (oldest, range.try_get::<Seq, _>("beyond")?);
    while low < high {
        let middle = low + (high - low) / 2;
        if time_of(connection, middle).await?.is_none_or(|at| at < since) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // Number 1 is the start of the board: nothing was removed before it.
    let removed_before = if oldest > 1 { time_of(connection, oldest).await? } else { None };
    Ok((low, removed_before.map_or(since, |oldest| oldest.max(since))))
}

async fn time_of(connection: &mut SqliteConnection, seq: Seq) -> Result<Option<Timestamp>> {
    let row = sqlx::query("SELECT at FROM events WHERE seq = $1").bind(seq).fetch_optional(connection).await?;
    row.as_ref().map(|row| parsed(row, "at")).transpose()
}

/// Adds the reason for which an agent sent a task back, if it wrote it as a comment.
async fn add_reason(connection: &mut SqliteConnection, envelope: &mut Envelope) -> Result<()> {
    let (Some(task), Some(run)) = (&envelope.task_id, &envelope.run_id) else { return Ok(()) };
    if let Event::Task(TaskEvent::Moved { to: Status::InProgress, from: Status::InReview | Status::Done, reason: reason @ None }) =
        &mut envelope.event
    {
        let found = sqlx::query_scalar(LAST_COMMENT).bind(task.as_str()).bind(RunId::as_str(run)).bind(envelope.at.to_string());
        *reason = found.fetch_optional(connection).await?;
    }
    Ok(())
}

/// Reads the titles and the statuses of the tasks that events are about.
async fn titles(connection: &mut SqliteConnection, events: &[Envelope]) -> Result<BTreeMap<TaskId, (String, Status)>> {
    let mut found = BTreeMap::new();
    for id in events.iter().filter_map(|envelope| envelope.task_id.as_ref()) {
        if !found.contains_key(id) {
            let row = sqlx::query("SELECT title, status, phase FROM tasks WHERE id = $1").bind(id.as_str()).fetch_one(&mut *connection).await?;
            // The task of an oracle is never finished for good.
            let phase: AgentKind = parsed(&row, "phase")?;
            if phase == AgentKind::Oracle {
                continue;
            }
            found.insert(id.clone(), (row.try_get("title")?, parsed(&row, "status")?));
        }
    }
    Ok(found)
}
