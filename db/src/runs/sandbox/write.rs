//! Writes the accesses that the owner allowed. They belong to the repository, so all its projects have the same.

use domain::board::project::{Project, ProjectEvent};
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::sandbox::Access;

use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Replaces the accesses of every project on the repository of `project`. Records an event for each but `project` itself, which its caller
/// records.
///
/// # Errors
/// When the caller is not the owner, or an access cannot be allowed.
pub(crate) async fn replace_allowed(tx: &mut Tx, caller: &Caller, project: &Project, allowed: &[Access]) -> Result<()> {
    caller.require_owner("allowing access outside the sandbox")?;
    if let Some(access) = allowed.iter().find(|access| !access.is_allowable()) {
        let hint = "Name a path that begins with ~/ or /, without a slash at its end, or a host such as registry.npmjs.org.";
        return Err(Refusal::invalid("allowed_access", format!("\"{}\" cannot be allowed", access.target), hint).into());
    }
    let changed = sqlx::query("UPDATE projects SET allowed_access = $2, updated_at = $3 WHERE git_dir = $1 RETURNING id")
        .bind(&project.git_dir)
        .bind(serde_json::to_string(allowed)?)
        .bind(tx.now.to_string())
        .fetch_all(&mut tx.connection)
        .await?;
    for row in &changed {
        let id: ProjectId = parsed(row, "id")?;
        if id != project.id {
            tx.record_for_project(caller, &id, ProjectEvent::Edited {});
        }
    }
    Ok(())
}
