//! Tokens that identify callers. Only their hashes are stored, so a stolen database contains no usable token.
//!
//! Must not know what a permission allows.

pub(crate) mod change;
pub(crate) mod list;

use std::time::Duration;

use domain::id::{ProjectId, RunId};
use domain::refusal::Refusal;
use domain::runs::run::RunRefusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::token::{Permissions, TokenAudience, TokenKind, TokenReach};
use domain::time::Timestamp;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::caller::{AgentCaller, Caller, Holder, InviteCaller, PersonCaller, RunCaller, invite_call_scope};
pub(crate) use crate::engine::act::hash;
use crate::engine::act::hex;
use crate::engine::column::{optional, parsed};
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;

/// How long a token is refused with the reason after its end.
const EXPIRED_RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How often an open stream compares the end of its token with the clock.
const CLOCK_CHECK: Duration = Duration::from_secs(60);

impl Db {
    /// Returns the caller that `token` identifies at `interface`, or `None` for an unknown token. The token of a finished run still identifies
    /// it, so that each use case can refuse the run with the reason.
    ///
    /// # Errors
    /// When the token expired or is not for `interface`, or the store fails.
    pub async fn identify(&self, token: &str, interface: TokenAudience) -> Result<Option<Holder>> {
        let hash = hash(token);
        let holder = match self.caller_cache.find(&hash) {
            Ok(holder) => holder,
            Err(generation) => {
                let row = sqlx::query(HOLDER).bind(&hash).fetch_optional(&self.readers).await?;
                let Some(row) = row else { return Ok(None) };
                let holder = holder_of(&row)?;
                self.caller_cache.remember(generation, hash, holder.clone());
                holder
            }
        };
        holder.require(interface, crate::now())?;
        Ok(Some(holder))
    }

