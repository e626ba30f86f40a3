//! Writes sessions, their messages and their counts. Must not decide who may write, or who may read.

use std::collections::BTreeSet;

use domain::context::metadata::Metadata;
use domain::context::reader::Reader;
use domain::context::session::visibility::{Audience, Visibility};
use domain::context::session::{ContextSession, ContextSessionId, NewSessionMessage, SessionEvent, SessionKind, SessionMessage, searchable_text};
use domain::id::{ProjectId, RunId, TaskId};
use domain::likeness::split_words;
use sqlx::AssertSqlSafe;

use crate::caller::Caller;
use crate::engine::dialect::{in_one_call, words_index};
use crate::engine::tx::Tx;
use crate::error::Result;

/// A session to insert.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewSessionRow<'a> {
    pub(crate) project: Option<&'a ProjectId>,
    pub(crate) kind: SessionKind,
    pub(crate) task: Option<&'a TaskId>,
    pub(crate) purpose: &'a str,
    pub(crate) creator: &'a str,
}

/// Inserts a session and returns its new id.
pub(crate) async fn insert(tx: &mut Tx, row: NewSessionRow<'_>, metadata: &Metadata) -> Result<ContextSessionId> {
    let id = ContextSessionId::new(rand::random());
    insert_as(tx, &id, row, metadata).await?;
    Ok(id)
}

