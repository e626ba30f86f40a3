//! What is known of the way of a message: that it was given, that it arrived, and that somebody may speak because of it.
//!
//! Only what the last answer held is confirmed: an answer before it may have been lost, and there may have been no room to repeat it.

use domain::agent::ALL;
use domain::event::{Event, Seq};
use domain::id::ProjectId;
use domain::message::Received;
use domain::refusal::Refusal;
use sqlx::{AssertSqlSafe, Row};

use super::inbox::WAITING;
use crate::caller::Caller;
use crate::error::Result;
use crate::tx::Tx;

/// Marks `messages` as given to `name` in an answer, or, without one, over a way that loses nothing.
pub(super) async fn deliver(tx: &mut Tx, caller: &Caller, project: &ProjectId, name: &str, messages: &[Received], answer: Option<Seq>) -> Result<()> {
    let (broadcasts, direct): (Vec<&Received>, Vec<&Received>) = messages.iter().partition(|given| given.message.to_agent == ALL);
    let ids = |of: &[&Received]| serde_json::to_string(&of.iter().map(|given| given.message.id).collect::<Vec<i64>>());
    if !direct.is_empty() {
        sqlx::query("UPDATE messages SET delivered_at = COALESCE(delivered_at, $1), answer = $2 WHERE id IN (SELECT value FROM json_each($3))")
            .bind(tx.now.to_string())
            .bind(answer)
            .bind(ids(&direct)?)
            .execute(&mut tx.connection)
            .await?;
    }
    if !broadcasts.is_empty() {
        sqlx::query(
            "INSERT INTO broadcast_reads (message_id, agent_name, delivered_at, answer) SELECT value, $1, $2, $3 FROM json_each($4) WHERE true
             ON CONFLICT (message_id, agent_name) DO UPDATE SET answer = $3",
        )
        .bind(name)
        .bind(tx.now.to_string())
        .bind(answer)
        .bind(ids(&broadcasts)?)
        .execute(&mut tx.connection)
        .await?;
    }
    let new = messages.iter().filter(|given| !given.again).count();
    if new > 0 {
        let messages = u32::try_from(new).unwrap_or(u32::MAX);
        tx.record_among_agents(caller, project, None, Event::InboxRead { agent: name.to_owned(), messages });
    }
    Ok(())
}

/// Notes that the answer which held message `ack` arrived; a number that was in no answer to `name` confirms nothing.
pub(super) async fn confirm(tx: &mut Tx, project: &ProjectId, name: &str, ack: i64) -> Result<()> {
    let answer: Option<Option<Seq>> = sqlx::query_scalar(
        "SELECT answer FROM messages WHERE id = $1 AND project_id = $2 AND to_agent = $3 AND delivered_at IS NOT NULL
         UNION ALL SELECT b.answer FROM broadcast_reads b JOIN messages m ON m.id = b.message_id
           WHERE b.message_id = $1 AND m.project_id = $2 AND b.agent_name = $3",
    )
    .bind(ack)
    .bind(project.as_str())
    .bind(name)
    .fetch_optional(&mut tx.connection)
    .await?;
    match answer {
        Some(answer) => arrived(tx, project, name, ack, answer.unwrap_or_default()).await,
        None => Ok(()),
    }
}

/// Notes that the last answer to `name` arrived, because what it did next shows it.
pub(crate) async fn confirm_last(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let last: Option<Seq> = sqlx::query_scalar(AssertSqlSafe(format!("SELECT MAX(given_in) FROM ({WAITING})")))
        .bind(project.as_str())
        .bind(name)
        .fetch_one(&mut tx.connection)
        .await?;
    arrived(tx, project, name, i64::MAX, last.unwrap_or_default()).await
}

/// Marks as read what `name` was given in `answer` or a later one, and what was given over a way that loses nothing, up to a message.
async fn arrived(tx: &mut Tx, project: &ProjectId, name: &str, up_to: i64, answer: Seq) -> Result<()> {
    sqlx::query(
        "UPDATE messages SET read_at = $5 WHERE project_id = $1 AND to_agent = $2 AND read_at IS NULL AND id <= $3
           AND delivered_at IS NOT NULL AND (answer IS NULL OR answer >= $4)",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(up_to)
    .bind(answer)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    let broadcasts = sqlx::query(
        "UPDATE broadcast_reads SET read_at = $5 WHERE agent_name = $2 AND read_at IS NULL AND message_id <= $3
           AND (answer IS NULL OR answer >= $4) AND message_id IN (SELECT id FROM messages WHERE project_id = $1 AND to_agent = 'all')",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(up_to)
    .bind(answer)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    if broadcasts.rows_affected() > 0 { heard(tx, project, name).await } else { Ok(()) }
}

/// Lets nobody look again at the broadcasts that `name` has read: the next look costs what is new, however much was said before.
pub(super) async fn heard(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    sqlx::query(AssertSqlSafe(format!(
        "UPDATE agents SET broadcasts_after = COALESCE((SELECT MIN(id) - 1 FROM ({WAITING}) WHERE to_agent = 'all'),
           (SELECT MAX(id) FROM messages)) WHERE project_id = $1 AND name = $2"
    )))
    .bind(project.as_str())
    .bind(name)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Refuses a sender that has not been given what was written to it or to all; carbon copies keep nobody from speaking. What its last
/// answer held counts as read.
pub(super) async fn gate(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let row = sqlx::query(AssertSqlSafe(format!(
        "SELECT COALESCE(SUM(NOT given AND NOT is_cc), 0) AS unread, COALESCE(SUM(given), 0) AS given, MAX(given_in) AS last FROM ({WAITING})"
    )))
    .bind(project.as_str())
    .bind(name)
    .fetch_one(&mut tx.connection)
    .await?;
    let unread: i64 = row.try_get("unread")?;
    if unread > 0 {
        return Err(Refusal::Unread { count: u32::try_from(unread).unwrap_or(u32::MAX) }.into());
    }
    if row.try_get::<i64, _>("given")? > 0 {
        let last: Option<Seq> = row.try_get("last")?;
        arrived(tx, project, name, i64::MAX, last.unwrap_or_default()).await?;
    }
    Ok(())
}