    /// Returns the caller that `token` identifies at any interface, or `None` for one that is not valid.
    ///
    /// # Errors
    /// When the store fails.
    #[cfg(any(test, feature = "testing"))]
    pub async fn caller(&self, token: &str) -> Result<Option<Caller>> {
        for interface in [TokenAudience::Mcp, TokenAudience::Api] {
            match self.identify(token, interface).await {
                Ok(holder) => return Ok(holder.map(|holder| holder.caller)),
                Err(crate::Error::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Changes after every revocation, and every other change of a token. Until then [`Self::identify`] may return a cached answer. Subscribe
    /// first, then call it.
    pub fn token_revocations(&self) -> watch::Receiver<u64> {
        self.caller_cache.subscribe()
    }

    /// Waits until a credential that ends at `ends_at` may not be valid any longer. False when the store was closed.
    pub async fn may_have_ended(&self, revocations: &mut watch::Receiver<u64>, ends_at: Option<Timestamp>) -> bool {
        // The clock of the machine can be set, and stands still in this process while the machine sleeps.
        let wait = ends_at.map_or(CLOCK_CHECK, |at| at.since(crate::now()).min(CLOCK_CHECK));
        match timeout(wait, revocations.changed()).await {
            Ok(changed) => changed.is_ok(),
            Err(_) => true,
        }
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

/// The holder of the token with the hash `$1`.
const HOLDER: &str =
    "SELECT k.kind, k.project_id AS own_project, k.agent_name, k.person_id, k.audience, k.permissions, k.reach, k.expires_at, k.retires_at,
    p.name, p.role, r.id AS run_id, r.phase, t.id AS task_id, t.project_id
    FROM tokens k LEFT JOIN persons p ON p.id = k.person_id
    LEFT JOIN agent_runs r ON r.id = k.run_id LEFT JOIN tasks t ON t.id = r.task_id WHERE k.hash = $1";

fn holder_of(row: &SqliteRow) -> Result<Holder> {
    let caller = match parsed(row, "kind")? {
        kind @ (TokenKind::Human | TokenKind::Companion) => Caller::Person(PersonCaller {
            id: row.try_get("person_id")?,
            name: row.try_get("name")?,
            role: parsed(row, "role")?,
            is_companion: kind == TokenKind::Companion,
        }),
        TokenKind::Invite => Caller::Invite(InviteCaller {
            project_id: parsed(row, "own_project")?,
            permissions: parsed(row, "permissions")?,
            expires_at: optional(row, "expires_at")?,
            call_id: None,
        }),
        TokenKind::Agent => Caller::Agent(AgentCaller {
            project_id: parsed(row, "own_project")?,
            name: row.try_get("agent_name")?,
            permissions: parsed(row, "permissions")?,
            call_id: None,
        }),
        TokenKind::Run => Caller::Run(RunCaller {
            run_id: parsed(row, "run_id")?,
            task_id: parsed(row, "task_id")?,
            project_id: parsed(row, "project_id")?,
            phase: parsed(row, "phase")?,
            call_id: None,
        }),
    };
    Ok(Holder { caller, audience: parsed(row, "audience")?, reach: parsed(row, "reach")?, ends_at: end_of(row)? })
}

/// Returns when a token ends: when it expires, or soon after its holder replaced it.
pub(super) fn end_of(row: &SqliteRow) -> Result<Option<Timestamp>> {
    let (expires, retires): (Option<Timestamp>, Option<Timestamp>) = (optional(row, "expires_at")?, optional(row, "retires_at")?);
    Ok(expires.into_iter().chain(retires).min())
}

/// Returns 256 random bits as 64 hexadecimal digits.
pub fn new_token() -> String {
    hex(&rand::random::<[u8; 32]>())
}

/// The owner of a token.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TokenOwner<'a> {
    Person(i64),
    /// The coding agent of a person.
    Companion(i64),
    Run(&'a RunId),
    Agent(&'a ProjectId, &'a str),
    Invite(&'a ProjectId),
}

/// The stored terms of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredTerms {
    pub(crate) audience: TokenAudience,
    /// None for a person, whose role decides.
    pub(crate) permissions: Option<Permissions>,
    pub(crate) reach: TokenReach,
    pub(crate) expires_at: Option<Timestamp>,
}

impl StoredTerms {
    /// Those of a token for the tools, which every token but a person's is.
    pub(crate) const fn for_tools(permissions: Permissions, expires_at: Option<Timestamp>) -> Self {
        Self { audience: TokenAudience::Mcp, permissions: Some(permissions), reach: TokenReach::Project, expires_at }
    }

    /// Those of the coding agent of a person.
    pub(crate) const COMPANION: Self = Self::for_person(TokenAudience::Mcp, None);

    pub(crate) const fn for_person(audience: TokenAudience, expires_at: Option<Timestamp>) -> Self {
        Self { audience, permissions: None, reach: TokenReach::Project, expires_at }
    }
}

pub(crate) async fn insert(tx: &mut Tx, hash: &str, owner: TokenOwner<'_>, terms: StoredTerms) -> Result<()> {
    let (kind, person, run, project, agent) = match owner {
        TokenOwner::Person(person) => (TokenKind::Human, Some(person), None, None, None),
        TokenOwner::Companion(person) => (TokenKind::Companion, Some(person), None, None, None),
        TokenOwner::Run(run) => (TokenKind::Run, None, Some(run), None, None),
        TokenOwner::Agent(project, name) => (TokenKind::Agent, None, None, Some(project), Some(name)),
        TokenOwner::Invite(project) => (TokenKind::Invite, None, None, Some(project), None),
    };
    sqlx::query(
        "INSERT INTO tokens (hash, kind, person_id, run_id, project_id, agent_name, audience, permissions, created_at, expires_at, reach)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(hash)
    .bind(kind.as_str())
    .bind(person)
    .bind(run.map(RunId::as_str))
    .bind(project.map(ProjectId::as_str))
    .bind(agent)
    .bind(terms.audience.as_str())
    .bind(terms.permissions.map(|permissions| permissions.to_string()))
    .bind(tx.now.to_string())
    .bind(terms.expires_at.map(|at| at.to_string()))
    .bind(terms.reach.as_str())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Returns what the token with this hash allows, if it is a valid one of the agent.
pub(crate) async fn terms_of_agent(tx: &mut Tx, project: &ProjectId, agent: &str, hash: &str) -> Result<Option<StoredTerms>> {
    let row = sqlx::query(
        "SELECT audience, permissions, reach, expires_at FROM tokens WHERE hash = $1 AND kind = 'agent' AND project_id = $2 AND agent_name = $3
         AND (expires_at IS NULL OR expires_at > $4) AND (retires_at IS NULL OR retires_at > $4)",
    )
    .bind(hash)
    .bind(project.as_str())
    .bind(agent)
    .bind(tx.now.to_string())
    .fetch_optional(&mut tx.connection)
    .await?;
    row.as_ref().map(terms_of).transpose()
}

fn terms_of(row: &SqliteRow) -> Result<StoredTerms> {
    let (audience, reach) = (parsed(row, "audience")?, parsed(row, "reach")?);
    Ok(StoredTerms { audience, permissions: optional(row, "permissions")?, reach, expires_at: optional(row, "expires_at")? })
}

/// Removes at most `$2` tokens that ended before `$1`.
pub(crate) const EXPIRED: &str =
    "DELETE FROM tokens WHERE hash IN (SELECT hash FROM tokens WHERE kind <> 'run' AND (expires_at < $1 OR retires_at < $1) LIMIT $2)";

/// Removes at most `batch` tokens that ended a while ago. Until then, they are refused with the reason.
pub(crate) async fn remove_expired(tx: &mut Tx, batch: i64) -> Result<u64> {
    let removed = sqlx::query(EXPIRED).bind(tx.now.before(EXPIRED_RETENTION).to_string()).bind(batch).execute(&mut tx.connection).await?;
    Ok(removed.rows_affected())
}

/// Revokes a person's token, and that of their companion, which acts for them.
pub(crate) async fn revoke_person_token(tx: &mut Tx, person: i64) -> Result<()> {
    sqlx::query("DELETE FROM tokens WHERE person_id = $1").bind(person).execute(&mut tx.connection).await?;
    tx.tokens_revoked = true;
    Ok(())
}

/// Revokes the token of a person's companion.
pub(crate) async fn revoke_companion_token(tx: &mut Tx, person: i64) -> Result<()> {
    sqlx::query("DELETE FROM tokens WHERE kind = 'companion' AND person_id = $1").bind(person).execute(&mut tx.connection).await?;
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
