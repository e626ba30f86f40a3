//! Agents of a project: managed agents join with their run, external agents with a token from the human or with an invite token.

pub(crate) mod row;
pub(crate) mod write;

pub(crate) mod general;
mod join;
mod name_claim;
pub(crate) mod rename;

pub use join::RegistrationResult;

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::agent::{Agent, AgentEvent};
use domain::text;
use domain::time::Timestamp;

use crate::caller::Caller;
use crate::consequences::agent_left::agent_left;
use crate::engine::open::Db;
use crate::engine::presence::ConnectionGuard;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::now;
use crate::team::participant::row as participant;
use crate::team::token;
use crate::warroom::handover::row as handover;

impl Db {
    /// Lists the active agents of a project by name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn agents(&self, project: &ProjectId) -> Result<Vec<Agent>> {
        let rows = sqlx::query(row::PRESENT).bind(project.as_str()).fetch_all(&self.readers).await?;
        rows.iter().map(|row| Ok(self.with_presence(row::agent_of(row)?))).collect()
    }

    /// Lists the last 50 agents of a project that left, by name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn departed_agents(&self, project: &ProjectId) -> Result<Vec<Agent>> {
        let rows = sqlx::query(row::DEPARTED).bind(project.as_str()).bind(row::MAX_DEPARTED).fetch_all(&self.readers).await?;
        rows.iter().map(|row| Ok(self.with_presence(row::agent_of(row)?))).collect()
    }

    /// # Errors
    /// When the project never had an agent of this name.
    pub async fn agent(&self, project: &ProjectId, name: &str) -> Result<Agent> {
        let found = row::read(&mut *self.readers.acquire().await?, project, name).await?;
        found.map(|agent| self.with_presence(agent)).ok_or_else(|| Refusal::not_found("agent", name).into())
    }

    /// Adds the heartbeats and connections that are only in memory.
    fn with_presence(&self, mut agent: Agent) -> Agent {
        row::apply_presence(&mut agent, &self.presence, now());
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
        let name = caller.name().ok_or(AgentRefusal::NotRegistered)?;
        let (own, of) = (name.clone(), project.clone());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                let status = match status.trim() {
                    "" => None,
                    given => Some(text::validate_title("status", given)?),
                };
                let changed = sqlx::query("UPDATE agents SET status = $3 WHERE project_id = $1 AND name = $2")
                    .bind(project.as_str())
                    .bind(&participant.name)
                    .bind(&status)
                    .execute(&mut tx.connection)
                    .await?;
                if changed.rows_affected() == 0 {
                    return Err(AgentRefusal::NotRegistered.into());
                }
                tx.record_without_card(caller, &project, None, AgentEvent::StatusSet { agent: participant.name, status });
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
    /// When no active agent has this name, the caller may not remove it, or it is an external agent that has not handed over.
    pub async fn deregister(&self, caller: &Caller, project: &ProjectId, name: &str) -> Result<()> {
        let (project, name) = (project.clone(), name.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                let names = row::active_names(&mut tx.connection, &project).await?;
                let name = domain::team::agent::resolve(&name, &participant.name, &names.iter().map(String::as_str).collect::<Vec<_>>())?.to_owned();
                if name != participant.name {
                    participant.require_lead(&format!("removing {name}"))?;
                    // An agent that others removed must not come back with its old token.
                    token::revoke_agent_token(tx, &project, &name).await?;
                    general::set_home(tx, &project, &name, None).await?;
                }
                if matches!(caller, Caller::Agent(_))
                    && let Some(mut agent) = row::read(&mut tx.connection, &project, &name).await?
                {
                    row::apply_presence(&mut agent, &tx.presence, tx.now);
                    handover::require(&mut tx.connection, &agent, name == participant.name, tx.now).await?;
                }
                agent_left(tx, caller, &project, &name).await
            })
        })
        .await
    }
}
