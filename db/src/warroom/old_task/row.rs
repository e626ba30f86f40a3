//! Refuses leads that begin new work before they decided about the old. Must not change anything.

use domain::id::TaskId;
use domain::warroom::debrief::MAX_NAMED;
use domain::warroom::old_task::OldTaskRefusal;
use sqlx::SqliteConnection;

use crate::caller::Caller;
use crate::error::Result;
use crate::team::participant::row::Participant;

/// The tasks of a project `$1` that a lead has to decide about.
pub(crate) const UNREVIEWED: &str = "SELECT id FROM tasks WHERE project_id = $1 AND old = 'unreviewed' ORDER BY length(id), id";

/// Refuses an external lead as long as tasks of an ended session are not reviewed. Persons and managed agents are never refused.
pub(crate) async fn require_reviewed(connection: &mut SqliteConnection, caller: &Caller, participant: &Participant, action: &str) -> Result<()> {
    if !matches!(caller, Caller::Agent(_)) || !participant.is_lead {
        return Ok(());
    }
    let found: Vec<String> = sqlx::query_scalar(UNREVIEWED).bind(participant.project.as_str()).fetch_all(connection).await?;
    if found.is_empty() {
        return Ok(());
    }
    let more = found.len().saturating_sub(MAX_NAMED);
    let tasks = found.iter().take(MAX_NAMED).map(|id| id.parse()).collect::<std::result::Result<Vec<TaskId>, _>>()?;
    Err(OldTaskRefusal::Unreviewed { action: action.to_owned(), tasks, more }.into())
}
