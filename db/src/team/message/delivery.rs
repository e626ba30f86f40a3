//! Tracks delivery and acknowledgement, and blocks `send` while messages are unread.
//!
//! An acknowledgement covers the last response only, because an earlier one may have been lost without being repeated. Messages in a
//! run's conversation are read when the run succeeds or its agent acknowledges them. Messages that the run never echoed are new to the
//! next run.

use domain::event::{Event, Seq};
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::EVERYONE;
use domain::team::message::InboxMessage;
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, Row};

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// A message that counts as read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcknowledgedMessage {
    pub id: i64,
    pub from_agent: String,
}

/// Messages that `$2` has not acknowledged: direct ones, and broadcasts since it joined. The number is
/// [`IN_CONVERSATION`].
pub(super) const WAITING: &str = "SELECT m.*, m.delivered_at IS NOT NULL AS given, m.answer_seq AS given_in FROM messages m
    WHERE m.project_id = $1 AND m.to_agent = $2 AND m.read_at IS NULL AND m.answer_seq IS DISTINCT FROM 9223372036854775807
  UNION ALL
  SELECT m.*, b.delivered_at IS NOT NULL AS given, b.answer_seq AS given_in
    FROM messages m LEFT JOIN broadcast_reads b ON b.message_id = m.id AND b.agent_name = $2
    WHERE m.project_id = $1 AND m.to_agent = 'all' AND m.read_at IS NULL AND m.from_agent <> $2 AND b.read_at IS NULL
      AND b.answer_seq IS DISTINCT FROM 9223372036854775807 AND m.id > COALESCE((SELECT broadcast_cursor FROM agents WHERE project_id = $1 AND name = $2),
        (SELECT human_broadcast_cursor FROM projects WHERE id = $1 AND $2 = 'human'), 0)";

/// Advances the cursor below which `$2` has read every broadcast, so that a check costs only the new ones.
const ADVANCE_CURSOR: &str = "UPDATE agents SET broadcast_cursor = COALESCE(
    (SELECT MIN(m.id) - 1 FROM messages m LEFT JOIN broadcast_reads b ON b.message_id = m.id AND b.agent_name = $2
       WHERE m.project_id = $1 AND m.to_agent = 'all' AND m.read_at IS NULL AND m.from_agent <> $2 AND b.read_at IS NULL
         AND m.id > agents.broadcast_cursor),
    (SELECT MAX(id) FROM messages))
  WHERE project_id = $1 AND name = $2";

/// `answer_seq` of messages in the conversation of a live run. It is greater than every real number.
pub(super) const IN_CONVERSATION: Seq = Seq::MAX;
/// `answer_seq` of messages that only an earlier run received.
const PREVIOUS_RUN: Seq = 0;

/// How messages are delivered.
#[derive(Debug, Clone, Copy)]
pub(super) enum Channel<'a> {
    /// In a response, identified by its event number.
    Response(Seq),
    /// In a stdin line of a run's agent, identified by this id.
    Stdin(&'a str),
}

/// Marks `messages` as delivered to `name`.
pub(super) async fn deliver(
    tx: &mut Tx,
    caller: &Caller,
    project: &ProjectId,
    name: &str,
    messages: &[InboxMessage],
    channel: Channel<'_>,
) -> Result<()> {
    let (broadcasts, direct): (Vec<&InboxMessage>, Vec<&InboxMessage>) = messages.iter().partition(|given| given.message.to_agent == EVERYONE);
    let ids = |of: &[&InboxMessage]| serde_json::to_string(&of.iter().map(|given| given.message.id).collect::<Vec<i64>>());
    let (answer, line) = match channel {
        Channel::Response(seq) => (Some(seq), None),
        Channel::Stdin(line) => (None, Some(line)),
    };
    // One call runs several statements, because a round trip costs more than the work itself.
    sqlx::query(
        "UPDATE messages SET delivered_at = COALESCE(delivered_at, $3), answer_seq = COALESCE($4, answer_seq), stdin_line_id = $7
           WHERE id IN (SELECT value FROM json_each($5));
         INSERT INTO broadcast_reads (message_id, agent_name, delivered_at, answer_seq, stdin_line_id)
           SELECT value, $2, $3, $4, $7 FROM json_each($6) WHERE true
           ON CONFLICT (message_id, agent_name) DO UPDATE SET answer_seq = COALESCE($4, answer_seq), stdin_line_id = $7;
         UPDATE agents SET last_inbox_check = $3 WHERE project_id = $1 AND name = $2 AND $4 IS NOT NULL",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .bind(answer)
    .bind(ids(&direct)?)
    .bind(ids(&broadcasts)?)
    .bind(line)
    .execute(&mut tx.connection)
    .await?;
    let new = messages.iter().filter(|given| !given.redelivered).count();
    if new > 0 {
        let messages = u32::try_from(new).unwrap_or(u32::MAX);
        tx.record_without_card(caller, project, None, Event::InboxDelivered { agent: name.to_owned(), messages });
    }
    Ok(())
}

/// The response that last delivered message `$4` to `$2`, or NULL if there is none from the agent's current run.
const ANSWER_OF: &str = "(SELECT NULLIF(answer_seq, 0) FROM messages WHERE id = $4 AND project_id = $1 AND to_agent = $2
    UNION ALL SELECT NULLIF(b.answer_seq, 0) FROM broadcast_reads b JOIN messages m ON m.id = b.message_id
      WHERE b.message_id = $4 AND b.agent_name = $2 AND m.project_id = $1)";

