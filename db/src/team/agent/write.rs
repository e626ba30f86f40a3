//! Writes agents. Must not know the consequences of joining and leaving.

use domain::id::{ProjectId, RunId};
use domain::team::role::Role;
use domain::warroom::class::AgentClass;
use domain::warroom::lead::LeadPost;
use domain::warroom::transport::Transport;

use crate::engine::tx::Tx;
use crate::error::Result;

/// A validated row of the `agents` table.
pub(crate) struct AgentRow<'a> {
    pub(crate) name: &'a str,
    pub(crate) team: Option<&'a str>,
    pub(crate) roles: &'a [Role],
    pub(crate) description: Option<&'a str>,
    pub(crate) trusted: bool,
    pub(crate) run: Option<&'a RunId>,
    /// None for an external agent that named none.
    pub(crate) class: Option<AgentClass>,
    /// None for an agent that does not lead, or named no lead role.
    pub(crate) post: Option<&'a LeadPost>,
    /// None for a managed agent, and one that named none.
    pub(crate) model: Option<&'a str>,
    /// None keeps the earlier one, which is at first a terminal.
    pub(crate) transport: Option<Transport>,
    /// Whether this way of joining counts as a heartbeat.
    pub(crate) seen: bool,
}

/// Writes the row of an agent. A returning agent keeps its unread messages and tasks.
pub(crate) async fn upsert(tx: &mut Tx, project: &ProjectId, row: AgentRow<'_>) -> Result<()> {
    sqlx::query(
        "INSERT INTO agents (project_id, name, team, roles, description, trusted, run_id, registered_at, last_seen, class, transport,
                             lead_role, zone, model)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, COALESCE($11, 'terminal'), $12, $13, $14)
         ON CONFLICT (project_id, name) DO UPDATE SET roles = $4, description = COALESCE($5, agents.description), trusted = $6, run_id = $7,
           last_seen = COALESCE($9, agents.last_seen), class = $10, transport = COALESCE($11, agents.transport), lead_role = $12, zone = $13,
           model = $14, left_at = NULL, left_at_message = NULL",
    )
    .bind(project.as_str())
    .bind(row.name)
    .bind(row.team)
    .bind(serde_json::to_string(row.roles)?)
    .bind(row.description)
    .bind(row.trusted)
    .bind(row.run.map(RunId::as_str))
    .bind(tx.now.to_string())
    .bind(row.seen.then(|| tx.now.to_string()))
    .bind(row.class.map(AgentClass::as_str))
    .bind(row.transport.map(Transport::as_str))
    .bind(row.post.map(|post| post.role.as_str()))
    .bind(row.post.and_then(|post| post.zone.as_deref()))
    .bind(row.model)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Marks an agent as gone, with what it had left of its context. The caller records the event.
pub(crate) async fn mark_left(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    sqlx::query(
        "UPDATE agents SET left_at = $3, left_at_message = (SELECT COALESCE(MAX(id), 0) FROM messages), status = NULL,
           context = NULL, context_tokens = NULL, context_limit = NULL, context_at = NULL
         WHERE project_id = $1 AND name = $2",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}
