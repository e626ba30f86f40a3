//! Records where the project branch points, and which tip the human accepted. Must not read the repository.

use domain::board::card::Card;
use domain::board::project::ProjectEvent;
use domain::id::ProjectId;
use domain::runs::evidence::Sha;

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;

/// Returns the tip that the human must decide about.
pub(crate) fn disputed_tip(card: &Card) -> Option<&Sha> {
    card.attention.as_ref().and_then(|attention| attention.tip.as_ref())
}

/// Accepts the disputed tip of a task that the human releases. The caller records the event.
pub(crate) async fn accept_tip(tx: &mut Tx, card: &Card) -> Result<()> {
    if let Some(tip) = disputed_tip(card) {
        sqlx::query("UPDATE projects SET accepted_sha = $2 WHERE id = $1")
            .bind(card.project_id.as_str())
            .bind(tip)
            .execute(&mut tx.connection)
            .await?;
    }
    Ok(())
}

/// Records the name and the tip of the project branch. An accepted tip is cleared.
pub(crate) async fn record_tip(tx: &mut Tx, caller: &Caller, id: &ProjectId, branch: &str, sha: &Sha) -> Result<()> {
    projects::read(&mut tx.connection, id).await?;
    let changed = sqlx::query(
        "UPDATE projects SET integration_branch = $2, integration_head = $3, accepted_sha = NULL, updated_at = $4
         WHERE id = $1 AND (integration_branch <> $2 OR integration_head IS DISTINCT FROM $3)",
    )
    .bind(id.as_str())
    .bind(branch)
    .bind(sha)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    if changed.rows_affected() == 0 {
        tx.skip_event(NoEventReason::NothingChanged);
    } else {
        tx.record_for_project(caller, id, ProjectEvent::BranchMoved { sha: sha.clone() });
    }
    Ok(())
}
