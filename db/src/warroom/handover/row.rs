//! Reads handovers. Must not change anything.

use domain::id::{ProjectId, RunId};
use domain::team::agent::Agent;
use domain::time::Timestamp;
use domain::warroom::briefing::WaitingHandover;
use domain::warroom::handover::{Handover, HandoverRefusal, REMOVABLE_AFTER};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::error::Result;

pub(crate) const PAGE: &str = "SELECT * FROM handovers WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
/// The newest handover of an agent that nobody has read.
pub(crate) const UNREAD: &str = "SELECT * FROM handovers WHERE project_id = $1 AND agent_name = $2 AND continued_at IS NULL ORDER BY id DESC LIMIT 1";
/// Agents that left, with a handover which nobody has read, the newest first.
pub(crate) const WAITING: &str = "SELECT h.agent_name, h.created_at FROM handovers h
    JOIN agents a ON a.project_id = h.project_id AND a.name = h.agent_name AND a.left_at IS NOT NULL
    WHERE h.project_id = $1 AND h.continued_at IS NULL AND h.task_id IS NULL AND NOT EXISTS (SELECT 1 FROM handovers later
      WHERE later.project_id = h.project_id AND later.agent_name = h.agent_name AND later.continued_at IS NULL AND later.id > h.id)
    ORDER BY h.id DESC LIMIT $2";

/// Whether a run left a handover.
pub(super) async fn exists_of_run(connection: &mut SqliteConnection, run: &RunId) -> Result<bool> {
    let found: Option<i64> =
        sqlx::query_scalar("SELECT id FROM handovers WHERE run_id = $1 LIMIT 1").bind(run.as_str()).fetch_optional(connection).await?;
    Ok(found.is_some())
}

/// Refuses the removal of an external agent that left no handover, or read its own again since. Others may remove it once it has been silent for long.
pub(crate) async fn require(connection: &mut SqliteConnection, agent: &Agent, is_own: bool, now: Timestamp) -> Result<()> {
    let is_silent = !agent.connected && agent.last_seen.is_none_or(|seen| now.since(seen) >= REMOVABLE_AFTER);
    if agent.run_id.is_some() || (!is_own && is_silent) || unread(connection, &agent.project_id, &agent.name).await?.is_some() {
        return Ok(());
    }
    Err(HandoverRefusal::Needed { agent: agent.name.clone() }.into())
}

/// Returns the handover that the successor of an agent has not read.
pub(crate) async fn unread(connection: &mut SqliteConnection, project: &ProjectId, agent: &str) -> Result<Option<Handover>> {
    sqlx::query(UNREAD).bind(project.as_str()).bind(agent).fetch_optional(connection).await?.as_ref().map(handover_of).transpose()
}

/// Lists agents that left and whose work nobody has continued.
pub(crate) async fn waiting(connection: &mut SqliteConnection, project: &ProjectId, limit: u32) -> Result<Vec<WaitingHandover>> {
    let rows = sqlx::query(WAITING).bind(project.as_str()).bind(limit).fetch_all(connection).await?;
    rows.iter().map(|row| Ok(WaitingHandover { agent: row.try_get("agent_name")?, created_at: parsed(row, "created_at")? })).collect()
}

pub(crate) fn handover_of(row: &SqliteRow) -> Result<Handover> {
    Ok(Handover {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        agent: row.try_get("agent_name")?,
        task_id: optional(row, "task_id")?,
        run_id: optional(row, "run_id")?,
        automatic: row.try_get("automatic")?,
        manifest: row.try_get("manifest")?,
        files: serde_json::from_str(row.try_get("files")?)?,
        created_at: parsed(row, "created_at")?,
        continued_by: row.try_get("continued_by")?,
        continued_at: optional(row, "continued_at")?,
    })
}
