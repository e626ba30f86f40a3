//! Keeps the index of searchable texts: each write of a text calls it in its own transaction. Must not decide who may write or read.

use std::collections::BTreeSet;

use domain::board::search::SearchKind;
use domain::id::{ProjectId, TaskId};
use domain::likeness::split_words;

use crate::engine::dialect::words_index;
use crate::engine::tx::Tx;
use crate::error::Result;

/// A text with its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'a> {
    pub(crate) kind: SearchKind,
    /// The id of the task, comment, message, run, entry of memory or entry of the raid log.
    pub(crate) reference: &'a str,
    pub(crate) project: &'a ProjectId,
    pub(crate) task: Option<&'a TaskId>,
}

/// Adds a text.
pub(crate) async fn add(tx: &mut Tx, document: Document<'_>, text: &str) -> Result<()> {
    let id: i64 = sqlx::query_scalar("INSERT INTO search_documents (kind, reference, project_id, task_id) VALUES ($1, $2, $3, $4) RETURNING id")
        .bind(document.kind.as_str())
        .bind(document.reference)
        .bind(document.project.as_str())
        .bind(document.task.map(TaskId::as_str))
        .fetch_one(&mut tx.connection)
        .await?;
    words_index::add(&mut tx.connection, id, &words_of(text)).await?;
    Ok(())
}

/// Replaces a text, and returns whether it was there.
pub(crate) async fn replace(tx: &mut Tx, kind: SearchKind, reference: &str, text: &str) -> Result<bool> {
    let id: Option<i64> = sqlx::query_scalar("SELECT id FROM search_documents WHERE kind = $1 AND reference = $2")
        .bind(kind.as_str())
        .bind(reference)
        .fetch_optional(&mut tx.connection)
        .await?;
    if let Some(id) = id {
        words_index::remove(&mut tx.connection, id).await?;
        words_index::add(&mut tx.connection, id, &words_of(text)).await?;
    }
    Ok(id.is_some())
}

/// Removes a text.
pub(crate) async fn remove(tx: &mut Tx, kind: SearchKind, reference: &str) -> Result<()> {
    let id: Option<i64> = sqlx::query_scalar("DELETE FROM search_documents WHERE kind = $1 AND reference = $2 RETURNING id")
        .bind(kind.as_str())
        .bind(reference)
        .fetch_optional(&mut tx.connection)
        .await?;
    if let Some(id) = id {
        words_index::remove(&mut tx.connection, id).await?;
    }
    Ok(())
}

fn words_of(text: &str) -> BTreeSet<String> {
    split_words(text).map(|word| word.text).collect()
}
