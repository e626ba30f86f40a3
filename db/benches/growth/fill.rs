//! Multiplies rows of a database file in bulk. It must not name tables or columns, except the id counters and the event log.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

use crate::store::Outcome;

/// How many rows one statement inserts.
const BATCH: usize = 2000;
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// The last number of each kind of id and of each table with numbered rows.
pub(crate) struct Marks {
    ids: BTreeMap<String, i64>,
    rows: BTreeMap<String, i64>,
}

/// Numbers above `mark` belong to copied rows. Each copy adds `span` to them.
#[derive(Clone, Copy)]
struct Shift {
    mark: i64,
    span: i64,
}

/// The rows of one table to copy, and the columns with numbers to shift.
struct Template {
    table: String,
    columns: Vec<String>,
    shifts: Vec<Option<Shift>>,
    rows: Vec<Vec<Value>>,
}

impl Marks {
    pub(crate) async fn of(file: &Path) -> Outcome<Self> {
        let mut connection = open(file).await?;
        let ids = sqlx::query_as("SELECT kind, value FROM counters").fetch_all(&mut connection).await?;
        let mut rows = BTreeMap::new();
        for table in tables(&mut connection).await? {
            if let Some(key) = numbered(&mut connection, &table).await? {
                let last = format!("SELECT COALESCE(MAX({key}), 0) FROM {table}");
                rows.insert(table, sqlx::query_scalar(AssertSqlSafe(last)).fetch_one(&mut connection).await?);
            }
        }
        connection.close().await?;
        Ok(Self { ids: ids.into_iter().collect(), rows })
    }

    fn shifts(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> BTreeMap<String, Shift> {
        let shift = |(name, last): (&String, &i64)| {
            let mark = before.get(name).copied().unwrap_or_default();
            (name.clone(), Shift { mark, span: last - mark })
        };
        after.iter().map(shift).collect()
    }
}

/// Copies a database that may be in use.
pub(crate) async fn copy(from: &Path, to: &Path) -> Outcome {
    let mut connection = open(from).await?;
    sqlx::query("VACUUM INTO $1").bind(to.display().to_string()).execute(&mut connection).await?;
    Ok(connection.close().await?)
}

/// Adds `copies` of all rows created after `before`, with new ids.
pub(crate) async fn multiply(file: &Path, before: &Marks, copies: i64) -> Outcome {
    let after = Marks::of(file).await?;
    let (ids, rows) = (Marks::shifts(&before.ids, &after.ids), Marks::shifts(&before.rows, &after.rows));
    let mut connection = open(file).await?;
    let mut transaction = connection.begin().await?;
    for table in tables(&mut transaction).await? {
        let template = Template::read(&mut transaction, table, &ids, &rows).await?;
        template.insert(&mut transaction, &ids, copies).await?;
    }
    for (kind, shift) in &ids {
        let counted = sqlx::query("UPDATE counters SET value = value + $2 WHERE kind = $1").bind(kind).bind(shift.span * copies);
        counted.execute(&mut *transaction).await?;
    }
    // The copies did not pass through the store, which keeps these sums.
    sqlx::query("DELETE FROM finished_sums").execute(&mut *transaction).await?;
    let sums = "INSERT INTO finished_sums (project_id, status, total, merged, to_land, cost_micro_usd)
        SELECT project_id, status, COUNT(*), SUM(status = 'done' AND approved_sha IS NOT NULL),
          SUM(status = 'done' AND merged_sha IS NOT NULL AND landing_id IS NULL), SUM(cost_micro_usd)
        FROM tasks WHERE status IN ('done', 'cancelled') GROUP BY project_id, status";
    sqlx::query(sums).execute(&mut *transaction).await?;
    // The words of the copies.
    let words = "INSERT INTO search_words (rowid, words) SELECT d.id, lower(COALESCE(c.content, t.title || ' ' || t.description))
        FROM search_documents d LEFT JOIN tasks t ON t.id = d.task_id LEFT JOIN comments c ON d.kind = 'comment' AND c.id = d.reference
        WHERE d.id > $1";
    let copied = before.rows.get("search_documents").copied().unwrap_or_default() + rows.get("search_documents").map_or(0, |shift| shift.span);
    sqlx::query(words).bind(copied).execute(&mut *transaction).await?;
    let dangling = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut *transaction).await?;
    if !dangling.is_empty() {
        return Err(format!("{} copied rows refer to missing ones", dangling.len()).into());
    }
    transaction.commit().await?;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await?;
    Ok(connection.close().await?)
}

/// Repeats the newest event of a comment until the log holds `total` events.
pub(crate) async fn lengthen_log(file: &Path, total: i64) -> Outcome {
    let mut connection = open(file).await?;
    let insert = "WITH RECURSIVE number (n) AS (SELECT MAX(seq) + 1 FROM events UNION ALL SELECT n + 1 FROM number WHERE n < $1)
        INSERT INTO events (seq, at, project_id, task_id, run_id, actor, kind, payload)
        SELECT n, at, project_id, task_id, run_id, actor, kind, payload FROM number,
          (SELECT * FROM events WHERE kind = 'comment_added' ORDER BY seq DESC LIMIT 1)";
    sqlx::query(insert).bind(total).execute(&mut connection).await?;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await?;
    Ok(connection.close().await?)
}

