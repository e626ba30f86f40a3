//! Writes the base branch of a project, and who approves its work. Must not decide whether they may change.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::project::{ProjectEvent, ReviewPolicy};
use domain::id::{ProjectId, TaskId};
use domain::runs::evidence::BaseEvidence;

use crate::board::attention::write as attention;
use crate::board::finished::write as finished;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Replaces the base branch. Work that the new one lacks can be landed again.
pub(crate) async fn replace_base(tx: &mut Tx, caller: &Caller, id: &ProjectId, base: BaseEvidence) -> Result<()> {
    sqlx::query(
        "UPDATE projects SET base_branch = $2, base_head = $3, landed_sha = CASE WHEN $4 THEN landed_sha END, fetch_problem = NULL WHERE id = $1",
    )
    .bind(id.as_str())
    .bind(&base.branch)
    .bind(&base.base_head)
    .bind(base.holds_landed)
    .execute(&mut tx.connection)
    .await?;
    if !base.holds_landed {
        sqlx::query("UPDATE tasks SET landing_id = NULL WHERE project_id = $1 AND landing_id IS NOT NULL")
            .bind(id.as_str())
            .execute(&mut tx.connection)
            .await?;
        finished::recount_to_land(tx, id).await?;
    }
    tx.record_for_project(caller, id, ProjectEvent::BaseReplaced { branch: base.branch, sha: base.tip });
    Ok(())
}

/// Sets who approves the work. Questions to a person that follow from the earlier policy end; the next schedule asks again what still applies.
pub(crate) async fn set_review(tx: &mut Tx, caller: &Caller, id: &ProjectId, review: ReviewPolicy) -> Result<()> {
    sqlx::query("UPDATE projects SET review = $2 WHERE id = $1").bind(id.as_str()).bind(review.as_str()).execute(&mut tx.connection).await?;
    let asking: Vec<(String, String)> = sqlx::query_as("SELECT id, attention FROM tasks WHERE project_id = $1 AND attention IS NOT NULL")
        .bind(id.as_str())
        .fetch_all(&mut tx.connection)
        .await?;
    for (task, stored) in asking {
        if serde_json::from_str::<Attention>(&stored)?.kind == AttentionKind::Review {
            attention::clear(tx, caller, id, &task.parse::<TaskId>()?).await?;
        }
    }
    Ok(())
}
