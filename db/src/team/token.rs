//! Tokens that identify callers. Only their hashes are stored, so a stolen database contains no usable token.

use domain::id::{ProjectId, RunId};
use domain::refusal::Refusal;
use domain::runs::run::RunRefusal;
use domain::team::agent::refusal::AgentRefusal;
use sqlx::Row;
use tokio::sync::watch;

use crate::caller::{AgentCaller, Caller, InviteCaller, PersonCaller, RunCaller, invite_call_scope};
pub(crate) use crate::engine::act::hash;
use crate::engine::act::hex;
use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;

impl Db {
    /// Returns the caller that `token` identifies, or `None` for an unknown token. The token of a finished run still identifies it, so
    /// that each use case can refuse the run with the reason.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn caller(&self, token: &str) -> Result<Option<Caller>> {
        let hash = hash(token);
        let life = match self.caller_cache.find(&hash) {
            Ok(caller) => return Ok(Some(caller)),
            Err(life) => life,
        };
        let row = sqlx::query(
            "SELECT k.kind, k.project_id AS own_project, k.agent_name, k.person_id, p.name, p.role, r.id AS run_id, r.phase, t.id AS task_id, t.project_id
             FROM tokens k LEFT JOIN persons p ON p.id = k.person_id
             LEFT JOIN agent_runs r ON r.id = k.run_id LEFT JOIN tasks t ON t.id = r.task_id WHERE k.hash = $1",
        )
        .bind(&hash)
        .fetch_optional(&self.readers)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let caller = match row.try_get("kind")? {
            "human" => Caller::Person(PersonCaller { id: row.try_get("person_id")?, name: row.try_get("name")?, role: parsed(&row, "role")? }),
            "invite" => Caller::Invite(InviteCaller { project_id: parsed(&row, "own_project")?, call_id: None }),
            "agent" => Caller::Agent(AgentCaller { project_id: parsed(&row, "own_project")?, name: row.try_get("agent_name")?, call_id: None }),
            _ => Caller::Run(RunCaller {
                run_id: parsed(&row, "run_id")?,
                task_id: parsed(&row, "task_id")?,
                project_id: parsed(&row, "project_id")?,
                phase: parsed(&row, "phase")?,
                call_id: None,
            }),
        };
        self.caller_cache.remember(life, hash, caller.clone());
        Ok(Some(caller))
    }

    /// Changes after every revocation. Until then [`Self::caller`] may return a cached answer. Subscribe first, then call it.
    pub fn token_revocations(&self) -> watch::Receiver<u64> {
        self.caller_cache.subscribe()
    }

    /// Refuses a run that has ended and an agent that has left. Reads need this check because no use case guards them.
    ///
    /// # Errors
    /// When the caller is a run that is no longer current, or an agent that has left.
    pub async fn require_active_reader(&self, caller: &Caller) -> Result<()> {
        let (current, refusal) = match caller {
            Caller::Person(_) | Caller::Runner | Caller::Invite(_) => return Ok(()),
            Caller::Run(run) => (
                sqlx::query("SELECT 1 FROM agent_runs WHERE id = $1 AND completed_at IS NULL AND stop_requested_at IS NULL")
                    .bind(run.run_id.as_str()),
                Refusal::from(RunRefusal::Stale { run: run.run_id.clone() }),
            ),
            Caller::Agent(agent) => (
                sqlx::query("SELECT 1 FROM agents WHERE project_id = $1 AND name = $2 AND left_at IS NULL")
                    .bind(agent.project_id.as_str())
                    .bind(&agent.name),
                AgentRefusal::Left { agent: agent.name.clone() }.into(),
            ),
        };
        if current.fetch_optional(&self.readers).await?.is_some() { Ok(()) } else { Err(refusal.into()) }
    }
}

/// Returns 256 random bits as 64 hexadecimal digits.
pub fn new_token() -> String {
    hex(&rand::random::<[u8; 32]>())
}

/// The owner of a token.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TokenOwner<'a> {
    Person(i64),
    Run(&'a RunId),
    Agent(&'a ProjectId, &'a str),
    Invite(&'a ProjectId),
}

pub(crate) async fn insert(tx: &mut Tx, hash: &str, owner: TokenOwner<'_>) -> Result<()> {
    let (kind, person, run, project, agent) = match owner {
        TokenOwner::Person(person) => ("human", Some(person), None, None, None),
        TokenOwner::Run(run) => ("run", None, Some(run), None, None),
        TokenOwner::Agent(project, name) => ("agent", None, None, Some(project), Some(name)),
        TokenOwner::Invite(project) => ("invite", None, None, Some(project), None),
    };
    sqlx::query("INSERT INTO tokens (hash, kind, person_id, run_id, project_id, agent_name) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(hash)
        .bind(kind)
        .bind(person)
        .bind(run.map(RunId::as_str))
        .bind(project.map(ProjectId::as_str))
        .bind(agent)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Returns whether the hash is that of an agent's current token.
pub(crate) async fn is_token_of(tx: &mut Tx, project: &ProjectId, agent: &str, hash: &str) -> Result<bool> {
    let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM tokens WHERE hash = $1 AND kind = 'agent' AND project_id = $2 AND agent_name = $3")
        .bind(hash)
        .bind(project.as_str())
        .bind(agent)
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

/// Revokes a person's token.
pub(crate) async fn revoke_person_token(tx: &mut Tx, person: i64) -> Result<()> {
    sqlx::query("DELETE FROM tokens WHERE kind = 'human' AND person_id = $1").bind(person).execute(&mut tx.connection).await?;
    tx.tokens_revoked = true;
    Ok(())
}

/// Revokes an agent's token.
pub(crate) async fn revoke_agent_token(tx: &mut Tx, project: &ProjectId, agent: &str) -> Result<()> {
    sqlx::query("DELETE FROM tokens WHERE kind = 'agent' AND project_id = $1 AND agent_name = $2")
        .bind(project.as_str())
        .bind(agent)
        .execute(&mut tx.connection)
        .await?;
    tx.tokens_revoked = true;
    Ok(())
}

/// Revokes a project's invite token and deletes the stored answers to calls made with it.
pub(crate) async fn revoke_invite_token(tx: &mut Tx, project: &ProjectId) -> Result<()> {
    sqlx::query("DELETE FROM tokens WHERE kind = 'invite' AND project_id = $1").bind(project.as_str()).execute(&mut tx.connection).await?;
    tx.delete_answers(&invite_call_scope(project)).await?;
    tx.tokens_revoked = true;
    Ok(())
}
