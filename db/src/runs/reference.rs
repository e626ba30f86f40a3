//! References that this program created in repositories. It may change no others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use domain::id::TaskId;
use sqlx::Connection;

use crate::engine::inspect::open_for_reading;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

/// The names of references, by the common `.git` folder of their repository.
pub type RecordedReferences = BTreeMap<PathBuf, BTreeSet<String>>;

/// Reads every reference that this program created, also those of deleted projects, in a database file that a server may use meanwhile. A file
/// that does not exist has none. Reads a row for each of them, so a server must not call this.
///
/// # Errors
/// When it is not a database of this program, or one of an unsuitable version.
pub async fn recorded_references(path: &Path) -> Result<RecordedReferences> {
    let Some(mut connection) = open_for_reading(path).await? else { return Ok(RecordedReferences::new()) };
    let rows: Vec<(String, String)> = sqlx::query_as("SELECT git_dir, name FROM owned_refs").fetch_all(&mut connection).await?;
    connection.close().await?;
    let mut found = RecordedReferences::new();
    for (git_dir, name) in rows {
        found.entry(PathBuf::from(git_dir)).or_default().insert(name);
    }
    Ok(found)
}

impl Db {
    /// Records the reference `name` of a repository as owned, before it is created.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn claim_reference(&self, git_dir: &str, name: &str, task: Option<&TaskId>) -> Result<()> {
        let (git_dir, name, task) = (git_dir.to_owned(), name.to_owned(), task.cloned());
        self.write(move |tx| {
            Box::pin(async move {
                sqlx::query(
                    "INSERT INTO owned_refs (git_dir, name, task_id, claimed_at) VALUES ($1, $2, $3, $4)
                       ON CONFLICT (git_dir, name) DO UPDATE SET claimed_at = excluded.claimed_at",
                )
                .bind(git_dir)
                .bind(name)
                .bind(task.as_ref().map(TaskId::as_str))
                .bind(tx.now.to_string())
                .execute(&mut tx.connection)
                .await?;
                tx.skip_event(NoEventReason::References);
                Ok(())
            })
        })
        .await
    }

    /// Whether this program created the reference.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn owns_reference(&self, git_dir: &str, name: &str) -> Result<bool> {
        let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM owned_refs WHERE git_dir = $1 AND name = $2")
            .bind(git_dir)
            .bind(name)
            .fetch_optional(&self.readers)
            .await?;
        Ok(found.is_some())
    }

    /// Lists the owned references of a repository whose task has neither a live run nor a person at work. Only the server writes these.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn idle_references(&self, git_dir: &str) -> Result<Vec<String>> {
        let found = sqlx::query_scalar(
            "SELECT name FROM owned_refs
             WHERE git_dir = $1 AND (task_id IS NULL OR task_id NOT IN (SELECT task_id FROM agent_runs WHERE completed_at IS NULL
                  UNION ALL SELECT id FROM tasks WHERE status IN ('backlog', 'in_progress', 'in_review') AND held_by = 'takeover'))
             ORDER BY name",
        );
        Ok(found.bind(git_dir).fetch_all(&self.readers).await?)
    }
}
