//! Records that a submission was sent back, with its changes and the findings. Must not decide whether it may be.

use domain::id::TaskId;
use sqlx::Row;

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The longest findings that are kept, in characters. The thread has all of them.
const MAX_FINDINGS: usize = 8_000;

/// Records the round of the commit `sha`.
pub(crate) async fn record(tx: &mut Tx, caller: &Caller, task: &TaskId, sha: &str, reason: Option<&str>) -> Result<()> {
    let findings: String = findings(tx, caller, task, reason).await?.chars().take(MAX_FINDINGS).collect();
    sqlx::query(
        "INSERT INTO verdicts (task_id, sha, verdict, actor, run_id, patch_id, findings, created_at)
         SELECT id, $2, 'sent_back', $3, $4, CASE WHEN submitted_sha = $2 THEN submitted_patch END, $5, $6 FROM tasks WHERE id = $1",
    )
    .bind(task.as_str())
    .bind(sha)
    .bind(caller.actor().to_string())
    .bind(caller.run().map(|run| run.as_str()))
    .bind(findings)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// The comments of the calling run, to which its reason belongs, or the reason of another caller.
async fn findings(tx: &mut Tx, caller: &Caller, task: &TaskId, reason: Option<&str>) -> Result<String> {
    let Some(run) = caller.run() else { return Ok(reason.unwrap_or_default().to_owned()) };
    let rows = sqlx::query("SELECT content FROM comments WHERE task_id = $1 AND run_id = $2 ORDER BY length(id), id")
        .bind(task.as_str())
        .bind(run.as_str())
        .fetch_all(&mut tx.connection)
        .await?;
    let comments = rows.iter().map(|row| row.try_get::<&str, _>("content")).collect::<Result<Vec<_>, _>>()?;
    Ok(comments.join("\n\n"))
}
