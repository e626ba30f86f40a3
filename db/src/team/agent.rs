//! Agents of a project: managed agents join with their run, external agents with a token from the human or with an invite token.

mod join;
mod name_claim;
mod roster;

pub use join::RegistrationResult;
pub(crate) use join::{join_run, leave_runs_of};
pub(crate) use roster::{Roster, RosterEntry};

use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::{Agent, Health};
use domain::team::role::Role;
use domain::text;
use domain::time::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::board::task;
use crate::board::task::read::{count, optional, parsed};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::now;
use crate::team::presence::ConnectionGuard;
use crate::team::{handshake, minion, participant, token};

/// Agents with their current task and the number of their undelivered messages. `read_at` repeats the condition of the index.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT a.*, COUNT(d.message_id) AS unread,
    COALESCE((SELECT r.task_id FROM agent_runs r WHERE r.id = a.run_id AND r.completed_at IS NULL),
      (SELECT t.id FROM tasks t WHERE t.project_id = a.project_id AND t.assigned_to = a.name
         AND t.status IN ('backlog', 'in_progress', 'in_review') AND t.status <> 'backlog'
         ORDER BY t.status, t.updated_at DESC LIMIT 1)) AS task_id
  FROM agents a
    LEFT JOIN deliveries d ON d.project_id = a.project_id AND d.recipient = a.name AND d.read_at IS NULL AND d.state = 'pending'
  WHERE a.project_id = $1 AND ",
            $condition,
            " GROUP BY a.project_id, a.name ORDER BY a.name"
        )
    };
}

pub(crate) const PRESENT: &str = select!("a.left_at IS NULL");
const DEPARTED: &str = select!("a.left_at IS NOT NULL");
const BY_NAME: &str = select!("a.name = $2");

impl Db {
    /// Everybody who takes part in a project, by name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn agents(&self, project: &ProjectId) -> Result<Vec<Agent>> {
        self.agents_of(PRESENT, project).await
    }

    /// Everybody who took part in a project and left, by name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn departed_agents(&self, project: &ProjectId) -> Result<Vec<Agent>> {
        self.agents_of(DEPARTED, project).await
    }

    async fn agents_of(&self, select: &'static str, project: &ProjectId) -> Result<Vec<Agent>> {
        let rows = sqlx::query(select).bind(project.as_str()).fetch_all(&self.readers).await?;
        rows.iter().map(|row| Ok(self.with_presence(agent_of(row)?))).collect()
    }

    /// # Errors
    /// When the project never had an agent of this name.
    pub async fn agent(&self, project: &ProjectId, name: &str) -> Result<Agent> {
        let found = read(&mut *self.readers.acquire().await?, project, name).await?;
        found.map(|agent| self.with_presence(agent)).ok_or_else(|| Refusal::not_found("agent", name).into())
    }

    /// Adds the heartbeats and connections that are only in memory.
    fn with_presence(&self, mut agent: Agent) -> Agent {
        self.presence.apply_to(&mut agent, now());
        agent
    }

    /// Records a heartbeat of the caller. Callers that are not agents are ignored.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn record_heartbeat(&self, caller: &Caller) -> Result<Timestamp> {
        let now = now();
        let (Caller::Run(_) | Caller::Agent(_), Some(project), Some(name)) = (caller, caller.project(), caller.name()) else { return Ok(now) };
        if self.presence.record_heartbeat(project, &name, now) {
            let project = project.clone();
            self.write(move |tx| {
                Box::pin(async move {
                    tx.skip_event(NoEventReason::Heartbeat);
                    sqlx::query("UPDATE agents SET heartbeat_at = $3, last_seen = $3 WHERE project_id = $1 AND name = $2")
                        .bind(project.as_str())
                        .bind(name)
                        .bind(now.to_string())
                        .execute(&mut tx.connection)
                        .await?;
                    Ok(())
                })
            })
            .await?;
        }
        Ok(now)
    }

    /// Counts the caller as connected while the guard is kept. Returns `None` for a caller that is not an agent.
    pub fn connect(&self, caller: &Caller) -> Option<ConnectionGuard> {
        match (caller, caller.project(), caller.name()) {
            (Caller::Run(_) | Caller::Agent(_), Some(project), Some(name)) => Some(self.presence.connect(project, &name)),
            _ => None,
        }
    }

    /// Sets the caller's status text. An empty text clears it.
    ///
    /// # Errors
    /// When the text is invalid or the caller has not registered.
    pub async fn set_status(&self, caller: &Caller, project: &ProjectId, status: &str) -> Result<Agent> {
        let (project, status) = (project.clone(), status.to_owned());
        let name = caller.name().ok_or(Refusal::NotRegistered)?;
        let (own, of) = (name.clone(), project.clone());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let voice = participant::load(&mut tx.connection, caller, &project).await?;
                let status = match status.trim() {
                    "" => None,
                    said => Some(text::validate_title("status", said)?),
                };
                let changed = sqlx::query("UPDATE agents SET status = $3 WHERE project_id = $1 AND name = $2")
                    .bind(project.as_str())
                    .bind(&voice.name)
                    .bind(&status)
                    .execute(&mut tx.connection)
                    .await?;
                if changed.rows_affected() == 0 {
                    return Err(Refusal::NotRegistered.into());
                }
                tx.record_without_card(caller, &project, None, Event::AgentStatus { agent: voice.name, status });
                Ok(())
            })
        })
        .await?;
        self.agent(&of, &own).await
    }

    /// Removes an agent from the project: the caller itself, or any agent if the caller is a lead. Its tasks stay assigned to it, and the
    /// open ones are flagged for attention. A removal by another participant also revokes the agent's token.
    ///
    /// # Errors
    /// When no active agent has this name, or the caller may not remove it.
    pub async fn deregister(&self, caller: &Caller, project: &ProjectId, name: &str) -> Result<()> {
        let (project, name) = (project.clone(), name.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let voice = participant::load(&mut tx.connection, caller, &project).await?;
                let names = active_names(&mut tx.connection, &project).await?;
                let name = domain::team::agent::resolve(&name, &voice.name, &names.iter().map(String::as_str).collect::<Vec<_>>())?.to_owned();
                if name != voice.name {
                    voice.require_lead(&format!("removing {name}"))?;
                    // An agent that others removed must not come back with its old token.
                    token::revoke_agent_token(tx, &project, &name).await?;
                }
                mark_left(tx, caller, &project, &name).await
            })
        })
        .await
    }
}