/// Acknowledges the response that contained message `ack`. An id from no response to `name` has no effect.
pub(super) async fn acknowledge_delivery(tx: &mut Tx, project: &ProjectId, name: &str, ack: i64) -> Result<()> {
    mark_read(tx, project, name, ack, AnswerRange { from: ANSWER_OF, last: None, to: IN_CONVERSATION }).await?;
    Ok(())
}

/// Settles the delivery state of a run's inbox when the run ends. After success, its conversation and its last response are read.
/// Everything else is delivered again to the next run, and messages that were never echoed are new.
pub(crate) async fn close_run_inbox(tx: &mut Tx, project: &ProjectId, name: &str, well: bool) -> Result<()> {
    if well {
        let last: Option<Seq> = sqlx::query_scalar(AssertSqlSafe(format!("SELECT MAX(given_in) FROM ({WAITING})")))
            .bind(project.as_str())
            .bind(name)
            .fetch_one(&mut tx.connection)
            .await?;
        let from = last.filter(|last| *last > PREVIOUS_RUN).unwrap_or(IN_CONVERSATION);
        mark_read(tx, project, name, i64::MAX, AnswerRange { from: "$5", last: Some(from), to: IN_CONVERSATION }).await?;
    }
    sqlx::query(
        "UPDATE messages SET delivered_at = CASE WHEN answer_seq IS NOT NULL THEN delivered_at END, answer_seq = answer_seq * 0, stdin_line_id = NULL
           WHERE project_id = $1 AND to_agent = $2 AND read_at IS NULL AND delivered_at IS NOT NULL;
         DELETE FROM broadcast_reads WHERE agent_name = $2 AND read_at IS NULL AND answer_seq IS NULL
           AND EXISTS (SELECT 1 FROM messages m WHERE m.id = message_id AND m.project_id = $1);
         UPDATE broadcast_reads SET answer_seq = 0, stdin_line_id = NULL WHERE agent_name = $2 AND read_at IS NULL
           AND EXISTS (SELECT 1 FROM messages m WHERE m.id = message_id AND m.project_id = $1)",
    )
    .bind(project.as_str())
    .bind(name)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// A range of responses that are known to have arrived.
struct AnswerRange {
    /// An SQL expression.
    from: &'static str,
    /// The value of `$5` in `from`.
    last: Option<Seq>,
    to: Seq,
}

/// Marks the messages that `name` received in these responses as read, up to a message id, and returns them without copies. Messages in
/// a stdin line wait for their echo.
async fn mark_read(
    tx: &mut Tx,
    project: &ProjectId,
    name: &str,
    up_to: i64,
    AnswerRange { from, last, to }: AnswerRange,
) -> Result<Vec<AcknowledgedMessage>> {
    // The last statement applies only if the one before it changed a row.
    let rows = sqlx::query(AssertSqlSafe(format!(
        "UPDATE messages SET read_at = $3 WHERE project_id = $1 AND to_agent = $2 AND read_at IS NULL AND id <= $4
           AND answer_seq BETWEEN {from} AND $6 AND stdin_line_id IS NULL RETURNING COALESCE(copy_of, id) AS id, from_agent;
         UPDATE broadcast_reads SET read_at = $3 WHERE agent_name = $2 AND read_at IS NULL AND message_id <= $4
           AND answer_seq BETWEEN {from} AND $6 AND stdin_line_id IS NULL AND EXISTS (SELECT 1 FROM messages m WHERE m.id = message_id AND m.project_id = $1)
           RETURNING message_id AS id, (SELECT m.from_agent FROM messages m WHERE m.id = message_id) AS from_agent;
         {ADVANCE_CURSOR} AND changes() > 0"
    )))
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .bind(up_to)
    .bind(last)
    .bind(to)
    .fetch_all(&mut tx.connection)
    .await?;
    let mut confirmed = rows
        .iter()
        .map(|row| Ok(AcknowledgedMessage { id: row.try_get("id")?, from_agent: row.try_get("from_agent")? }))
        .collect::<Result<Vec<_>>>()?;
    confirmed.sort_unstable_by_key(|message| message.id);
    Ok(confirmed)
}

/// Refuses a sender with undelivered direct messages or broadcasts; copies do not block. Marks the sender's last response as read and
/// returns its messages. The end of a run settles the messages in its conversation.
pub(super) async fn require_inbox_read(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<Vec<AcknowledgedMessage>> {
    let row =
        sqlx::query(AssertSqlSafe(format!("SELECT COALESCE(SUM(NOT given AND NOT is_cc), 0) AS unread, MAX(given_in) AS last FROM ({WAITING})")))
            .bind(project.as_str())
            .bind(name)
            .fetch_one(&mut tx.connection)
            .await?;
    let unread: i64 = row.try_get("unread")?;
    if unread > 0 {
        return Err(Refusal::UnreadMessages { count: u32::try_from(unread).unwrap_or(u32::MAX) }.into());
    }
    match row.try_get::<Option<Seq>, _>("last")?.filter(|last| *last > PREVIOUS_RUN) {
        Some(last) => mark_read(tx, project, name, i64::MAX, AnswerRange { from: "$5", last: Some(last), to: IN_CONVERSATION - 1 }).await,
        None => Ok(Vec::new()),
    }
}
