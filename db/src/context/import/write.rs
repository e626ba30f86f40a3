//! Records which records were imported, and as what. Must not know how they are written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::context::import::ImportKind;
use domain::id::ProjectId;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::{Error, Result};

/// Where an import writes.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) caller: Caller,
    pub(super) project: ProjectId,
    /// Identifies the other database.
    pub(super) origin: String,
    /// The names of its agents, and what they are called here.
    pub(super) names: Arc<BTreeMap<String, String>>,
}

impl Target {
    /// Returns the name of an agent here.
    pub(super) fn name(&self, original: &str) -> String {
        self.names.get(original).map_or_else(|| original.to_owned(), Clone::clone)
    }
}

/// A record that is ready to be written.
pub(super) struct Item<T> {
    /// Its id or name in the other database.
    pub(super) original: String,
    pub(super) value: T,
}

/// The outcome for a record.
pub(super) enum Written {
    As(String),
    /// It was written, but not as it was.
    Changed(String, String),
    Skipped(String),
}

/// Returns those of `originals` that were imported before, and what they became.
pub(super) async fn known(
    connection: &mut SqliteConnection,
    target: &Target,
    kind: ImportKind,
    originals: &BTreeSet<&str>,
) -> Result<BTreeMap<String, String>> {
    let mut select: QueryBuilder<Sqlite> = QueryBuilder::new("SELECT original, reference FROM imported_records WHERE origin = ");
    select.push_bind(&target.origin).push(" AND project_id = ").push_bind(target.project.as_str());
    select.push(" AND kind = ").push_bind(kind.as_str()).push(" AND original IN (");
    let mut list = select.separated(", ");
    for original in originals {
        list.push_bind(*original);
    }
    let rows = select.push(")").build().fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get("original")?, row.try_get("reference")?))).collect()
}

/// Returns what a record became, if it was imported.
pub(super) async fn reference<T>(tx: &mut Tx, target: &Target, kind: ImportKind, original: Option<&str>) -> Result<Option<T>>
where
    T: std::str::FromStr,
    Error: From<T::Err>,
{
    let Some(original) = original else { return Ok(None) };
    let found = known(&mut tx.connection, target, kind, &BTreeSet::from([original])).await?;
    Ok(found.get(original).map(|reference| reference.parse()).transpose()?)
}

pub(super) async fn remember(tx: &mut Tx, target: &Target, kind: ImportKind, original: &str, reference: &str) -> Result<()> {
    sqlx::query("INSERT INTO imported_records (origin, project_id, kind, original, reference) VALUES ($1, $2, $3, $4, $5)")
        .bind(&target.origin)
        .bind(target.project.as_str())
        .bind(kind.as_str())
        .bind(original)
        .bind(reference)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}
