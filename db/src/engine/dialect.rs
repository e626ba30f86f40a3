//! Everything that is true of SQLite only: how the file is opened, its catalog, its error codes, and the statements of the writer.
//!
//! No other file of the store, except those of its folder, may contain these words. Must not know any table of the product.

pub(crate) mod words_index;

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use domain::config::Durability;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};

use crate::error::{Error, Result};

/// Older ones can corrupt a database in WAL mode: <https://sqlite.org/wal.html#walresetbug>.
const MIN_VERSION: (&str, [u32; 3]) = ("3.51.3", [3, 51, 3]);
/// `SQLITE_NOTADB`: <https://sqlite.org/rescode.html#notadb>.
const NOT_A_DATABASE: &str = "26";
/// `SQLITE_FULL`, and `SQLITE_IOERR_SHMSIZE` when the index of the write-ahead log cannot grow: <https://sqlite.org/rescode.html#full>.
const DISK_FULL: [&str; 2] = ["13", "4874"];

/// The writer's connection. The readers use the same options with `read_only`.
pub(crate) fn options(path: &Path, durability: Durability) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(match durability {
            Durability::Full => SqliteSynchronous::Full,
            Durability::Normal => SqliteSynchronous::Normal,
        })
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(5))
        .pragma("trusted_schema", "OFF")
        .pragma("temp_store", "MEMORY")
        .pragma("journal_size_limit", "67108864")
        .disable_statement_logging()
}

/// A connection that only looks at a file and creates none next to it, unless someone is writing to it.
pub(crate) fn inspection_options(path: &Path) -> SqliteConnectOptions {
    // Recent commits may be in the write-ahead log only. Without that file nobody writes.
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    SqliteConnectOptions::new().filename(path).read_only(true).immutable(!Path::new(&log).exists()).disable_statement_logging()
}

/// The names of all tables.
pub(crate) async fn tables(connection: &mut SqliteConnection) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar("SELECT name FROM sqlite_master WHERE type = 'table'").fetch_all(connection).await
}

/// The column that tells the place of a row in its table, in [`page`] and [`continuation`].
pub(crate) const PLACE: &str = "place_in_table";

/// The names of the columns of a table of another program.
pub(crate) async fn columns(connection: &mut SqliteConnection, table: &str) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar("SELECT name FROM pragma_table_info($1)").bind(table).fetch_all(connection).await
}

/// The rows of a table of another program after a place, in the order in which they were inserted.
pub(crate) async fn page(connection: &mut SqliteConnection, table: &str, after: i64, limit: i64) -> sqlx::Result<Vec<SqliteRow>> {
    let statement = format!("SELECT rowid AS {PLACE}, * FROM {table} WHERE rowid > $1 ORDER BY rowid LIMIT $2");
    sqlx::query(AssertSqlSafe(statement)).bind(after).bind(limit).fetch_all(connection).await
}

/// The rows after a place that fulfil a condition, up to the first that does not.
pub(crate) async fn continuation(connection: &mut SqliteConnection, table: &str, after: i64, condition: &str) -> sqlx::Result<Vec<SqliteRow>> {
    let end = format!("(SELECT COALESCE(MIN(rowid), $2) FROM {table} WHERE rowid > $1 AND NOT ({condition}))");
    let statement = format!("SELECT rowid AS {PLACE}, * FROM {table} WHERE rowid > $1 AND rowid < {end} ORDER BY rowid");
    sqlx::query(AssertSqlSafe(statement)).bind(after).bind(i64::MAX).fetch_all(connection).await
}

/// Joins statements that share their parameters into one call, because each call costs a turn between two threads. With rows, all are fetched.
pub(crate) fn in_one_call(statements: &[&str]) -> String {
    statements.join("; ")
}

/// Wraps a query of many rows, so that these columns of them arrive as one JSON array of arrays. A row of its own costs a copy of each of its
/// columns and a turn between two threads.
pub(crate) fn in_one_row(columns: &str, query: &str) -> String {
    format!("SELECT json_group_array(json_array({columns})) FROM ({query})")
}

/// A column with JSON, for [`in_one_row`].
pub(crate) fn json_column(name: &str) -> String {
    format!("json({name})")
}

pub(crate) async fn check_version(connection: &mut SqliteConnection) -> Result<()> {
    let found: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(connection).await?;
    let numbers: Vec<u32> = found.split('.').filter_map(|part| u32::from_str(part).ok()).collect();
    if numbers.as_slice() < MIN_VERSION.1.as_slice() {
        return Err(Error::OldSqlite { found, needed: MIN_VERSION.0 });
    }
    Ok(())
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(cause) if cause.code().is_some_and(|code| DISK_FULL.contains(&&*code)) => Self::DiskFull,
            _ => Self::Storage(Box::new(error)),
        }
    }
}

/// Whether `error` says that the file is no database.
pub(crate) fn is_not_a_database(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error) if error.code().as_deref() == Some(NOT_A_DATABASE))
}

/// Copies the database into an empty file, in one read transaction.
pub(crate) async fn copy_into(connection: &mut SqliteConnection, target: &Path) -> Result<()> {
    let name = target.to_str().ok_or_else(|| Error::Unreadable(format!("the path {} is not UTF-8", target.display())))?;
    sqlx::query("VACUUM INTO $1").bind(name).execute(connection).await?;
    Ok(())
}

/// The defects of a database; none if it is in order.
pub(crate) async fn check_integrity(connection: &mut SqliteConnection) -> Result<Vec<String>> {
    let found: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check(3)").fetch_all(connection).await?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

/// Brings the write-ahead log into the database.
pub(crate) async fn empty_log(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    run(connection, "PRAGMA wal_checkpoint(TRUNCATE)").await
}

/// Starts the transaction of a batch and the savepoint of its first use-case. One call, because each costs a way to the connection's thread.
pub(crate) async fn begin_batch(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    run(connection, "BEGIN IMMEDIATE; SAVEPOINT use_case").await
}

/// Ends the savepoint of one use-case and starts the next.
pub(crate) async fn next_use_case(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    run(connection, "RELEASE use_case; SAVEPOINT use_case").await
}

/// Undoes the current use-case alone.
pub(crate) async fn undo_use_case(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    run(connection, "ROLLBACK TO use_case").await
}

pub(crate) async fn commit_batch(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    run(connection, "RELEASE use_case; COMMIT").await
}

pub(crate) async fn roll_back_batch(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    run(connection, "ROLLBACK").await
}

async fn run(connection: &mut SqliteConnection, statements: &'static str) -> sqlx::Result<()> {
    sqlx::query(statements).execute(connection).await.map(|_| ())
}
