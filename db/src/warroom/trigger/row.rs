//! Reads orders, and refuses what has to wait for one. Must not change anything.

use std::collections::BTreeMap;

use domain::id::ProjectId;
use domain::time::Timestamp;
use domain::warroom::claim::ClaimPath;
use domain::warroom::trigger::refusal::TriggerRefusal;
use domain::warroom::trigger::{Trigger, TriggerWord};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::error::Result;

/// The active orders of a project `$1`.
pub(crate) const ACTIVE: &str = "SELECT * FROM triggers WHERE project_id = $1 AND ended_at IS NULL ORDER BY id DESC";
/// The orders of a project `$1` that ended, newest first, at most `$2`.
pub(crate) const ENDED: &str = "SELECT * FROM triggers WHERE project_id = $1 AND ended_at IS NOT NULL ORDER BY id DESC LIMIT $2";
/// The active order of a project `$1` with the word `$2` and the target `$3`.
pub(crate) const ONE_ACTIVE: &str = "SELECT * FROM triggers WHERE project_id = $1 AND word = $2 AND COALESCE(target, '') = $3 AND ended_at IS NULL";
/// Active orders after which no agent starts.
pub(crate) const STOPPING: &str = "SELECT project_id, word, author FROM triggers WHERE ended_at IS NULL AND word IN ('retreat', 'moon_crash')";
/// The zones that come first.
pub(crate) const HOT: &str = "SELECT z.project_id, z.paths FROM triggers t JOIN zones z ON z.project_id = t.project_id AND z.name = t.target
  WHERE t.ended_at IS NULL AND t.word = 'hot_zone'";
/// Orders to which an agent owes an answer.
pub(crate) const DUE: &str = "SELECT id, due_at FROM triggers WHERE ended_at IS NULL AND word = 'sitrep' AND due_at IS NOT NULL";
/// The runs of a project `$1` that are at work.
pub(crate) const AT_WORK: &str =
    "SELECT COUNT(*) FROM agent_runs r JOIN tasks t ON t.id = r.task_id WHERE r.completed_at IS NULL AND t.project_id = $1";

pub(crate) async fn active(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<Trigger>> {
    sqlx::query(ACTIVE).bind(project.as_str()).fetch_all(connection).await?.iter().map(trigger_of).collect()
}

pub(crate) async fn one_active(
    connection: &mut SqliteConnection,
    project: &ProjectId,
    word: TriggerWord,
    target: Option<&str>,
) -> Result<Option<Trigger>> {
    let query = sqlx::query(ONE_ACTIVE).bind(project.as_str()).bind(word.as_str()).bind(target.unwrap_or_default());
    query.fetch_optional(connection).await?.as_ref().map(trigger_of).transpose()
}

/// The order to stop of each project that has one, with its author.
pub(crate) async fn stopping(connection: &mut SqliteConnection) -> Result<BTreeMap<ProjectId, (TriggerWord, String)>> {
    let rows = sqlx::query(STOPPING).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((parsed(row, "project_id")?, (parsed(row, "word")?, row.try_get("author")?)))).collect()
}

/// The paths of the zones that come first, by project.
pub(crate) async fn hot(connection: &mut SqliteConnection) -> Result<BTreeMap<ProjectId, Vec<ClaimPath>>> {
    let mut hot: BTreeMap<ProjectId, Vec<ClaimPath>> = BTreeMap::new();
    for row in sqlx::query(HOT).fetch_all(connection).await? {
        hot.entry(parsed(&row, "project_id")?).or_default().extend(serde_json::from_str::<Vec<ClaimPath>>(row.try_get("paths")?)?);
    }
    Ok(hot)
}

/// The orders to which agents owe an answer, and when they are removed without one.
pub(crate) async fn due(connection: &mut SqliteConnection) -> Result<Vec<(i64, Timestamp)>> {
    sqlx::query(DUE).fetch_all(connection).await?.iter().map(|row| Ok((row.try_get("id")?, parsed(row, "due_at")?))).collect()
}

/// Refuses to assign or start work while all agents are told to stop.
pub(crate) async fn require_no_stop(connection: &mut SqliteConnection, project: &ProjectId) -> Result<()> {
    let orders = active(connection, project).await?;
    match orders.into_iter().find(|order| order.word.stops_starts()) {
        Some(order) => Err(TriggerRefusal::Stopped { word: order.word, author: order.author }.into()),
        None => Ok(()),
    }
}

pub(super) fn trigger_of(row: &SqliteRow) -> Result<Trigger> {
    Ok(Trigger {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        word: parsed(row, "word")?,
        target: row.try_get("target")?,
        note: row.try_get("note")?,
        author: row.try_get("author")?,
        given_at: parsed(row, "given_at")?,
        due_at: optional(row, "due_at")?,
        ended_at: optional(row, "ended_at")?,
        end: optional(row, "ended_as")?,
    })
}
