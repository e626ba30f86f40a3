//! Reading tasks: rows become cards and tasks in this one place.

use domain::board::attention::Attention;
use domain::board::card::{Card, Contributors, CurrentRun};
use domain::board::task::Task;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, RunId, TaskId};
use domain::refusal::Refusal;
use serde::de::DeserializeOwned;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::engine::open::Db;
use crate::error::{Error, Result};

/// Whole tasks, as people and agents see them.
const SELECT: &str = "SELECT t.*,
    (SELECT COUNT(*) FROM comments c WHERE c.task_id = t.id) AS comments,
    (SELECT COUNT(*) FROM agent_runs r WHERE r.task_id = t.id) AS runs,
    (SELECT COALESCE(SUM(r.cost_micro_usd), 0) FROM agent_runs r WHERE r.task_id = t.id) AS cost_micro_usd,
    (SELECT json_group_array(depends_on) FROM (SELECT depends_on FROM dependencies d WHERE d.task_id = t.id ORDER BY depends_on)) AS depends_on,
    (SELECT json_group_array(agent_name) FROM (SELECT agent_name FROM contributions h WHERE h.task_id = t.id AND h.kind = 'built' ORDER BY created_at, id)) AS built_by,
    live.id AS live_id, live.phase AS live_phase, live.attempt AS live_attempt, live.started_at AS live_started_at,
    live.stop_requested_at AS live_stop_requested_at
  FROM tasks t LEFT JOIN agent_runs live ON live.task_id = t.id AND live.completed_at IS NULL";

/// The same without what nothing is planned from: counts, costs, builders, and dependencies of what waits for none any more.
const PLANNED: &str = "SELECT t.*, 0 AS comments, 0 AS runs, 0 AS cost_micro_usd, NULL AS built_by,
    CASE t.status WHEN 'backlog' THEN (SELECT json_group_array(depends_on) FROM dependencies d WHERE d.task_id = t.id) END AS depends_on,
    live.id AS live_id, live.phase AS live_phase, live.attempt AS live_attempt, live.started_at AS live_started_at,
    live.stop_requested_at AS live_stop_requested_at
  FROM tasks t LEFT JOIN agent_runs live ON live.task_id = t.id AND live.completed_at IS NULL";

/// What a settlement asks of cards, and nothing that is long or has to be looked up in another table.
const SETTLED: &str =
    "SELECT t.id, t.project_id, t.parent_task_id, t.title, t.phase, t.status, t.held_by, t.attention, NULL AS wait_reason, t.cancel_reason,
    CASE t.status WHEN 'backlog' THEN (SELECT json_group_array(depends_on) FROM dependencies d WHERE d.task_id = t.id) END AS depends_on,
    0 AS priority, NULL AS approved_sha, t.assigned_to, NULL AS role_hat, NULL AS built_by, NULL AS approved_by, t.verified_by, t.goal_id,
    t.round_of, t.round, NULL AS live_id, 0 AS comments, 0 AS runs, 0 AS cost_micro_usd, t.created_at, t.updated_at
  FROM tasks t";

impl Db {
    /// # Errors
    /// When there is no such task.
    pub async fn task(&self, id: &TaskId) -> Result<Task> {
        let mut connection = self.readers.acquire().await?;
        task(&mut connection, id).await
    }

    /// # Errors
    /// When there is no such task.
    pub async fn card(&self, id: &TaskId) -> Result<Card> {
        let mut connection = self.readers.acquire().await?;
        card(&mut connection, id).await
    }
}

async fn row(connection: &mut SqliteConnection, id: &TaskId) -> Result<SqliteRow> {
    sqlx::query(AssertSqlSafe(format!("{SELECT} WHERE t.id = $1")))
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?
        .ok_or_else(|| Error::Refused(Refusal::not_found("task", id)))
}

pub(crate) async fn card(connection: &mut SqliteConnection, id: &TaskId) -> Result<Card> {
    card_of(&row(connection, id).await?)
}

pub(crate) async fn task(connection: &mut SqliteConnection, id: &TaskId) -> Result<Task> {
    task_of(&row(connection, id).await?)
}

/// Every task of a project, in the order of their ids.
async fn rows_of_project(connection: &mut SqliteConnection, select: &str, project: &ProjectId) -> Result<Vec<SqliteRow>> {
    Ok(sqlx::query(AssertSqlSafe(format!("{select} WHERE t.project_id = $1 ORDER BY length(t.id), t.id")))
        .bind(project.as_str())
        .fetch_all(connection)
        .await?)
}

