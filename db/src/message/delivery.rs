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

/// Moves the mark before which `$2` has read every broadcast: the next look costs what is new, however much was said before.
const HEARD: &str = "UPDATE agents SET broadcasts_after = COALESCE(
    (SELECT MIN(m.id) - 1 FROM messages m LEFT JOIN broadcast_reads b ON b.message_id = m.id AND b.agent_name = $2
       WHERE m.project_id = $1 AND m.to_agent = 'all' AND m.read_at IS NULL AND m.from_agent <> $2 AND b.read_at IS NULL
         AND m.id > agents.broadcasts_after),
    (SELECT MAX(id) FROM messages))
  WHERE project_id = $1 AND name = $2";

/// Marks `messages` as given to `name` in an answer, or, without one, over a way that loses nothing.
pub(super) async fn deliver(tx: &mut Tx, caller: &Caller, project: &ProjectId, name: &str, messages: &[Received], answer: Option<Seq>) -> Result<()> {
    let (broadcasts, direct): (Vec<&Received>, Vec<&Received>) = messages.iter().partition(|given| given.message.to_agent == ALL);
    let ids = |of: &[&Received]| serde_json::to_string(&of.iter().map(|given| given.message.id).collect::<Vec<i64>>());
    // Several statements in one: each on its own costs more for the way to the database than for its work.
    sqlx::query(
        "UPDATE messages SET delivered_at = COALESCE(delivered_at, $3), answer = $4 WHERE id IN (SELECT value FROM json_each($5));
         INSERT INTO broadcast_reads (message_id, agent_name, delivered_at, answer) SELECT value, $2, $3, $4 FROM json_each($6) WHERE true
           ON CONFLICT (message_id, agent_name) DO UPDATE SET answer = $4;
         UPDATE agents SET last_inbox_check = $3 WHERE project_id = $1 AND name = $2 AND $4 IS NOT NULL",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .bind(answer)
    .bind(ids(&direct)?)
    .bind(ids(&broadcasts)?)
    .execute(&mut tx.connection)
    .await?;
    let new = messages.iter().filter(|given| !given.again).count();
    if new > 0 {
        let messages = u32::try_from(new).unwrap_or(u32::MAX);
        tx.record_among_agents(caller, project, None, Event::InboxRead { agent: name.to_owned(), messages });
    }
    Ok(())
}

/// In which answer `$2` was last given message `$4`; nothing when it was in none.
const ANSWER_OF: &str = "(SELECT COALESCE(answer, 0) FROM messages WHERE id = $4 AND project_id = $1 AND to_agent = $2 AND delivered_at IS NOT NULL
    UNION ALL SELECT COALESCE(b.answer, 0) FROM broadcast_reads b JOIN messages m ON m.id = b.message_id
      WHERE b.message_id = $4 AND b.agent_name = $2 AND m.project_id = $1)";

/// Notes that the answer which held message `ack` arrived; a number that was in no answer to `name` confirms nothing.
pub(super) async fn confirm(tx: &mut Tx, project: &ProjectId, name: &str, ack: i64) -> Result<()> {
    arrived(tx, project, name, ack, (ANSWER_OF, None)).await
}

/// Notes that the last answer to `name` arrived, because what it did next shows it.
pub(crate) async fn confirm_last(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let last: Option<Seq> = sqlx::query_scalar(AssertSqlSafe(format!("SELECT MAX(given_in) FROM ({WAITING})")))
        .bind(project.as_str())
        .bind(name)
        .fetch_one(&mut tx.connection)
        .await?;
    arrived(tx, project, name, i64::MAX, ("$5", Some(last.unwrap_or_default()))).await
}

/// Marks as read what `name` was given in an answer or a later one, and what was given over a way that loses nothing, up to a message.
async fn arrived(tx: &mut Tx, project: &ProjectId, name: &str, up_to: i64, (answer, number): (&str, Option<Seq>)) -> Result<()> {
    // The last statement holds only where the one before it changed something.
    sqlx::query(AssertSqlSafe(format!(
        "UPDATE messages SET read_at = $3 WHERE project_id = $1 AND to_agent = $2 AND read_at IS NULL AND id <= $4
           AND delivered_at IS NOT NULL AND COALESCE(answer, {MAX}) >= {answer};
         UPDATE broadcast_reads SET read_at = $3 WHERE agent_name = $2 AND read_at IS NULL AND message_id <= $4
           AND COALESCE(answer, {MAX}) >= {answer} AND EXISTS (SELECT 1 FROM messages m WHERE m.id = message_id AND m.project_id = $1);
         {HEARD} AND changes() > 0",
        MAX = Seq::MAX
    )))
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .bind(up_to)
    .bind(number)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Lets nobody look again at the broadcasts that `name` has read.
pub(super) async fn heard(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    sqlx::query(HEARD).bind(project.as_str()).bind(name).execute(&mut tx.connection).await?;
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
        arrived(tx, project, name, i64::MAX, ("$5", Some(last.unwrap_or_default()))).await?;
    }
    Ok(())
}
