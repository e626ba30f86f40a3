//! The rows of the event log. Must not know what an event means.

use domain::event::{Envelope, Event, Seq};
use domain::id::{ProjectId, RunId, TaskId};
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::error::Result;

/// The content of an event's payload column.
#[derive(Serialize, Deserialize)]
pub(crate) struct Payload<E, C, P> {
    pub(crate) event: E,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) card: Option<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<P>,
}

/// Reads at most `limit` events after `seq`, of one project (with those that belong to no project) or of all.
pub(crate) async fn page(connection: &mut SqliteConnection, seq: Seq, project: Option<&ProjectId>, limit: u32) -> Result<Vec<Envelope>> {
    let rows = sqlx::query(
        "SELECT seq, at, project_id, task_id, run_id, actor, payload FROM events
         WHERE seq > $1 AND ($2 IS NULL OR project_id IS NULL OR project_id = $2) ORDER BY seq LIMIT $3",
    )
    .bind(seq)
    .bind(project.map(ProjectId::as_str))
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?;
    rows.iter().map(envelope).collect()
}

/// The events of project `$1` from number `$2` on.
pub(crate) const OF_PROJECT: &str = "SELECT seq, at, project_id, task_id, run_id, actor, payload FROM events
  WHERE project_id = $1 AND seq >= $2 ORDER BY seq LIMIT $3";

/// Reads at most `limit` events of one project alone, beginning with the number `first`.
pub(crate) async fn of_project(connection: &mut SqliteConnection, project: &ProjectId, first: Seq, limit: i64) -> Result<Vec<Envelope>> {
    let rows = sqlx::query(OF_PROJECT).bind(project.as_str()).bind(first).bind(limit).fetch_all(connection).await?;
    rows.iter().map(envelope).collect()
}

/// The first events of some kinds. `$1` is the number to start at, `$2` the limit.
pub(crate) fn of_kinds_sql(kinds: &[&str]) -> String {
    // Kinds are safe to insert, because they are a closed vocabulary.
    let kinds: Vec<String> = kinds.iter().map(|kind| format!("'{kind}'")).collect();
    format!(
        "SELECT seq, at, project_id, task_id, run_id, actor, payload FROM events WHERE seq >= $1 AND kind IN ({}) ORDER BY seq LIMIT $2",
        kinds.join(", ")
    )
}

/// Reads at most `limit` events of some kinds, beginning with the number `first`.
pub(crate) async fn of_kinds(connection: &mut SqliteConnection, first: Seq, kinds: &[&str], limit: u32) -> Result<Vec<Envelope>> {
    let rows = sqlx::query(AssertSqlSafe(of_kinds_sql(kinds))).bind(first).bind(i64::from(limit)).fetch_all(connection).await?;
    rows.iter().map(envelope).collect()
}

fn envelope(row: &SqliteRow) -> Result<Envelope> {
    let optional = |column: &str| row.try_get::<Option<String>, _>(column);
    let payload: Payload<_, _, _> = serde_json::from_str(row.try_get("payload")?)?;
    Ok(Envelope {
        seq: row.try_get("seq")?,
        at: row.try_get::<&str, _>("at")?.parse()?,
        project_id: optional("project_id")?.map(|id| id.parse::<ProjectId>()).transpose()?,
        task_id: optional("task_id")?.map(|id| id.parse::<TaskId>()).transpose()?,
        run_id: optional("run_id")?.map(|id| id.parse::<RunId>()).transpose()?,
        actor: row.try_get::<String, _>("actor")?.into(),
        event: payload.event,
        card: payload.card,
        project: payload.project,
    })
}

/// Appends an event.
pub(crate) async fn insert(connection: &mut SqliteConnection, envelope: &Envelope) -> Result<()> {
    let payload = Payload { event: &envelope.event, card: envelope.card.as_ref(), project: envelope.project.as_ref() };
    sqlx::query("INSERT INTO events (seq, at, project_id, task_id, run_id, actor, kind, payload) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)")
        .bind(envelope.seq)
        .bind(envelope.at.to_string())
        .bind(envelope.project_id.as_ref().map(ProjectId::as_str))
        .bind(envelope.task_id.as_ref().map(TaskId::as_str))
        .bind(envelope.run_id.as_ref().map(RunId::as_str))
        .bind(envelope.actor.to_string())
        .bind(envelope.event.kind())
        .bind(serde_json::to_string(&payload)?)
        .execute(connection)
        .await?;
    Ok(())
}

/// Replaces the events of a project by others that say nothing about it. Their numbers and times stay, because the log has no gaps.
pub(crate) async fn erase(connection: &mut SqliteConnection, project: &ProjectId, replacement: &Event) -> Result<()> {
    let payload = Payload::<_, (), ()> { event: replacement, card: None, project: None };
    sqlx::query(
        "UPDATE events SET project_id = NULL, task_id = NULL, run_id = NULL, actor = 'runner', kind = $2, payload = $3 WHERE project_id = $1",
    )
    .bind(project.as_str())
    .bind(replacement.kind())
    .bind(serde_json::to_string(&payload)?)
    .execute(connection)
    .await?;
    Ok(())
}