pub(crate) async fn cards_of_project(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<Card>> {
    rows_of_project(connection, SELECT, project).await?.iter().map(card_of).collect()
}

/// The tasks of a project for the runner's plan. Their cards count nothing and name no builders.
pub(crate) async fn planned_rows(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<SqliteRow>> {
    rows_of_project(connection, PLANNED, project).await
}

/// The cards of a project as far as others may follow from them: where they stand, what they wait for, belong to and need.
pub(crate) async fn cascade_cards(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<Card>> {
    rows_of_project(connection, SETTLED, project).await?.iter().map(card_of).collect()
}

/// A column that holds an id or a word of a closed vocabulary, or nothing.
pub(crate) fn optional<T>(row: &SqliteRow, column: &str) -> Result<Option<T>>
where
    T: std::str::FromStr,
    Error: From<T::Err>,
{
    Ok(row.try_get::<Option<&str>, _>(column)?.map(str::parse).transpose()?)
}

/// A column that holds an id, a time or a word of a closed vocabulary.
pub(crate) fn parsed<T>(row: &SqliteRow, column: &str) -> Result<T>
where
    T: std::str::FromStr,
    Error: From<T::Err>,
{
    Ok(row.try_get::<&str, _>(column)?.parse()?)
}

/// A column that holds JSON, or nothing.
pub(crate) fn json<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> Result<Option<T>> {
    row.try_get::<Option<&str>, _>(column)?.map(|text| Ok(serde_json::from_str(text)?)).transpose()
}

/// A column that counts something.
pub(crate) fn count(row: &SqliteRow, column: &str) -> Result<u32> {
    Ok(u32::try_from(row.try_get::<i64, _>(column)?).unwrap_or_default())
}

pub(crate) fn card_of(row: &SqliteRow) -> Result<Card> {
    let run = match optional::<RunId>(row, "live_id")? {
        None => None,
        Some(id) => Some(CurrentRun {
            id,
            phase: parsed(row, "live_phase")?,
            attempt: count(row, "live_attempt")?,
            started_at: parsed(row, "live_started_at")?,
            stopping: row.try_get::<Option<&str>, _>("live_stop_requested_at")?.is_some(),
        }),
    };
    Ok(Card {
        id: parsed(row, "id")?,
        project_id: parsed(row, "project_id")?,
        parent_task_id: optional(row, "parent_task_id")?,
        title: row.try_get("title")?,
        phase: parsed(row, "phase")?,
        status: parsed(row, "status")?,
        held_by: optional(row, "held_by")?,
        attention: json::<Attention>(row, "attention")?,
        wait_reason: json::<WaitReason>(row, "wait_reason")?,
        cancel_reason: optional(row, "cancel_reason")?,
        depends_on: json(row, "depends_on")?.unwrap_or_default(),
        priority: row.try_get("priority")?,
        approved_sha: row.try_get("approved_sha")?,
        contributors: Contributors {
            assigned_to: row.try_get("assigned_to")?,
            role_hat: optional(row, "role_hat")?,
            built_by: json(row, "built_by")?.unwrap_or_default(),
            approved_by: row.try_get("approved_by")?,
            verified_by: row.try_get("verified_by")?,
        },
        goal_id: optional(row, "goal_id")?,
        round_of: optional(row, "round_of")?,
        round: row.try_get::<Option<i64>, _>("round")?.and_then(|round| u32::try_from(round).ok()),
        run,
        comments: count(row, "comments")?,
        runs: count(row, "runs")?,
        cost_micro_usd: row.try_get("cost_micro_usd")?,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
    })
}

pub(crate) fn task_of(row: &SqliteRow) -> Result<Task> {
    Ok(Task {
        card: card_of(row)?,
        description: row.try_get("description")?,
        worktree_path: row.try_get("worktree_path")?,
        branch: row.try_get("branch")?,
        session_id: row.try_get("session_id")?,
        model: row.try_get("model")?,
        merged_sha: row.try_get("merged_sha")?,
        review_rounds: count(row, "review_rounds")?,
        created_by: row.try_get("created_by")?,
        result: row.try_get("result")?,
        completed_at: optional(row, "completed_at")?,
        verified_at: optional(row, "verified_at")?,
    })
}
