//! Writes knowledge with its events, and who has read it. Must not decide who may write.

use domain::id::{ProjectId, RunId};
use domain::warroom::knowledge::refusal::KnowledgeRefusal;
use domain::warroom::knowledge::{Knowledge, KnowledgeEvent, KnowledgeKind, KnowledgePlace, MAX_LIVE};

use super::row::{self, knowledge_of};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The most bytes of texts that one reading returns.
const MAX_READ_BYTES: usize = 24_000;

/// Once for each repository that is gone or checkout that is chosen, so it may read all items of a project.
pub(super) const FORGET: &str = "UPDATE knowledge SET stored = 0 WHERE project_id = $1 AND stored = 1";

/// The texts of a new item or version.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) kind: KnowledgeKind,
    pub(super) topic: &'a str,
    pub(super) body: &'a str,
    pub(super) evidence: Option<&'a str>,
    pub(super) paths: &'a [String],
}

impl Text<'_> {
    /// Whether an item has these texts already.
    pub(super) fn is_of(&self, item: &Knowledge) -> bool {
        item.body == self.body && item.evidence.as_deref() == self.evidence && item.paths == self.paths
    }
}

/// Inserts an item, or writes the next version of the live one. Its author has read it.
pub(super) async fn put(tx: &mut Tx, caller: &Caller, project: &ProjectId, live: Option<&Knowledge>, text: Text<'_>) -> Result<Knowledge> {
    let author = caller.name().unwrap_or_default();
    let sql = match live {
        Some(_) => {
            "UPDATE knowledge SET body = $4, evidence = $5, paths = $6, author = $7, run_id = $8, updated_at = $9, version = version + 1, stored = 0
             WHERE project_id = $1 AND kind = $2 AND topic = $3 AND closed_at IS NULL RETURNING *"
        }
        None => {
            "INSERT INTO knowledge (project_id, kind, topic, body, evidence, paths, author, run_id, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) RETURNING *"
        }
    };
    if live.is_none() && row::count_live(&mut tx.connection, project).await? >= i64::try_from(MAX_LIVE).unwrap_or(i64::MAX) {
        return Err(KnowledgeRefusal::TooMuch.into());
    }
    let row = sqlx::query(sql)
        .bind(project.as_str())
        .bind(text.kind.as_str())
        .bind(text.topic)
        .bind(text.body)
        .bind(text.evidence)
        .bind(serde_json::to_string(text.paths)?)
        .bind(&author)
        .bind(caller.run().map(RunId::as_str))
        .bind(tx.now.to_string())
        .fetch_one(&mut tx.connection)
        .await?;
    let item = knowledge_of(&row)?;
    mark_read(tx, &item, &author).await?;
    let (knowledge, topic, version) = (item.id, item.topic.clone(), item.version);
    let event = match item.kind {
        KnowledgeKind::Intel => KnowledgeEvent::IntelWritten { knowledge, topic, version },
        KnowledgeKind::Trap => KnowledgeEvent::TrapWritten { knowledge, topic, version },
        KnowledgeKind::Note => KnowledgeEvent::NoteWritten { knowledge, topic, version },
    };
    tx.record_without_card(caller, project, None, event);
    Ok(item)
}

/// Archives intel, or resolves a trap.
pub(super) async fn close(tx: &mut Tx, caller: &Caller, item: &Knowledge, closing: &str) -> Result<Knowledge> {
    let row = sqlx::query("UPDATE knowledge SET closed_at = $2, closed_by = $3, closing = $4, stored = 0 WHERE id = $1 RETURNING *")
        .bind(item.id)
        .bind(tx.now.to_string())
        .bind(caller.name().unwrap_or_default())
        .bind(closing)
        .fetch_one(&mut tx.connection)
        .await?;
    sqlx::query("DELETE FROM knowledge_read WHERE knowledge_id = $1").bind(item.id).execute(&mut tx.connection).await?;
    let (knowledge, topic) = (item.id, item.topic.clone());
    let event = match item.kind {
        KnowledgeKind::Trap => KnowledgeEvent::TrapResolved { knowledge, topic },
        KnowledgeKind::Intel | KnowledgeKind::Note => KnowledgeEvent::IntelArchived { knowledge, topic },
    };
    tx.record_without_card(caller, &item.project_id, None, event);
    knowledge_of(&row)
}

/// Returns the first of these items, as far as they fit into one reading, which now count as read.
pub(crate) async fn read_fitting(tx: &mut Tx, mut items: Vec<Knowledge>, reader: &str) -> Result<Vec<Knowledge>> {
    let mut bytes = 0;
    let fitting = items.iter().take_while(|item| {
        bytes += item.body.len() + item.evidence.as_ref().map_or(0, String::len);
        bytes <= MAX_READ_BYTES
    });
    let fitting = fitting.count().max(1);
    items.truncate(fitting);
    for item in &items {
        mark_read(tx, item, reader).await?;
    }
    Ok(items)
}

/// Records that a participant has read the current version.
async fn mark_read(tx: &mut Tx, item: &Knowledge, reader: &str) -> Result<()> {
    sqlx::query(
        "INSERT INTO knowledge_read (knowledge_id, reader, version) VALUES ($1, $2, $3)
         ON CONFLICT (knowledge_id, reader) DO UPDATE SET version = excluded.version",
    )
    .bind(item.id)
    .bind(reader)
    .bind(item.version)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Forgets what an agent has read, before another agent gets its name.
pub(crate) async fn forget_reader(tx: &mut Tx, project: &ProjectId, agent: &str) -> Result<()> {
    sqlx::query(
        "DELETE FROM knowledge_read WHERE reader = $2 AND knowledge_id IN (SELECT id FROM knowledge WHERE project_id = $1 AND closed_at IS NULL)",
    )
    .bind(project.as_str())
    .bind(agent)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Sets where the files of a project's knowledge are. If they are to be in the checkout too, all of them are written again.
pub(crate) async fn set_place(tx: &mut Tx, project: &ProjectId, place: KnowledgePlace) -> Result<()> {
    sqlx::query("UPDATE projects SET knowledge = $2 WHERE id = $1").bind(project.as_str()).bind(place.as_str()).execute(&mut tx.connection).await?;
    if place == KnowledgePlace::Repo {
        sqlx::query(FORGET).bind(project.as_str()).execute(&mut tx.connection).await?;
    }
    Ok(())
}
