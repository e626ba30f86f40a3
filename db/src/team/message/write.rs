//! Writes messages and their deliveries, one statement each. Must not decide who gets a message or when it counts as read.

use domain::board::search::SearchKind;
use domain::event::Seq;
use domain::id::{ProjectId, TaskId};
use domain::team::agent::{EVERYONE, HUMAN};
use sqlx::{QueryBuilder, Row, Sqlite};

use super::row::{AcknowledgedMessage, Kind};
use crate::board::search::write::{self as search, Document};
use crate::engine::tx::Tx;
use crate::error::Result;

/// A validated message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutgoingMessage<'a> {
    pub(crate) project: &'a ProjectId,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) content: &'a str,
    pub(crate) task: Option<&'a TaskId>,
    pub(crate) reply_to: Option<i64>,
}

/// Stores a message without deliveries and returns its id.
pub(super) async fn insert_message(tx: &mut Tx, post: OutgoingMessage<'_>) -> Result<i64> {
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO messages (project_id, from_agent, to_agent, content, task_id, reply_to, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
    )
    .bind(post.project.as_str())
    .bind(post.from)
    .bind(post.to)
    .bind(post.content)
    .bind(post.task.map(TaskId::as_str))
    .bind(post.reply_to)
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    let document = Document { kind: SearchKind::Message, reference: &id.to_string(), project: post.project, task: post.task };
    search::add(tx, document, post.content).await?;
    Ok(id)
}

/// Adds the deliveries of a message to its recipient and to the recipients of copies.
pub(super) async fn insert_deliveries(tx: &mut Tx, project: &ProjectId, message: i64, to: &str, copies: &[String]) -> Result<()> {
    let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new("INSERT INTO deliveries (message_id, recipient, project_id, kind) ");
    let recipients = std::iter::once((to, Kind::Direct)).chain(copies.iter().map(|name| (name.as_str(), Kind::Copy)));
    insert.push_values(recipients, |mut row, (name, kind)| {
        row.push_bind(message).push_bind(name).push_bind(project.as_str()).push_bind(kind.as_str());
    });
    insert.build().execute(&mut tx.connection).await?;
    Ok(())
}

/// A delivery of an imported message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastDelivery {
    pub(crate) recipient: String,
    pub(crate) is_copy: bool,
    pub(crate) is_read: bool,
}

/// Stores a message of the past, with deliveries that were read or are pending, and returns its id.
pub(crate) async fn insert_past(tx: &mut Tx, post: OutgoingMessage<'_>, deliveries: &[PastDelivery]) -> Result<i64> {
    let id = insert_message(tx, post).await?;
    let kind = |delivery: &PastDelivery| match (post.to == EVERYONE, delivery.is_copy) {
        (true, _) => Kind::Broadcast,
        (false, true) => Kind::Copy,
        (false, false) => Kind::Direct,
    };
    for delivery in deliveries {
        let read_at = delivery.is_read.then(|| tx.now.to_string());
        sqlx::query(
            "INSERT INTO deliveries (message_id, recipient, project_id, kind, state, delivered_at, read_at) VALUES ($1, $2, $3, $4, $5, $6, $6)
             ON CONFLICT (message_id, recipient) DO NOTHING",
        )
        .bind(id)
        .bind(&delivery.recipient)
        .bind(post.project.as_str())
        .bind(kind(delivery).as_str())
        .bind(if delivery.is_read { "read" } else { "pending" })
        .bind(read_at)
        .execute(&mut tx.connection)
        .await?;
    }
    Ok(id)
}

/// Recipients of a broadcast: present agents, those that left while their run is still live, and all persons except viewers.
pub(crate) const BROADCAST: &str = "INSERT INTO deliveries (message_id, recipient, project_id, kind)
    SELECT $1, present.name, $2, $4 FROM (
        SELECT a.name FROM agents a WHERE a.project_id = $2 AND a.left_at IS NULL
        UNION SELECT a.name FROM agent_runs r JOIN agents a ON a.run_id = r.id WHERE a.project_id = $2 AND r.completed_at IS NULL
        UNION SELECT $5
        UNION SELECT $5 || '/' || name FROM persons WHERE role = 'member' AND removed_at IS NULL) AS present
    WHERE present.name <> $3";

