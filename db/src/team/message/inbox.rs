//! Inboxes: each message is delivered at least once and shown as new only once.
//!
//! A message is delivered when a response contains it. It is read once that response was acknowledged: explicitly, by the next `send`, or
//! because the recipient's run succeeded. Unacknowledged messages are redelivered and marked as such, except to a live run that already
//! has them in its conversation.

use domain::id::{ProjectId, RunId};
use domain::runs::run::Run;
use domain::team::agent::HUMAN;
use domain::team::message::{INBOX_BYTES, INBOX_PAGE, Inbox, InboxMessage, Unread};
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use super::delivery::{Channel, acknowledge_delivery, deliver};
use super::history::message_of;
use crate::board::task::read::card;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run;
use crate::team::participant;

/// Messages that `$2` has not acknowledged: direct ones, and broadcasts since it joined. The number is
/// [`IN_CONVERSATION`](super::delivery::IN_CONVERSATION).
pub(super) const WAITING: &str = "SELECT m.*, m.delivered_at IS NOT NULL AS given, m.answer_seq AS given_in FROM messages m
    WHERE m.project_id = $1 AND m.to_agent = $2 AND m.read_at IS NULL AND m.answer_seq IS DISTINCT FROM 9223372036854775807
  UNION ALL
  SELECT m.*, b.delivered_at IS NOT NULL AS given, b.answer_seq AS given_in
    FROM messages m LEFT JOIN broadcast_reads b ON b.message_id = m.id AND b.agent_name = $2
    WHERE m.project_id = $1 AND m.to_agent = 'all' AND m.read_at IS NULL AND m.from_agent <> $2 AND b.read_at IS NULL
      AND b.answer_seq IS DISTINCT FROM 9223372036854775807 AND m.id > COALESCE((SELECT broadcast_cursor FROM agents WHERE project_id = $1 AND name = $2),
        (SELECT human_broadcast_cursor FROM projects WHERE id = $1 AND $2 = 'human'),
        (SELECT broadcast_cursor FROM persons WHERE id <> 1 AND 'human/' || name = $2), 0)";

/// Advances the human's broadcast cursor, as delivery does for an agent's.
const ADVANCE_HUMAN_CURSOR: &str = "UPDATE projects SET human_broadcast_cursor = COALESCE(
    (SELECT MIN(m.id) - 1 FROM messages m LEFT JOIN broadcast_reads b ON b.message_id = m.id AND b.agent_name = 'human'
       WHERE m.project_id = $1 AND m.to_agent = 'all' AND m.from_agent <> 'human' AND b.read_at IS NULL AND m.id > projects.human_broadcast_cursor),
    (SELECT MAX(id) FROM messages), 0)
  WHERE id = $1";

impl Db {
    /// Delivers up to 50 messages that fit into 48 KiB. New messages come first and copies last, so that the messages that block `send`
    /// arrive first. `ack` is the highest id of an earlier response and acknowledges it.
    ///
    /// A repeated call returns the current inbox and marks the messages of its lost response as redelivered, because a client that restarts
    /// its call numbers each turn would otherwise get an old answer forever. It acknowledges nothing twice.
    ///
    /// # Errors
    /// When the caller has not registered.
    pub async fn check_inbox(&self, caller: &Caller, project: &ProjectId, ack: Option<i64>) -> Result<Inbox> {
        let (caller, project) = (caller.clone(), project.clone());
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                caller.require_may_write()?;
                tx.require_current_run(&caller).await?;
                let name = participant::load(&mut tx.connection, &caller, &project).await?.name;
                if let Some(ack) = ack
                    && tx.stored_answer::<()>(&caller).await?.is_none()
                {
                    acknowledge_delivery(tx, &project, &name, ack).await?;
                    if name == HUMAN {
                        sqlx::query(ADVANCE_HUMAN_CURSOR).bind(project.as_str()).execute(&mut tx.connection).await?;
                    }
                    tx.store_answer(&caller, &()).await?;
                }
                let inbox = waiting(&mut tx.connection, &project, &name).await?;
                let answer = tx.seq;
                deliver(tx, &caller, &project, &name, &inbox.messages, Channel::Response(answer)).await?;
                Ok(inbox)
            })
        })
        .await
    }

    /// Counts the undelivered messages of a participant and names their senders.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unread(&self, project: &ProjectId, name: &str) -> Result<Unread> {
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT w.from_agent, w.is_cc, w.from_agent = 'human' OR substr(w.from_agent, 1, 6) = 'human/' OR EXISTS (SELECT 1 FROM agents a, json_each(a.roles) r
               WHERE a.project_id = $1 AND a.name = w.from_agent AND a.trusted = 1 AND r.value = 'lead') AS urgent
             FROM ({WAITING}) w WHERE NOT w.given ORDER BY w.id"
        )))
        .bind(project.as_str())
        .bind(name)
        .fetch_all(&self.readers)
        .await?;
        let mut unread = Unread::default();
        for row in &rows {
            let sender: String = row.try_get("from_agent")?;
            let copy: bool = row.try_get("is_cc")?;
            unread.count += 1;
            unread.blocking_count += u32::from(!copy);
            // A copy never interrupts its recipient.
            unread.urgent |= !copy && row.try_get::<bool, _>("urgent")?;
            if !unread.senders.contains(&sender) {
                unread.senders.push(sender);
            }
        }
        Ok(unread)
    }

    /// Returns the waiting messages of a run's agent without delivering them.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn run_inbox(&self, id: &RunId) -> Result<Inbox> {
        let mut connection = self.readers.acquire().await?;
        let run = run::read(&mut connection, id).await?;
        let project = card(&mut connection, &run.task_id).await?.project_id;
        waiting(&mut connection, &project, &Run::agent_name(run.phase, &run.task_id)).await
    }

    /// Records that the runner sends these messages to a run's agent in one line: its prompt or a later stdin line. If the run ends before
    /// the line is echoed, the messages stay new.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn run_inbox_delivered(&self, id: &RunId, line: &str, messages: Vec<InboxMessage>) -> Result<()> {
        let (id, line) = (id.clone(), line.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                let run = run::read(&mut tx.connection, &id).await?;
                let project = card(&mut tx.connection, &run.task_id).await?.project_id;
                deliver(tx, &Caller::Runner, &project, &Run::agent_name(run.phase, &run.task_id), &messages, Channel::Stdin(&line)).await
            })
        })
        .await
    }
}

async fn waiting(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<Inbox> {
    let rows =
        sqlx::query(AssertSqlSafe(format!("SELECT w.*, COUNT(*) OVER () AS all_of_them FROM ({WAITING}) w ORDER BY given, is_cc, id LIMIT $3")))
            .bind(project.as_str())
            .bind(name)
            .bind(INBOX_PAGE)
            .fetch_all(connection)
            .await?;
    let all: i64 = rows.first().map(|row| row.try_get("all_of_them")).transpose()?.unwrap_or(0);
    let (mut messages, mut bytes) = (Vec::with_capacity(rows.len()), 0);
    for row in &rows {
        let message = message_of(row, "given")?;
        bytes += message.content.len();
        if bytes > INBOX_BYTES && !messages.is_empty() {
            break;
        }
        messages.push(InboxMessage { redelivered: message.read, message });
    }
    messages.sort_by_key(|received| received.message.id);
    let more = u32::try_from(all).unwrap_or(u32::MAX) - u32::try_from(messages.len()).unwrap_or_default();
    Ok(Inbox { messages, remaining: more })
}