/// Inserts a session with a given id.
pub(crate) async fn insert_as(tx: &mut Tx, id: &ContextSessionId, row: NewSessionRow<'_>, metadata: &Metadata) -> Result<()> {
    sqlx::query(
        "INSERT INTO context_sessions (id, project_id, kind, task_id, purpose, metadata, created_by, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
    )
    .bind(id.as_str())
    .bind(row.project.map(ProjectId::as_str))
    .bind(row.kind.as_str())
    .bind(row.task.map(TaskId::as_str))
    .bind(row.purpose)
    .bind(serde_json::to_string(metadata)?)
    .bind(row.creator)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Inserts the session that a project or a plan has by itself. The event of the project or the planning task covers it.
pub(crate) async fn insert_own(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: Option<&TaskId>, purpose: &str) -> Result<()> {
    let kind = if task.is_some() { SessionKind::Plan } else { SessionKind::Project };
    let creator = caller.name().unwrap_or_default();
    insert(tx, NewSessionRow { project: Some(project), kind, task, purpose, creator: &creator }, &Metadata::new()).await?;
    Ok(())
}

pub(crate) async fn close(tx: &mut Tx, id: &ContextSessionId) -> Result<()> {
    sqlx::query("UPDATE context_sessions SET closed_at = $2, updated_at = $2 WHERE id = $1")
        .bind(id.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Records an event of a session, which can be without a project.
pub(super) fn record(tx: &mut Tx, caller: &Caller, project: Option<&ProjectId>, event: SessionEvent) {
    match (project, caller) {
        (Some(project), Caller::Run(run)) => tx.record_without_card(caller, project, Some(&run.task_id), event),
        (Some(project), _) => tx.record_without_card(caller, project, None, event),
        (None, _) => tx.record(caller, event),
    }
}

const INSERT_MESSAGE: &str =
    "INSERT INTO session_messages (session_id, sender, sender_type, run_id, content, visibility, audience, metadata, parent_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id";
const ADD_ONE: &str = "INSERT INTO session_counts (session_id, audience, visibility, messages) VALUES ($1, $7, $6, 1)
  ON CONFLICT (session_id, audience) DO UPDATE SET messages = session_counts.messages + 1";
const TOUCH: &str = "UPDATE context_sessions SET updated_at = $10 WHERE id = $1 AND $11";

/// Inserts a validated message, and makes it searchable.
pub(crate) async fn insert_message(
    tx: &mut Tx,
    session: &ContextSession,
    sender: &Reader,
    audience: &Audience,
    new: NewSessionMessage,
) -> Result<SessionMessage> {
    let run = match sender {
        Reader::Run { run, .. } => Some(run.clone()),
        Reader::Agent { .. } | Reader::Person { .. } => None,
    };
    // Others must not see that there is a message which they may not read.
    let is_public = audience.visibility == Visibility::Public;
    let ids: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(in_one_call(&[INSERT_MESSAGE, ADD_ONE, TOUCH])))
        .bind(session.id.as_str())
        .bind(sender.name())
        .bind(sender.sender_type())
        .bind(run.as_ref().map(RunId::as_str))
        .bind(&new.content)
        .bind(audience.visibility.as_str())
        .bind(audience.as_text())
        .bind(serde_json::to_string(&new.metadata)?)
        .bind(new.parent_message_id)
        .bind(tx.now.to_string())
        .bind(is_public)
        .fetch_all(&mut tx.connection)
        .await?;
    let message = SessionMessage {
        id: ids.first().copied().ok_or(sqlx::Error::RowNotFound)?,
        session_id: session.id.clone(),
        sender: sender.name(),
        sender_type: sender.sender_type().to_owned(),
        run_id: run,
        content: new.content,
        visibility: audience.visibility,
        metadata: new.metadata,
        timestamp: tx.now,
        parent_message_id: new.parent_message_id,
    };
    let words: BTreeSet<String> =
        split_words(&searchable_text(&message.sender, &message.content, Some(&message.metadata))).map(|word| word.text).collect();
    words_index::add_message(&mut tx.connection, message.id, (message.session_id.as_str(), is_public), &words).await?;
    Ok(message)
}

async fn add_to_count(tx: &mut Tx, session: &ContextSessionId, audience: &str, visibility: Visibility, messages: i64) -> Result<()> {
    sqlx::query(
        "INSERT INTO session_counts (session_id, audience, visibility, messages) VALUES ($1, $2, $3, $4)
         ON CONFLICT (session_id, audience) DO UPDATE SET messages = session_counts.messages + excluded.messages",
    )
    .bind(session.as_str())
    .bind(audience)
    .bind(visibility.as_str())
    .bind(messages)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// The sessions of project `$1` with messages for the audience `$2`.
pub(crate) const WITH_AUDIENCE: &str = "SELECT c.session_id, c.visibility, c.messages FROM context_sessions s
    JOIN session_counts c ON c.session_id = s.id AND c.audience = $2 WHERE s.project_id = $1";

/// Takes the readers from the private messages of an external agent, because another agent gets its name.
pub(crate) async fn orphan_private_messages(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    for visibility in [Visibility::Private, Visibility::AgentOnly] {
        let word = private_audience(visibility, project, name);
        move_audience(tx, project, &word, &format!("{word}:gone")).await?;
    }
    Ok(())
}

/// Gives the private messages of an external agent to its new name.
pub(crate) async fn rename_reader(tx: &mut Tx, project: &ProjectId, old: &str, new: &str) -> Result<()> {
    for visibility in [Visibility::Private, Visibility::AgentOnly] {
        let [before, after] = [old, new].map(|name| private_audience(visibility, project, name));
        move_audience(tx, project, &before, &after).await?;
    }
    Ok(())
}

fn private_audience(visibility: Visibility, project: &ProjectId, name: &str) -> String {
    Audience::of_message(visibility, &Reader::Agent { project: project.clone(), name: name.to_owned(), admin: false }).as_text()
}

async fn move_audience(tx: &mut Tx, project: &ProjectId, before: &str, after: &str) -> Result<()> {
    let sessions: Vec<(String, String, i64)> =
        sqlx::query_as(WITH_AUDIENCE).bind(project.as_str()).bind(before).fetch_all(&mut tx.connection).await?;
    for (session, visibility, messages) in sessions {
        let session: ContextSessionId = session.parse()?;
        sqlx::query("UPDATE session_messages SET audience = $3 WHERE session_id = $1 AND audience = $2")
            .bind(session.as_str())
            .bind(before)
            .bind(after)
            .execute(&mut tx.connection)
            .await?;
        sqlx::query("DELETE FROM session_counts WHERE session_id = $1 AND audience = $2")
            .bind(session.as_str())
            .bind(before)
            .execute(&mut tx.connection)
            .await?;
        add_to_count(tx, &session, after, visibility.parse()?, messages).await?;
    }
    Ok(())
}
