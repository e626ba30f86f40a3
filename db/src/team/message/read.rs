//! Reads deliveries: what waits for a participant, what is unread, and which response included a message. Must not change anything.

use domain::event::Seq;
use domain::id::ProjectId;
use domain::team::agent::RUNNER;
use domain::team::message::{INBOX_BYTES, INBOX_PAGE, Inbox, InboxMessage, Unread};
use domain::team::person::is_person;
use domain::team::role::Role;
use domain::warroom::class::AgentClass;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use super::row::{COLUMNS, received_by};
use crate::engine::column::{count, optional};
use crate::error::Result;

/// The deliveries that a response to `$2` includes: all that were not acknowledged, except those in the conversation of a live run.
/// `read_at` repeats the condition of the index.
const WAITING: &str = "d.project_id = $1 AND d.recipient = $2 AND d.read_at IS NULL AND d.state <> 'in_conversation'";

/// The undelivered messages of `$2` by sender.
pub(crate) const UNREAD: &str =
    "SELECT m.from_agent, a.trusted, a.roles, a.class, COUNT(*) AS all_kinds, COUNT(*) FILTER (WHERE d.kind <> 'copy') AS blocking
    FROM deliveries d JOIN messages m ON m.id = d.message_id LEFT JOIN agents a ON a.project_id = d.project_id AND a.name = m.from_agent
    WHERE d.project_id = $1 AND d.recipient = $2 AND d.read_at IS NULL AND d.state = 'pending'
    GROUP BY m.from_agent, a.trusted, a.roles, a.class ORDER BY MIN(m.id)";

/// Direct messages that ended with their recipient. Copies, broadcasts and the runner's own messages need no notice, managed agents that have
/// ended receive none, and no sender receives two.
pub(crate) const UNDELIVERED: &str = "SELECT m.id, m.from_agent FROM deliveries d JOIN messages m ON m.id = d.message_id
    WHERE d.project_id = $1 AND d.recipient = $2 AND d.read_at IS NULL AND d.state = 'pending' AND d.kind = 'direct' AND m.from_agent <> $3
      AND NOT EXISTS (SELECT 1 FROM agents a
        WHERE a.project_id = $1 AND a.name = m.from_agent AND a.run_id IS NOT NULL AND a.left_at IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM messages told WHERE told.reply_to = m.id AND told.from_agent = $3)
    ORDER BY m.id";

/// A page of what waits for `$2`: new messages first, copies last.
pub(crate) fn page_sql() -> String {
    format!(
        "SELECT {COLUMNS}, w.is_copy, w.is_delivered, w.total FROM (
           SELECT d.message_id, d.kind = 'copy' AS is_copy, d.state <> 'pending' AS is_delivered, COUNT(*) OVER () AS total
           FROM deliveries d WHERE {WAITING} ORDER BY d.state <> 'pending', d.kind = 'copy', d.message_id LIMIT $3) AS w
         JOIN messages m ON m.id = w.message_id ORDER BY w.is_delivered, w.is_copy, m.id"
    )
}

/// How many messages keep `$2` from sending, and the last response that included some of what waits.
pub(crate) fn blocking_sql() -> String {
    format!(
        "SELECT COUNT(*) FILTER (WHERE d.state = 'pending' AND d.kind <> 'copy') AS blocking, MAX(d.answer_seq) AS last_response
         FROM deliveries d WHERE {WAITING}"
    )
}

/// Reads the next page of an inbox, oldest first.
pub(super) async fn page(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<Inbox> {
    let rows = sqlx::query(AssertSqlSafe(page_sql())).bind(project.as_str()).bind(name).bind(i64::from(INBOX_PAGE)).fetch_all(connection).await?;
    let total = rows.first().map(|row| count(row, "total")).transpose()?.unwrap_or(0);
    let (mut messages, mut bytes) = (Vec::with_capacity(rows.len()), 0);
    for row in &rows {
        let message = received_by(name, row)?;
        bytes += message.content.len();
        if bytes > INBOX_BYTES && !messages.is_empty() {
            break;
        }
        messages.push(InboxMessage { redelivered: message.read, message });
    }
    messages.sort_by_key(|received| received.message.id);
    let remaining = total - u32::try_from(messages.len()).unwrap_or_default();
    Ok(Inbox { messages, remaining })
}

/// What `send` checks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocking {
    /// Undelivered direct messages and broadcasts.
    pub(super) count: u32,
    /// The last response that included any unacknowledged message.
    pub(super) last_response: Option<Seq>,
}

pub(super) async fn blocking(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<Blocking> {
    let row = sqlx::query(AssertSqlSafe(blocking_sql())).bind(project.as_str()).bind(name).fetch_one(connection).await?;
    Ok(Blocking { count: count(&row, "blocking")?, last_response: row.try_get("last_response")? })
}

/// Counts the undelivered messages of a participant and names their senders.
pub(super) async fn unread(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<Unread> {
    let rows = sqlx::query(UNREAD).bind(project.as_str()).bind(name).fetch_all(connection).await?;
    let mut unread = Unread::default();
    for row in &rows {
        let sender: String = row.try_get("from_agent")?;
        let roles: Vec<Role> = row.try_get::<Option<&str>, _>("roles")?.map_or(Ok(Vec::new()), serde_json::from_str)?;
        let trusted = row.try_get::<Option<bool>, _>("trusted")?.unwrap_or_default();
        let from_lead = AgentClass::leads(optional(row, "class")?, trusted, &roles);
        let blocking = count(row, "blocking")?;
        unread.count += count(row, "all_kinds")?;
        unread.blocking_count += blocking;
        // A copy never interrupts its recipient.
        unread.urgent |= blocking > 0 && (is_person(&sender) || from_lead);
        unread.senders.push(sender);
    }
    Ok(unread)
}

/// How `name` last received a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Receipt {
    pub(super) answer: Option<Seq>,
    pub(super) is_in_conversation: bool,
}

pub(super) async fn receipt(connection: &mut SqliteConnection, project: &ProjectId, name: &str, message: i64) -> Result<Option<Receipt>> {
    let row = sqlx::query(
        "SELECT d.answer_seq, d.state = 'in_conversation' AS is_in_conversation FROM deliveries d
         WHERE d.message_id = $1 AND d.recipient = $2 AND d.project_id = $3",
    )
    .bind(message)
    .bind(name)
    .bind(project.as_str())
    .fetch_optional(connection)
    .await?;
    row.map(|row| Ok(Receipt { answer: row.try_get("answer_seq")?, is_in_conversation: row.try_get("is_in_conversation")? })).transpose()
}

/// Whether a message has not reached its recipient yet.
pub(crate) async fn is_pending(connection: &mut SqliteConnection, message: i64, name: &str) -> Result<bool> {
    let found: Option<i64> =
        sqlx::query_scalar("SELECT 1 FROM deliveries WHERE message_id = $1 AND recipient = $2 AND state IN ('pending', 'on_stdin')")
            .bind(message)
            .bind(name)
            .fetch_optional(connection)
            .await?;
    Ok(found.is_some())
}

/// Lists the direct messages that `name` never received and whose senders were not notified: id and sender.
pub(super) async fn undelivered(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<Vec<(i64, String)>> {
    Ok(sqlx::query_as(UNDELIVERED).bind(project.as_str()).bind(name).bind(RUNNER).fetch_all(connection).await?)
}