/// Fails unless a table has the expected number of rows.
pub(crate) async fn check_count(file: &Path, table: &str, expected: usize) -> Outcome {
    let mut connection = open(file).await?;
    let found: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"))).fetch_one(&mut connection).await?;
    connection.close().await?;
    if found == i64::try_from(expected)? { Ok(()) } else { Err(format!("{table} has {found} rows instead of {expected}").into()) }
}

impl Template {
    async fn read(
        connection: &mut SqliteConnection,
        table: String,
        ids: &BTreeMap<String, Shift>,
        numbers: &BTreeMap<String, Shift>,
    ) -> Outcome<Self> {
        let columns: Vec<String> = sqlx::query_scalar("SELECT name FROM pragma_table_info($1)").bind(&table).fetch_all(&mut *connection).await?;
        let mut shifts = vec![None; columns.len()];
        let key = numbered(connection, &table).await?;
        let references: Vec<(String, String)> =
            sqlx::query_as("SELECT \"from\", \"table\" FROM pragma_foreign_key_list($1)").bind(&table).fetch_all(&mut *connection).await?;
        for (column, shift) in columns.iter().zip(&mut shifts) {
            let target = references.iter().find(|(from, _)| from == column).map(|(_, to)| to);
            let target = target.or_else(|| key.as_ref().filter(|key| *key == column).map(|_| &table));
            *shift = target.and_then(|target| numbers.get(target)).copied();
        }
        let select = format!("SELECT json_array({}) FROM {table}", columns.join(", "));
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(select)).fetch_all(&mut *connection).await?;
        let is_new = |row: &str, values: &[Value]| {
            let numbered = values.iter().zip(&shifts).any(|(value, shift)| shift.is_some_and(|shift| value.as_i64().is_some_and(|n| n > shift.mark)));
            numbered || renumber(row, ids, 1) != row
        };
        let mut template = Vec::new();
        for row in rows {
            let values: Vec<Value> = serde_json::from_str(&row)?;
            if is_new(&row, &values) {
                template.push(values);
            }
        }
        Ok(Self { table, columns, shifts, rows: template })
    }

    /// Inserts the copies. Rows without an id in their key, such as token hashes, are skipped.
    async fn insert(&self, connection: &mut SqliteConnection, ids: &BTreeMap<String, Shift>, copies: i64) -> Outcome {
        let values: Vec<String> = (0..self.columns.len()).map(|place| format!("value ->> '$[{place}]'")).collect();
        let insert = format!("INSERT OR IGNORE INTO {} ({}) SELECT {} FROM json_each($1)", self.table, self.columns.join(", "), values.join(", "));
        let mut batch = Vec::with_capacity(BATCH);
        for copy in 1..=copies {
            for row in &self.rows {
                batch.push(row.iter().zip(&self.shifts).map(|(value, shift)| copied(value, *shift, ids, copy)).collect::<Value>());
            }
            if batch.len() >= BATCH || copy == copies {
                let rows = Value::Array(std::mem::take(&mut batch)).to_string();
                sqlx::query(AssertSqlSafe(insert.clone())).bind(rows).execute(&mut *connection).await?;
            }
        }
        Ok(())
    }
}

fn copied(value: &Value, shift: Option<Shift>, ids: &BTreeMap<String, Shift>, copy: i64) -> Value {
    match (value, shift) {
        (Value::String(text), _) => renumber(text, ids, copy).into(),
        (Value::Number(number), Some(shift)) => match number.as_i64() {
            Some(number) if number > shift.mark => (number + shift.span * copy).into(),
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

/// Replaces every copied id by the id of its copy.
fn renumber(text: &str, ids: &BTreeMap<String, Shift>, copy: i64) -> String {
    let mut renumbered = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(dash) = rest.find('-') {
        let (head, tail) = rest.split_at(dash + 1);
        renumbered.push_str(head);
        let (digits, after) = tail.split_at(tail.bytes().take_while(u8::is_ascii_digit).count());
        let shift = ids.iter().find(|(kind, _)| head[..dash].ends_with(kind.as_str())).map(|(_, shift)| shift);
        match (shift, digits.parse::<i64>()) {
            (Some(shift), Ok(number)) if number > shift.mark => {
                let _infallible = write!(renumbered, "{:03}", number + shift.span * copy);
            }
            _ => renumbered.push_str(digits),
        }
        rest = after;
    }
    renumbered.push_str(rest);
    renumbered
}

async fn open(file: &Path) -> Outcome<SqliteConnection> {
    let url = format!("sqlite://{}", file.display());
    // A store that was dropped right before may still be writing its log back.
    let options = SqliteConnectOptions::from_str(&url)?.foreign_keys(false).synchronous(SqliteSynchronous::Off).busy_timeout(BUSY_TIMEOUT);
    Ok(options.disable_statement_logging().connect().await?)
}

async fn tables(connection: &mut SqliteConnection) -> Outcome<Vec<String>> {
    let select = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx_%' AND name NOT LIKE 'search_words%'
        ORDER BY name";
    Ok(sqlx::query_scalar(select).fetch_all(connection).await?)
}

/// The column by which SQLite numbers the rows of a table.
async fn numbered(connection: &mut SqliteConnection, table: &str) -> Outcome<Option<String>> {
    let keys: Vec<(String, String)> =
        sqlx::query_as("SELECT name, type FROM pragma_table_info($1) WHERE pk > 0").bind(table).fetch_all(connection).await?;
    Ok(match keys.as_slice() {
        [(name, kind)] if kind == "INTEGER" => Some(name.clone()),
        _ => None,
    })
}
