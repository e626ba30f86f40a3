//! Reads agents with their current task, unread messages and presence. Must not change anything.

pub(crate) mod roster;

use std::collections::BTreeSet;

use domain::id::{ProjectId, TaskId};
use domain::team::agent::{Agent, Health};
use domain::team::role::Role;
use domain::time::Timestamp;
use domain::warroom::class::AgentClass;
use domain::warroom::context_left::ContextUse;
use domain::warroom::lead::{LeadPost, LeadRole};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, optional, parsed};
use crate::engine::presence::Presence;
use crate::error::Result;

/// Agents with their current task and the number of their undelivered messages. `read_at` repeats the condition of the index.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT a.*, COUNT(d.message_id) AS unread, live.context_tokens AS measured_tokens, live.context_limit AS measured_limit,
    COALESCE((SELECT r.task_id FROM agent_runs r WHERE r.id = a.run_id AND r.completed_at IS NULL),
      (SELECT t.id FROM tasks t WHERE t.project_id = a.project_id AND t.assigned_to = a.name
         AND t.status IN ('backlog', 'in_progress', 'in_review') AND t.status <> 'backlog'
         ORDER BY t.status, t.updated_at DESC LIMIT 1)) AS task_id
  FROM agents a
    LEFT JOIN agent_runs live ON live.id = a.run_id AND live.completed_at IS NULL
    LEFT JOIN deliveries d ON d.project_id = a.project_id AND d.recipient = a.name AND d.read_at IS NULL AND d.state = 'pending'
  WHERE a.project_id = $1 AND ",
            $condition
        )
    };
}

pub(crate) const PRESENT: &str = select!("a.left_at IS NULL GROUP BY a.project_id, a.name ORDER BY a.name");

/// Number of departed agents in a list, the last to leave first.
pub(crate) const MAX_DEPARTED: u32 = 50;

pub(crate) const DEPARTED: &str = select!(
    "a.name IN (SELECT name FROM agents WHERE project_id = $1 AND left_at IS NOT NULL ORDER BY left_at DESC LIMIT $2)
  GROUP BY a.project_id, a.name ORDER BY a.name"
);

const BY_NAME: &str = select!("a.name = $2 GROUP BY a.project_id, a.name");

pub(crate) async fn read(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<Option<Agent>> {
    let row = sqlx::query(BY_NAME).bind(project.as_str()).bind(name).fetch_optional(connection).await?;
    row.as_ref().map(agent_of).transpose()
}

/// The words of an agent about itself when it registered.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// The class that it named, or that its kind decides.
    pub(crate) class: Option<AgentClass>,
    pub(crate) post: Option<LeadPost>,
    pub(crate) model: Option<String>,
}

pub(crate) async fn declared(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<Declared> {
    let row = sqlx::query("SELECT class, lead_role, zone, model FROM agents WHERE project_id = $1 AND name = $2")
        .bind(project.as_str())
        .bind(name)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(Declared::default()) };
    Ok(Declared { class: optional(&row, "class")?, post: post_of(&row)?, model: row.try_get("model")? })
}

/// Returns the lead role that an agent named, with its zone.
pub(crate) fn post_of(row: &SqliteRow) -> Result<Option<LeadPost>> {
    let role: Option<LeadRole> = optional(row, "lead_role")?;
    role.map(|role| Ok(LeadPost { role, zone: row.try_get("zone")? })).transpose()
}

/// Lists the names of all active agents in order.
pub(crate) async fn active_names(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<String>> {
    Ok(sqlx::query_scalar("SELECT name FROM agents WHERE project_id = $1 AND left_at IS NULL ORDER BY name")
        .bind(project.as_str())
        .fetch_all(connection)
        .await?)
}

/// Adds the heartbeats and connections that are only in memory.
pub(crate) fn apply_presence(agent: &mut Agent, presence: &Presence, now: Timestamp) {
    let known = presence.of(&agent.project_id, &agent.name);
    agent.last_seen = agent.last_seen.max(known.last);
    agent.connected = known.connections > 0 && agent.left_at.is_none();
    // An open connection counts as a heartbeat.
    agent.health = if agent.connected { Health::Healthy } else { Health::of(agent.last_seen, now) };
}

/// Returns the names of all agents of a project, also of those that left.
pub(crate) async fn names(connection: &mut SqliteConnection, project: &ProjectId) -> Result<BTreeSet<String>> {
    let names: Vec<String> = sqlx::query_scalar("SELECT name FROM agents WHERE project_id = $1").bind(project.as_str()).fetch_all(connection).await?;
    Ok(names.into_iter().collect())
}

/// Returns the present name of the agent that once had the name `former`, if it was renamed.
pub(crate) async fn current_name(connection: &mut SqliteConnection, project: &ProjectId, former: &str) -> Result<Option<String>> {
    Ok(sqlx::query_scalar("SELECT name FROM former_names WHERE project_id = $1 AND former = $2")
        .bind(project.as_str())
        .bind(former)
        .fetch_optional(connection)
        .await?)
}

pub(crate) fn agent_of(row: &SqliteRow) -> Result<Agent> {
    let roles: Vec<Role> = serde_json::from_str(row.try_get("roles")?)?;
    let last_seen = optional(row, "last_seen")?.max(optional(row, "heartbeat_at")?);
    let run_id = optional(row, "run_id")?;
    let measured = context_use(row, "measured_tokens", "measured_limit")?;
    let reported = context_use(row, "context_tokens", "context_limit")?;
    let class = AgentClass::of_external(optional(row, "class")?, &roles);
    let post = post_of(row)?.unwrap_or(LeadPost::DEFAULT);
    Ok(Agent {
        project_id: parsed(row, "project_id")?,
        name: row.try_get("name")?,
        team: row.try_get("team")?,
        lead_role: (class == AgentClass::Lead).then_some(post.role),
        zone: post.zone,
        model: row.try_get("model")?,
        class,
        transport: parsed(row, "transport")?,
        context_left: if run_id.is_some() { measured } else { reported }.map(Into::into),
        context: row.try_get("context")?,
        context_reported_at: optional(row, "context_at")?,
        roles,
        description: row.try_get("description")?,
        status: row.try_get("status")?,
        trusted: row.try_get("trusted")?,
        run_id,
        task_id: optional::<TaskId>(row, "task_id")?,
        health: Health::Unknown,
        connected: false,
        unread: count(row, "unread")?,
        registered_at: parsed(row, "registered_at")?,
        last_seen,
        last_inbox_check: optional(row, "last_inbox_check")?,
        left_at: optional(row, "left_at")?,
    })
}

/// Returns the used part of a context window from two columns. None where nothing sensible is known.
pub(crate) fn context_use(row: &SqliteRow, used: &str, limit: &str) -> Result<Option<ContextUse>> {
    let (used, limit): (Option<i64>, Option<i64>) = (row.try_get(used)?, row.try_get(limit)?);
    Ok(used.zip(limit).and_then(|(used, limit)| ContextUse::measured(used, limit)))
}
