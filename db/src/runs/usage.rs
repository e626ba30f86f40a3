//! Usage of agents: the sums of a project, and what ended turns showed about models.

pub(crate) mod row;
pub(crate) mod write;

use std::collections::BTreeMap;
use std::time::Duration;

use domain::id::ProjectId;
use domain::runs::limit::{LimitScope, Limits};
use domain::runs::usage::{ModelInfo, Price, UsageSums};
use domain::wire::{DayUsage, KindUsage, ProjectUsage, TaskUsage};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Row, SqliteConnection};

use crate::board::project::row as projects;
use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::now;
use crate::runs::usage::row::{SPENT_ON_DAY, sums_of};

pub(crate) const BY_KIND: &str = "SELECT phase, turns, input_tokens, output_tokens, cost_micro_usd FROM usage_by_kind WHERE project_id = $1";

pub(crate) const BY_DAY: &str = "SELECT day, CAST(SUM(turns) AS BIGINT) AS turns, CAST(SUM(input_tokens) AS BIGINT) AS input_tokens,
       CAST(SUM(output_tokens) AS BIGINT) AS output_tokens, CAST(SUM(cost_micro_usd) AS BIGINT) AS cost_micro_usd
     FROM usage_by_day WHERE project_id = $1 GROUP BY day ORDER BY day DESC LIMIT 30";

pub(crate) const BY_TASK: &str = "SELECT id, title, cost_micro_usd, tokens FROM tasks WHERE project_id = $1 AND tokens > 0
  ORDER BY cost_micro_usd DESC, tokens DESC LIMIT 20";

/// A younger run says too little about its pace.
const MIN_PACE: Duration = Duration::from_secs(60);

/// The cost of all agents, in millionths of a US dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spending {
    pub today_micro_usd: i64,
    /// The cost of an hour if the live runs go on as since their start.
    pub per_hour_micro_usd: i64,
}

impl Db {
    /// Returns what the agents of a project consumed, and how much of the limits is used.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn usage(&self, id: &ProjectId, limits: &Limits) -> Result<ProjectUsage> {
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let project = projects::read(&mut snapshot, id).await?;
        let kinds = sqlx::query(BY_KIND).bind(id.as_str()).fetch_all(&mut *snapshot).await?;
        let by_kind = kinds.iter().map(|row| Ok(KindUsage { phase: parsed(row, "phase")?, sums: sums_of(row)? })).collect::<Result<Vec<_>>>()?;
        let days = sqlx::query(BY_DAY).bind(id.as_str()).fetch_all(&mut *snapshot).await?;
        let by_day = days.iter().map(|row| Ok(DayUsage { day: row.try_get("day")?, sums: sums_of(row)? })).collect::<Result<_>>()?;
        let tasks = sqlx::query(BY_TASK).bind(id.as_str()).fetch_all(&mut *snapshot).await?;
        let by_task = tasks.iter().map(task_usage).collect::<Result<_>>()?;
        let today = now().day();
        let spent_today = sums_of(&sqlx::query(SPENT_ON_DAY).bind(&today).fetch_one(&mut *snapshot).await?)?;
        let raised = raises(&mut snapshot, LimitScope::Project, id.as_str()).await?;
        let raised_today = raises(&mut snapshot, LimitScope::Day, &today).await?;
        snapshot.rollback().await?;
        let total = by_kind.iter().fold(UsageSums::default(), |sum, kind| sum.plus(kind.sums));
        let budget = limits.of_project(total, project.budget_micro_usd, raised);
        Ok(ProjectUsage { total, budget, today: limits.of_day(spent_today, raised_today), by_kind, by_day, by_task })
    }

    /// Returns what all agents cost today, and in an hour at the pace of those at work.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn spending(&self) -> Result<Spending> {
        let today = sums_of(&sqlx::query(SPENT_ON_DAY).bind(now().day()).fetch_one(&self.readers).await?)?;
        let live = sqlx::query("SELECT cost_micro_usd, started_at FROM agent_runs WHERE completed_at IS NULL").fetch_all(&self.readers).await?;
        let mut per_hour_micro_usd = 0;
        for row in &live {
            let at_work = now().since(parsed(row, "started_at")?).max(MIN_PACE);
            let millis = i64::try_from(at_work.as_millis()).unwrap_or(i64::MAX);
            per_hour_micro_usd += row.try_get::<i64, _>("cost_micro_usd")?.saturating_mul(3_600_000) / millis;
        }
        Ok(Spending { today_micro_usd: today.cost_micro_usd, per_hour_micro_usd })
    }

    /// Returns what is known about models, by model.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn models(&self) -> Result<BTreeMap<String, ModelInfo>> {
        let rows = sqlx::query("SELECT model, price, context_window FROM models").fetch_all(&self.readers).await?;
        let info = |row: &SqliteRow| -> Result<_> {
            let price: Option<i64> = row.try_get("price")?;
            Ok((row.try_get("model")?, ModelInfo { price: price.map(Price::new), context_window: row.try_get("context_window")? }))
        };
        rows.iter().map(info).collect()
    }

    /// Stores what a turn showed about its models, for the estimates of later turns. Missing facts keep their stored values.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn record_models(&self, models: BTreeMap<String, ModelInfo>) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::UsageSamples);
                for (model, info) in models {
                    sqlx::query(
                        "INSERT INTO models (model, price, context_window) VALUES ($1, $2, $3) ON CONFLICT (model) DO UPDATE SET
                           price = COALESCE(excluded.price, price), context_window = COALESCE(excluded.context_window, context_window)",
                    )
                    .bind(model)
                    .bind(info.price.map(Price::micro_usd_per_million))
                    .bind(info.context_window)
                    .execute(&mut tx.connection)
                    .await?;
                }
                Ok(())
            })
        })
        .await
    }
}

async fn raises(connection: &mut SqliteConnection, scope: LimitScope, subject: &str) -> Result<u32> {
    let raises: Option<i64> = sqlx::query_scalar("SELECT raises FROM limit_states WHERE scope = $1 AND subject = $2")
        .bind(scope.as_str())
        .bind(subject)
        .fetch_optional(connection)
        .await?;
    Ok(raises.and_then(|raises| u32::try_from(raises).ok()).unwrap_or_default())
}

fn task_usage(row: &SqliteRow) -> Result<TaskUsage> {
    Ok(TaskUsage {
        task_id: parsed(row, "id")?,
        title: row.try_get("title")?,
        cost_micro_usd: row.try_get("cost_micro_usd")?,
        tokens: row.try_get("tokens")?,
    })
}
