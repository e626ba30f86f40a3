//! Reads the review rounds of a task. Must not compare them.

use domain::actor::Actor;
use domain::board::review::Verdict;
use domain::board::review_round::ReviewRound;
use domain::id::TaskId;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::parsed;
use crate::error::Result;

/// The rounds in which a task was sent back, the oldest first.
pub(crate) async fn list(connection: &mut SqliteConnection, task: &TaskId) -> Result<Vec<ReviewRound>> {
    let rows =
        sqlx::query("SELECT sha, patch_id, findings, actor, created_at FROM verdicts WHERE task_id = $1 AND verdict = 'sent_back' ORDER BY id")
            .bind(task.as_str())
            .fetch_all(connection)
            .await?;
    let round = |(number, row)| {
        let row: &sqlx::sqlite::SqliteRow = row;
        Ok(ReviewRound {
            number,
            sha: row.try_get("sha")?,
            patch_id: row.try_get("patch_id")?,
            findings: row.try_get::<Option<String>, _>("findings")?.unwrap_or_default(),
            by: Actor::from(row.try_get::<String, _>("actor")?),
            created_at: parsed(row, "created_at")?,
        })
    };
    (1..).zip(&rows).map(round).collect()
}

pub(crate) const LAST_VERDICT: &str = "SELECT sha, verdict, actor, created_at FROM verdicts WHERE task_id = $1 ORDER BY id DESC LIMIT 1";

/// The latest judgement of a commit of a task.
pub(crate) async fn last_verdict(connection: &mut SqliteConnection, task: &TaskId) -> Result<Option<Verdict>> {
    let row = sqlx::query(LAST_VERDICT).bind(task.as_str()).fetch_optional(connection).await?;
    let verdict = |row: sqlx::sqlite::SqliteRow| {
        Ok(Verdict {
            approved: row.try_get::<&str, _>("verdict")? == "approved",
            sha: row.try_get("sha")?,
            by: Actor::from(row.try_get::<String, _>("actor")?),
            created_at: parsed(&row, "created_at")?,
        })
    };
    row.map(verdict).transpose()
}
