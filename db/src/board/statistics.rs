//! Statistics of a project: sums that every write keeps. A reading costs as many rows as its period has days and kinds of agents.

use std::collections::BTreeMap;

use domain::board::statistics::{DayStatistics, ProjectStatistics, first_day};
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use sqlx::{Connection, Row};

use crate::board::project::row as projects;
use crate::engine::column::{count, parsed};
use crate::engine::open::Db;
use crate::error::Result;
use crate::now;
use crate::runs::usage::row::sums_of;

pub(crate) const CONSUMED: &str = "SELECT day, phase, turns, input_tokens, output_tokens, cost_micro_usd FROM usage_by_day
  WHERE project_id = $1 AND day >= $2";

pub(crate) const FINISHED: &str = "SELECT day, phase, tasks, timed, cycle_ms, wait_ms FROM finished_by_day WHERE project_id = $1 AND day >= $2";

impl Db {
    /// Returns what each kind of agent consumed and finished on each of the last `days` days.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn statistics(&self, id: &ProjectId, days: u32) -> Result<ProjectStatistics> {
        let (now, since) = (now(), first_day(now(), days));
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        projects::read(&mut snapshot, id).await?;
        let mut found: BTreeMap<(String, AgentKind), DayStatistics> = BTreeMap::new();
        for row in &sqlx::query(CONSUMED).bind(id.as_str()).bind(&since).fetch_all(&mut *snapshot).await? {
            let (day, phase): (String, AgentKind) = (row.try_get("day")?, parsed(row, "phase")?);
            let known = found.entry((day.clone(), phase)).or_insert_with(|| DayStatistics::of(day, phase));
            known.usage = sums_of(row)?;
        }
        for row in &sqlx::query(FINISHED).bind(id.as_str()).bind(&since).fetch_all(&mut *snapshot).await? {
            let (day, phase): (String, AgentKind) = (row.try_get("day")?, parsed(row, "phase")?);
            let known = found.entry((day.clone(), phase)).or_insert_with(|| DayStatistics::of(day, phase));
            (known.finished, known.timed) = (count(row, "tasks")?, count(row, "timed")?);
            known.cycle_seconds = row.try_get::<i64, _>("cycle_ms")? / 1000;
            known.wait_seconds = row.try_get::<i64, _>("wait_ms")? / 1000;
        }
        snapshot.rollback().await?;
        Ok(ProjectStatistics { since, until: now.day(), days: found.into_values().collect() })
    }
}