/// Adds the deliveries of a broadcast to everyone who is present except its sender.
pub(super) async fn insert_broadcast(tx: &mut Tx, project: &ProjectId, message: i64, from: &str) -> Result<()> {
    sqlx::query(BROADCAST)
        .bind(message)
        .bind(project.as_str())
        .bind(from)
        .bind(Kind::Broadcast.as_str())
        .bind(HUMAN)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Members receive what is sent to the owner as `human`, unless they have a copy. Its kind is that of a broadcast, because the sender waits
/// for the owner alone.
pub(crate) const SHARED: &str = "INSERT INTO deliveries (message_id, recipient, project_id, kind)
    SELECT $1, $3 || '/' || name, $2, $4 FROM persons WHERE role = 'member' AND removed_at IS NULL
    ON CONFLICT (message_id, recipient) DO NOTHING";

/// Adds the deliveries of a message to `human` to every member, who may answer it too.
pub(super) async fn insert_shared(tx: &mut Tx, project: &ProjectId, message: i64) -> Result<()> {
    sqlx::query(SHARED).bind(message).bind(project.as_str()).bind(HUMAN).bind(Kind::Broadcast.as_str()).execute(&mut tx.connection).await?;
    Ok(())
}

pub(crate) const ANSWERED: &str = "UPDATE deliveries SET state = 'read', read_at = $2
    WHERE message_id = $1 AND read_at IS NULL AND (recipient = $3 OR substr(recipient, 1, 6) = $3 || '/')
      AND EXISTS (SELECT 1 FROM messages m WHERE m.id = $1 AND m.to_agent = $3 AND m.from_agent = $4 AND substr(m.from_agent, 1, 6) <> $3 || '/')";

/// Marks a message to `human` as read by every person, because one of them sent an answer to `to`, its sender. Messages of persons to the
/// owner are not shared.
pub(super) async fn mark_answered(tx: &mut Tx, message: i64, to: &str) -> Result<()> {
    sqlx::query(ANSWERED).bind(message).bind(tx.now.to_string()).bind(HUMAN).bind(to).execute(&mut tx.connection).await?;
    Ok(())
}

pub(crate) const MISSED: &str = "INSERT INTO deliveries (message_id, recipient, project_id, kind)
    SELECT m.id, a.name, a.project_id, $3 FROM agents a
    JOIN messages m ON m.project_id = a.project_id AND m.to_agent = 'all' AND m.id > a.left_at_message AND m.from_agent <> a.name
    WHERE a.project_id = $1 AND a.name = $2
    ON CONFLICT (message_id, recipient) DO NOTHING";

/// Adds the deliveries of broadcasts that were sent since `name` left. Does nothing for an agent that is present or never joined.
pub(crate) async fn insert_missed_broadcasts(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    sqlx::query(MISSED).bind(project.as_str()).bind(name).bind(Kind::Broadcast.as_str()).execute(&mut tx.connection).await?;
    Ok(())
}

/// How messages reach their recipient.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Channel<'a> {
    /// In a response, identified by its event number.
    Response(Seq),
    /// In a stdin line of a run's agent, identified by this id.
    Stdin(&'a str),
}

/// Marks `messages` as offered to `name`, or as on a stdin line. Returns how many of them `name` had not read.
pub(crate) async fn mark_sent(tx: &mut Tx, name: &str, messages: &[i64], channel: Channel<'_>) -> Result<u32> {
    if messages.is_empty() {
        return Ok(0);
    }
    let mut update: QueryBuilder<Sqlite> = QueryBuilder::new("UPDATE deliveries SET ");
    match channel {
        Channel::Response(answer) => {
            update.push("state = 'offered', stdin_line_id = NULL, answer_seq = ").push_bind(answer);
            update.push(", delivered_at = COALESCE(delivered_at, ").push_bind(tx.now.to_string()).push(")");
        }
        Channel::Stdin(line) => {
            update.push("state = 'on_stdin', stdin_line_id = ").push_bind(line);
        }
    }
    update.push(" WHERE recipient = ").push_bind(name).push(" AND read_at IS NULL AND message_id IN (");
    let mut ids = update.separated(", ");
    for id in messages {
        ids.push_bind(id);
    }
    let marked = update.push(")").build().execute(&mut tx.connection).await?;
    Ok(u32::try_from(marked.rows_affected()).unwrap_or(u32::MAX))
}

/// Records that the agent's program echoed a line: its messages are in the conversation.
pub(super) async fn mark_echoed(tx: &mut Tx, project: &ProjectId, name: &str, line: &str) -> Result<()> {
    sqlx::query(
        "UPDATE deliveries SET state = 'in_conversation', answer_seq = NULL, stdin_line_id = NULL, delivered_at = COALESCE(delivered_at, $4)
         WHERE project_id = $1 AND recipient = $2 AND read_at IS NULL AND state = 'on_stdin' AND stdin_line_id = $3",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(line)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Deliveries that are known to have arrived. Messages on a stdin line wait for their echo.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    /// The highest message.
    pub(super) up_to: i64,
    /// The first response. Later ones arrived too.
    pub(super) since: Option<Seq>,
    /// Whether the conversation of the live run arrived.
    pub(super) conversation: bool,
}

pub(crate) const MARK_READ: &str = "UPDATE deliveries SET state = 'read', read_at = $3
    WHERE project_id = $1 AND recipient = $2 AND read_at IS NULL AND message_id <= $4
      AND (state = 'offered' AND answer_seq >= $5 OR state = 'in_conversation' AND $6)
    RETURNING message_id, (SELECT m.from_agent FROM messages m WHERE m.id = message_id) AS from_agent";

/// Marks what arrived as read, and returns it, oldest first.
pub(super) async fn mark_read(tx: &mut Tx, project: &ProjectId, name: &str, arrived: Arrived) -> Result<Vec<AcknowledgedMessage>> {
    let rows = sqlx::query(MARK_READ)
        .bind(project.as_str())
        .bind(name)
        .bind(tx.now.to_string())
        .bind(arrived.up_to)
        .bind(arrived.since)
        .bind(arrived.conversation)
        .fetch_all(&mut tx.connection)
        .await?;
    let acknowledged = rows.iter().map(|row| Ok(AcknowledgedMessage { id: row.try_get("message_id")?, from_agent: row.try_get("from_agent")? }));
    let mut acknowledged = acknowledged.collect::<Result<Vec<_>>>()?;
    acknowledged.sort_unstable_by_key(|message| message.id);
    Ok(acknowledged)
}

/// Marks offered messages as read by `name`.
pub(super) async fn mark_arrived(tx: &mut Tx, name: &str, messages: &[i64]) -> Result<()> {
    if messages.is_empty() {
        return Ok(());
    }
    let mut update: QueryBuilder<Sqlite> = QueryBuilder::new("UPDATE deliveries SET state = 'read', read_at = ");
    update.push_bind(tx.now.to_string());
    update.push(" WHERE recipient = ").push_bind(name).push(" AND read_at IS NULL AND state = 'offered' AND message_id IN (");
    let mut ids = update.separated(", ");
    for id in messages {
        ids.push_bind(id);
    }
    update.push(")").build().execute(&mut tx.connection).await?;
    Ok(())
}

/// Marks a message as read by `name`, because what it asks is settled.
pub(crate) async fn mark_settled(tx: &mut Tx, message: i64, name: &str) -> Result<()> {
    sqlx::query(
        "UPDATE deliveries SET state = 'read', read_at = $3, stdin_line_id = NULL WHERE message_id = $1 AND recipient = $2 AND read_at IS NULL",
    )
    .bind(message)
    .bind(name)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Marks all messages to `name` as read, because nobody will receive them under this name.
pub(crate) async fn mark_all_read(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    sqlx::query(
        "UPDATE deliveries SET state = 'read', read_at = $3, stdin_line_id = NULL WHERE project_id = $1 AND recipient = $2 AND read_at IS NULL",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

pub(crate) const RESET: &str = "UPDATE deliveries SET state = CASE WHEN delivered_at IS NULL THEN 'pending' ELSE 'redeliver' END,
      answer_seq = NULL, stdin_line_id = NULL
    WHERE project_id = $1 AND recipient = $2 AND read_at IS NULL AND state <> 'pending'";

/// Delivers the unread messages of `name` again from now on. Messages that never arrived are new.
pub(super) async fn reset_unread(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    sqlx::query(RESET).bind(project.as_str()).bind(name).execute(&mut tx.connection).await?;
    Ok(())
}