/// Marks an agent as gone, ends its handshakes and minions, and flags its open tasks for attention.
pub(crate) async fn mark_left(tx: &mut Tx, caller: &Caller, project: &ProjectId, name: &str) -> Result<()> {
    sqlx::query(
        "UPDATE agents SET left_at = $3, left_at_message = (SELECT COALESCE(MAX(id), 0) FROM messages), status = NULL
         WHERE project_id = $1 AND name = $2",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    tx.record_without_card(caller, project, None, Event::AgentLeft { agent: name.to_owned() });
    minion::fail_minions_of_agent(tx, project, name).await?;
    handshake::drop_departed_target(tx, project, name).await?;
    task::assignee_left(tx, project, name).await
}

pub(crate) async fn read(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<Option<Agent>> {
    let row = sqlx::query(BY_NAME).bind(project.as_str()).bind(name).fetch_optional(connection).await?;
    row.as_ref().map(agent_of).transpose()
}

/// Lists the names of all active agents in order.
pub(crate) async fn active_names(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<String>> {
    Ok(sqlx::query_scalar("SELECT name FROM agents WHERE project_id = $1 AND left_at IS NULL ORDER BY name")
        .bind(project.as_str())
        .fetch_all(connection)
        .await?)
}

fn agent_of(row: &SqliteRow) -> Result<Agent> {
    let roles: Vec<Role> = serde_json::from_str(row.try_get("roles")?)?;
    let last_seen = optional(row, "last_seen")?.max(optional(row, "heartbeat_at")?);
    Ok(Agent {
        project_id: parsed(row, "project_id")?,
        name: row.try_get("name")?,
        team: row.try_get("team")?,
        roles,
        description: row.try_get("description")?,
        status: row.try_get("status")?,
        trusted: row.try_get("trusted")?,
        run_id: optional(row, "run_id")?,
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
