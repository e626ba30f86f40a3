//! Reads tasks: rows become cards and tasks only here. Must not change anything.

pub(crate) mod mover;

use domain::board::attention::Attention;
use domain::board::card::{Card, Contributors, CurrentRun};
use domain::board::task::Task;
use domain::board::task::refusal::TaskRefusal;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, RunId, TaskId};
use domain::refusal::Refusal;
use futures_util::{StreamExt, TryStreamExt};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::engine::column::{count, json, lines, optional, parsed};
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::{Error, Result};
use crate::team::agent::row::context_use;

/// Columns of a card in its own row.
macro_rules! own_columns {
    () => {
        "t.id, t.project_id, t.parent_task_id, t.title, t.phase, t.status, t.held_by, t.attention, t.wait_reason, t.cancel_reason,
    t.priority, t.position, t.approved_sha, t.assigned_to, t.role_hat, t.approved_by, t.verified_by, t.goal_id, t.round_of, t.round, t.created_at,
    t.updated_at, t.cost_micro_usd, t.tokens, t.near_limit, t.protected_paths, t.checks, t.preview,
    t.pull_request, t.activity_count, t.old"
    };
}

/// Columns of a card from other tables. Names of agents contain no line break.
macro_rules! joined_columns {
    () => {
        ", (SELECT COUNT(*) FROM comments c WHERE c.task_id = t.id) AS comments,
    (SELECT COUNT(*) FROM agent_runs r WHERE r.task_id = t.id) AS runs,
    (SELECT string_agg(d.depends_on, '\n' ORDER BY d.depends_on) FROM dependencies d WHERE d.task_id = t.id) AS depends_on,
    (SELECT string_agg(h.agent_name, '\n' ORDER BY h.created_at, h.id) FROM contributions h
       WHERE h.task_id = t.id AND h.kind = 'built') AS built_by"
    };
}

/// Long columns that only a task shows.
macro_rules! task_columns {
    () => {
        ", t.description, t.model, t.worktree_path, t.branch, t.session_id, t.merged_sha, t.review_rounds, t.files, t.created_by, t.result,
    t.completed_at, t.verified_at, t.from_branch"
    };
}

macro_rules! with_live_run {
    () => {
        ", live.id AS live_id, live.phase AS live_phase, live.attempt AS live_attempt, live.started_at AS live_started_at,
    live.stop_requested_at AS live_stop_requested_at, live.port AS live_port, live.context_tokens AS live_context_tokens,
    live.context_limit AS live_context_limit
  FROM tasks t LEFT JOIN agent_runs live ON live.task_id = t.id AND live.completed_at IS NULL "
    };
}

/// Complete cards, as people and agents see them.
pub(crate) const CARD: &str = concat!("SELECT ", own_columns!(), joined_columns!(), with_live_run!());

const TASK: &str = concat!("SELECT ", own_columns!(), task_columns!(), joined_columns!(), with_live_run!());

/// Tasks for the schedule: without counts and builders, and with dependencies only while they wait.
pub(crate) const SCHEDULED: &str = concat!(
    "SELECT ",
    own_columns!(),
    task_columns!(),
    ", t.submitted_sha, t.repeated_rounds, t.failures, t.last_failure, t.retry_at, 0 AS comments, 0 AS runs, NULL AS built_by,
    CASE t.status WHEN 'backlog' THEN (SELECT string_agg(d.depends_on, '\n' ORDER BY d.depends_on) FROM dependencies d WHERE d.task_id = t.id)
    END AS depends_on",
    with_live_run!()
);

/// Cards without the columns from other tables.
const OUTLINE: &str =
    concat!("SELECT ", own_columns!(), ", NULL AS depends_on, NULL AS built_by, NULL AS live_id, 0 AS comments, 0 AS runs FROM tasks t ");

impl Db {
    /// # Errors
    /// When the task does not exist.
    pub async fn task(&self, id: &TaskId) -> Result<Task> {
        let mut connection = self.readers.acquire().await?;
        task(&mut connection, id).await
    }

    /// # Errors
    /// When the task does not exist.
    pub async fn card(&self, id: &TaskId) -> Result<Card> {
        let mut connection = self.readers.acquire().await?;
        card(&mut connection, id).await
    }
}

async fn row(connection: &mut SqliteConnection, select: &str, id: &TaskId) -> Result<SqliteRow> {
    sqlx::query(AssertSqlSafe(format!("{select} WHERE t.id = $1")))
        .bind(id.as_str())
        .fetch_optional(connection)
        .await?
        .ok_or_else(|| Error::Refused(Refusal::not_found("task", id)))
}

pub(crate) async fn card(connection: &mut SqliteConnection, id: &TaskId) -> Result<Card> {
    card_of(&row(connection, CARD, id).await?)
}

