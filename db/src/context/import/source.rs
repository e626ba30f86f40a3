//! Reads the database of another program, a page at a time. Must not change it, and must not know any of its tables.

use std::collections::BTreeSet;
use std::path::Path;

use domain::context::import::{ImportRefusal, ImportSource};
use domain::context::metadata::Metadata;
use domain::time::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, ConnectOptions, Row, SqliteConnection};

use crate::engine::dialect;
use crate::error::Result;

/// The number of rows in a page.
const PAGE: i64 = 500;

/// An open database.
pub(super) struct Source {
    connection: SqliteConnection,
    pub(super) tables: BTreeSet<String>,
    /// The zone of times that name none.
    zone: TimeZone,
}

impl Source {
    /// Opens a database that has at least the tables `required`.
    ///
    /// # Errors
    /// When it is no such database.
    pub(super) async fn open(origin: ImportSource, path: &str, required: &[&str]) -> Result<Self> {
        let unusable = |problem: String| ImportRefusal::Unusable { path: path.to_owned(), origin, problem };
        if !Path::new(path).is_absolute() {
            return Err(unusable("the path is not absolute".to_owned()).into());
        }
        if !Path::new(path).is_file() {
            return Err(unusable("there is no such file".to_owned()).into());
        }
        let opened = async {
            let mut connection = dialect::inspection_options(Path::new(path)).connect().await?;
            let tables = dialect::tables(&mut connection).await?;
            Ok::<_, sqlx::Error>((connection, tables))
        };
        let (connection, tables) = opened.await.map_err(|error| unusable(error.to_string()))?;
        let tables: BTreeSet<String> = tables.into_iter().collect();
        if let Some(missing) = required.iter().find(|table| !tables.contains(**table)) {
            return Err(unusable(format!("it has no table {missing}")).into());
        }
        // dead-drop writes the time of its machine, shared-context-server UTC.
        let zone = if origin == ImportSource::DeadDrop { TimeZone::system() } else { TimeZone::UTC };
        Ok(Self { connection, tables, zone })
    }

    /// Returns the next rows of a table, in the order in which they were inserted; none if the table does not exist.
    pub(super) async fn page(&mut self, table: &str, after: i64) -> Result<Vec<Record>> {
        if !self.tables.contains(table) {
            return Ok(Vec::new());
        }
        let rows = dialect::page(&mut self.connection, table, after, PAGE).await?;
        Ok(self.records(rows))
    }

    /// Returns the rows that follow `after` and have a flag, up to the first that does not; none if the flag does not exist.
    pub(super) async fn continuation(&mut self, table: &str, after: i64, flag: &str) -> Result<Vec<Record>> {
        if !self.has_column(table, flag).await? {
            return Ok(Vec::new());
        }
        let rows = dialect::continuation(&mut self.connection, table, after, flag).await?;
        Ok(self.records(rows))
    }

    /// Returns the rows of a table for which a column is within two numbers.
    pub(super) async fn between(&mut self, table: &str, column: &str, first: i64, last: i64) -> Result<Vec<Record>> {
        if !self.tables.contains(table) {
            return Ok(Vec::new());
        }
        let statement = format!("SELECT * FROM {table} WHERE {column} BETWEEN {first} AND {last}");
        let rows = sqlx::query(AssertSqlSafe(statement)).fetch_all(&mut self.connection).await?;
        Ok(self.records(rows))
    }

    async fn has_column(&mut self, table: &str, column: &str) -> Result<bool> {
        Ok(dialect::columns(&mut self.connection, table).await?.iter().any(|name| name == column))
    }

    fn records(&self, rows: Vec<SqliteRow>) -> Vec<Record> {
        rows.into_iter().map(|row| Record { row, zone: self.zone.clone() }).collect()
    }

    /// Returns the different values of a column; none if it does not exist.
    pub(super) async fn distinct(&mut self, table: &str, column: &str) -> Result<Vec<String>> {
        if !self.has_column(table, column).await? {
            return Ok(Vec::new());
        }
        let statement = format!("SELECT DISTINCT CAST({column} AS TEXT) FROM {table} WHERE {column} IS NOT NULL");
        Ok(sqlx::query_scalar(AssertSqlSafe(statement)).fetch_all(&mut self.connection).await?)
    }

    pub(super) async fn count(&mut self, table: &str) -> Result<u32> {
        if !self.tables.contains(table) {
            return Ok(0);
        }
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"))).fetch_one(&mut self.connection).await?;
        Ok(u32::try_from(rows).unwrap_or(u32::MAX))
    }
}

/// A row. Columns can be missing, because older versions had fewer, and their types are not enforced.
pub(super) struct Record {
    row: SqliteRow,
    zone: TimeZone,
}

impl Record {
    /// Returns its place in the table.
    pub(super) fn place(&self) -> i64 {
        self.integer(dialect::PLACE).unwrap_or_default()
    }

    /// Returns a value as text; none if it is missing, NULL or blank.
    pub(super) fn text(&self, column: &str) -> Option<String> {
        let bytes: Option<Vec<u8>> = self.row.try_get_unchecked(column).ok()?;
        let text = String::from_utf8_lossy(&bytes?).into_owned();
        (!text.trim().is_empty()).then_some(text)
    }

    pub(super) fn integer(&self, column: &str) -> Option<i64> {
        self.row.try_get_unchecked::<Option<i64>, _>(column).ok()?
    }

    pub(super) fn flag(&self, column: &str) -> bool {
        self.integer(column).is_some_and(|value| value != 0)
    }

    /// Returns a time: text with or without a zone, or the seconds since 1970.
    pub(super) fn time(&self, column: &str) -> Option<Timestamp> {
        time_of(self.text(column)?.trim(), &self.zone)
    }

    /// Returns a JSON object; an empty one if there is none.
    pub(super) fn object(&self, column: &str) -> Metadata {
        self.text(column).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

/// Reads a time. Without a zone, one with a `T` is of `zone`, and one with a space was written by SQLite in UTC.
fn time_of(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    if let Ok(time) = text.parse::<DateTime>() {
        let zone = if text.contains(' ') { &TimeZone::UTC } else { zone };
        return Some(Timestamp::from_milliseconds(zone.to_timestamp(time).ok()?.as_millisecond()));
    }
    let seconds: f64 = text.parse().ok().filter(|seconds: &f64| seconds.is_finite())?;
    #[expect(clippy::cast_possible_truncation, reason = "a conversion of a float saturates, and the time is clamped")]
    Some(Timestamp::from_milliseconds((seconds * 1000.0) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_both_programs_are_read() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let read = |text: &str| time_of(text, &zone).map(|time| time.to_string());
        assert_eq!(read("2026-01-31T09:05:00.123456+00:00").as_deref(), Some("2026-01-31T09:05:00.123Z"));
        assert_eq!(read("2026-01-31T09:05:00.5").as_deref(), Some("2026-01-31T07:05:00.500Z"));
        assert_eq!(read("2026-01-31 09:05:00").as_deref(), Some("2026-01-31T09:05:00.000Z"));
        assert_eq!(read("1769850300.25").as_deref(), Some("2026-01-31T09:05:00.250Z"));
        assert_eq!([read("soon"), read("NaN"), read("")], [None, None, None]);
    }
}
