//! The rows of the audit log and their hashes: writing them, reading them, checking the chain, and removing its oldest part.
//!
//! Must not know why a row was written.

use domain::audit::{AuditCheck, AuditRow, BrokenRow};
use domain::time::Timestamp;
use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, QueryBuilder, Row, Sqlite, SqliteConnection};

use crate::engine::act::hex;
use crate::engine::column::{optional, parsed};
use crate::error::Result;

const COLUMNS: &str = "id, at, kind, credential, actor, run_id, action, project_id, subject, result, detail, seq, count, hash";

/// Returns the hash of a row after the row with the hash `before`.
pub(crate) fn hash(row: &AuditRow, before: &str) -> String {
    hex(&Sha256::digest(row.hashed_text(before).as_bytes()))
}

/// Appends rows, at least one. One call, because each costs a way to the connection's thread.
pub(crate) async fn insert(connection: &mut SqliteConnection, rows: &[AuditRow]) -> Result<()> {
    let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new(format!("INSERT INTO audit ({COLUMNS}) "));
    insert.push_values(rows, |mut columns, row| {
        columns
            .push_bind(row.id)
            .push_bind(row.at.to_string())
            .push_bind(row.kind.as_str())
            .push_bind(&row.credential)
            .push_bind(row.actor.as_ref().map(ToString::to_string))
            .push_bind(row.run_id.as_ref().map(ToString::to_string))
            .push_bind(&row.action)
            .push_bind(row.project_id.as_ref().map(ToString::to_string))
            .push_bind(&row.subject)
            .push_bind(&row.result)
            .push_bind(&row.detail)
            .push_bind(row.seq)
            .push_bind(row.count)
            .push_bind(&row.hash);
    });
    insert.build().execute(connection).await?;
    Ok(())
}

/// The newest rows before `$1`, of which `$2` are read at most, and those among them that fit the filters.
pub(crate) fn page_sql() -> String {
    format!(
        "SELECT {COLUMNS} FROM (SELECT {COLUMNS} FROM audit WHERE id < $1 ORDER BY id DESC LIMIT $2)
         WHERE ($3 IS NULL OR kind = $3) AND ($4 IS NULL OR actor = $4) AND ($5 IS NULL OR project_id = $5)
           AND ($6 IS NULL OR credential = $6) ORDER BY id DESC LIMIT $7"
    )
}

pub(crate) fn row(row: &SqliteRow) -> Result<AuditRow> {
    Ok(AuditRow {
        id: row.try_get("id")?,
        at: parsed(row, "at")?,
        kind: parsed(row, "kind")?,
        credential: row.try_get("credential")?,
        actor: row.try_get::<Option<String>, _>("actor")?.map(Into::into),
        run_id: optional(row, "run_id")?,
        action: row.try_get("action")?,
        project_id: optional(row, "project_id")?,
        subject: row.try_get("subject")?,
        result: row.try_get("result")?,
        detail: row.try_get("detail")?,
        seq: row.try_get("seq")?,
        count: row.try_get("count")?,
        hash: row.try_get("hash")?,
    })
}

/// Checks every row from the anchor to the head. `known` is a row with its hash that was noted earlier.
pub(crate) async fn check(connection: &mut SqliteConnection, known: Option<(i64, &str)>) -> Result<AuditCheck> {
    let ends = sqlx::query("SELECT anchor_id, anchor_hash, head_id, head_hash FROM audit_chain").fetch_optional(&mut *connection).await?;
    let Some(ends) = ends else {
        let broken = BrokenRow { id: 1, problem: "the ends of the chain are missing".to_owned() };
        return Ok(AuditCheck { rows: 0, anchor: 0, head: 0, head_hash: String::new(), broken: Some(broken) });
    };
    let anchor: i64 = ends.try_get("anchor_id")?;
    let (head, head_hash): (i64, String) = (ends.try_get("head_id")?, ends.try_get("head_hash")?);
    let mut check = AuditCheck { rows: 0, anchor, head, head_hash, broken: None };
    let (mut last, mut before): (i64, String) = (anchor, ends.try_get("anchor_hash")?);
    let broken = |id, problem: &str| Some(BrokenRow { id, problem: problem.to_owned() });
    if let Some((id, hash)) = known
        && (id > head || id < anchor || (id == anchor && hash != before))
    {
        let problem = if id < anchor { "retention removed the noted row, so it proves nothing" } else { "it is not the row that was noted" };
        check.broken = broken(id, problem);
        return Ok(check);
    }
    let mut rows = sqlx::query(AssertSqlSafe(format!("SELECT {COLUMNS} FROM audit ORDER BY id"))).fetch(connection);
    while let Some(found) = rows.try_next().await? {
        let id: i64 = found.try_get("id")?;
        if id != last + 1 {
            let (place, problem) = if id <= last { (id, "it was added before the anchor") } else { (last + 1, "it is missing") };
            check.broken = broken(place, problem);
            return Ok(check);
        }
        let Ok(found) = row(&found) else {
            check.broken = broken(id, "it cannot be read");
            return Ok(check);
        };
        if hash(&found, &before) != found.hash {
            check.broken = broken(id, "its hash does not match its content and the row before");
            return Ok(check);
        }
        if known.is_some_and(|(known, hash)| known == id && hash != found.hash) {
            check.broken = broken(id, "it is not the row that was noted");
            return Ok(check);
        }
        (last, before) = (id, found.hash);
        check.rows += 1;
    }
    if last != check.head {
        check.broken = if last < check.head { broken(last + 1, "it is missing") } else { broken(check.head + 1, "it was added after the head") };
    } else if before != check.head_hash {
        check.broken = broken(last, "it is not the row at the head of the chain");
    }
    Ok(check)
}

/// The oldest rows, of which retention reads a batch.
pub(crate) const OLDEST: &str = "SELECT id, at, hash FROM audit ORDER BY id LIMIT $1";
/// The removal of the rows up to the anchor.
pub(crate) const REMOVE: &str = "DELETE FROM audit WHERE id <= $1";

/// Removes at most `batch` of the oldest rows that are older than `cutoff`. Their last hash becomes the anchor. Returns how many were removed.
pub(crate) async fn remove_oldest(connection: &mut SqliteConnection, cutoff: Timestamp, batch: i64) -> Result<u64> {
    let rows = sqlx::query(OLDEST).bind(batch).fetch_all(&mut *connection).await?;
    let mut last: Option<(i64, String)> = None;
    let mut removed = 0;
    for row in &rows {
        // The chain has no gaps: everything before the first row that stays is removed, whatever the clock did.
        if parsed::<Timestamp>(row, "at")? >= cutoff {
            break;
        }
        last = Some((row.try_get("id")?, row.try_get("hash")?));
        removed += 1;
    }
    let Some((id, hash)) = last else { return Ok(0) };
    sqlx::query("UPDATE audit_chain SET anchor_id = $1, anchor_hash = $2").bind(id).bind(hash).execute(&mut *connection).await?;
    sqlx::query(REMOVE).bind(id).execute(&mut *connection).await?;
    Ok(removed)
}