pub(crate) async fn task(connection: &mut SqliteConnection, id: &TaskId) -> Result<Task> {
    task_of(&row(connection, TASK, id).await?)
}

/// Reads complete cards. `condition` is constant SQL that compares a column with `$1`.
pub(crate) async fn cards(connection: &mut SqliteConnection, condition: &str, value: &str) -> Result<Vec<Card>> {
    let query = sqlx::query(AssertSqlSafe(format!("{CARD} {condition}"))).bind(value);
    // A row takes several times the memory of its card, so thousands are not collected first.
    query.fetch(connection).map(|row| card_of(&row?)).try_collect().await
}

/// Reads complete tasks like [`cards`].
pub(crate) async fn tasks(connection: &mut SqliteConnection, condition: &str, value: &str) -> Result<Vec<Task>> {
    let found = sqlx::query(AssertSqlSafe(format!("{TASK} {condition}"))).bind(value).fetch_all(connection).await?;
    found.iter().map(task_of).collect()
}

/// Reads cards without dependencies, counts and builders, which is enough to decide on consequences.
pub(crate) async fn outlines(connection: &mut SqliteConnection, condition: &str, value: &str) -> Result<Vec<Card>> {
    let found = sqlx::query(AssertSqlSafe(format!("{OUTLINE} {condition}"))).bind(value).fetch_all(connection).await?;
    found.iter().map(card_of).collect()
}

/// Reads one card like [`outlines`].
pub(crate) async fn outline(connection: &mut SqliteConnection, id: &TaskId) -> Result<Card> {
    card_of(&row(connection, OUTLINE, id).await?)
}

pub(crate) async fn project_of_task(connection: &mut SqliteConnection, id: &TaskId) -> Result<ProjectId> {
    let found: Option<String> = sqlx::query_scalar("SELECT project_id FROM tasks WHERE id = $1").bind(id.as_str()).fetch_optional(connection).await?;
    Ok(found.ok_or_else(|| Refusal::not_found("task", id))?.parse()?)
}

/// Refuses a task of another project.
pub(crate) async fn in_project(tx: &mut Tx, project: &ProjectId, task: &TaskId) -> Result<()> {
    if project_of_task(&mut tx.connection, task).await? == *project {
        return Ok(());
    }
    Err(Refusal::not_found("task", task).into())
}

/// Lists the open tasks that are assigned to an agent.
pub(crate) async fn open_tasks_of(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<Vec<Card>> {
    let ids: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM tasks WHERE project_id = $1 AND assigned_to = $2 AND status IN ('backlog', 'in_progress', 'in_review') ORDER BY length(id), id",
    )
    .bind(project.as_str())
    .bind(name)
    .fetch_all(&mut tx.connection)
    .await?;
    let mut cards = Vec::with_capacity(ids.len());
    for id in &ids {
        cards.push(card(&mut tx.connection, &id.parse::<TaskId>()?).await?);
    }
    Ok(cards)
}

/// Creates the refusal of an action that the status of a task does not allow.
pub(crate) fn wrong_status(card: &Card, problem: &str, hint: &str) -> TaskRefusal {
    TaskRefusal::WrongStatus { task: card.id.clone(), status: card.status, problem: problem.to_owned(), hint: hint.to_owned() }
}

/// Creates the refusal of an action while a person works in the worktree of a task.
pub(crate) fn taken_over(card: &Card) -> TaskRefusal {
    wrong_status(card, "a person has taken it over", "Give it back first.")
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
            port: row.try_get::<Option<i64>, _>("live_port")?.and_then(|port| u16::try_from(port).ok()),
            low_context: context_use(row, "live_context_tokens", "live_context_limit")?.and_then(|left| left.condition().unless_healthy()),
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
        depends_on: lines(row, "depends_on")?.map(str::parse).collect::<Result<_, _>>()?,
        priority: row.try_get("priority")?,
        position: row.try_get("position")?,
        approved_sha: row.try_get("approved_sha")?,
        contributors: Contributors {
            assigned_to: row.try_get("assigned_to")?,
            role_hat: optional(row, "role_hat")?,
            built_by: lines(row, "built_by")?.map(str::to_owned).collect(),
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
        tokens: row.try_get("tokens")?,
        near_limit: json(row, "near_limit")?,
        protected_paths: json(row, "protected_paths")?,
        checks: json(row, "checks")?.unwrap_or_default(),
        preview: json(row, "preview")?,
        pull_request: json(row, "pull_request")?,
        activity_count: count(row, "activity_count")?,
        old: optional(row, "old")?,
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
        files: json(row, "files")?.unwrap_or_default(),
        created_by: row.try_get("created_by")?,
        result: row.try_get("result")?,
        completed_at: optional(row, "completed_at")?,
        verified_at: optional(row, "verified_at")?,
        from_branch: row.try_get("from_branch")?,
    })
}
