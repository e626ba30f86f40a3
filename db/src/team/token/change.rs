//! Changes of a token: what a person changes, and how its holder replaces it.

use domain::id::ProjectId;
use domain::refusal::GeneralRefusal;
use domain::team::token::refusal::TokenRefusal;
use domain::team::token::{Permissions, REFRESH_OVERLAP, Token, TokenEvent, TokenKind, TokenName, validate_lifetime};
use domain::time::Timestamp;
use domain::wire::TokenPatch;

use super::{StoredTerms, TokenOwner, hash, insert, list, new_token, revoke_invite_token, terms_of_agent};
use crate::caller::Caller;
use crate::engine::act;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::participant::row as participant;

/// The successor of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefreshedToken {
    pub token: String,
    pub permissions: Permissions,
    pub expires_at: Option<Timestamp>,
    /// When the token before ends.
    pub retires_at: Timestamp,
}

impl Db {
    /// Changes what a token permits and until when it is valid, at once, also for open streams.
    ///
    /// # Errors
    /// When the caller is not the owner, the token does not exist, is the owner's or a run's, or the patch does not fit its kind.
    pub async fn change_token(&self, caller: &Caller, name: &TokenName, patch: TokenPatch) -> Result<Token> {
        let (caller, name) = (caller.clone(), name.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("changing tokens")?;
                let token = list::read(&mut tx.connection, &tx.presence, &name).await?;
                token.require_revocable()?;
                if patch.permissions.is_some() && matches!(token.kind, TokenKind::Human | TokenKind::Companion) {
                    return Err(TokenRefusal::OfPerson.into());
                }
                let expires_at = patch.expires_in.map(|seconds| validate_lifetime(seconds, tx.now)).transpose()?;
                if patch == TokenPatch::default() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(token);
                }
                sqlx::query(
                    "UPDATE tokens SET permissions = COALESCE($2, permissions), expires_at = COALESCE($3, expires_at) WHERE substr(hash, 1, 12) = $1",
                )
                .bind(name.as_str())
                .bind(patch.permissions.map(|permissions| permissions.to_string()))
                .bind(expires_at.map(|at| at.to_string()))
                .execute(&mut tx.connection)
                .await?;
                tx.tokens_revoked = true;
                record(tx, &caller, token.project_id.as_ref(), TokenEvent::Changed { token: name.clone() });
                list::read(&mut tx.connection, &tx.presence, &name).await
            })
        })
        .await
    }

    /// Revokes a token at once.
    ///
    /// # Errors
    /// When the caller is not the owner, or the token does not exist, is the owner's or a run's.
    pub async fn revoke_token(&self, caller: &Caller, name: &TokenName) -> Result<()> {
        let (caller, name) = (caller.clone(), name.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("revoking tokens")?;
                let token = list::read(&mut tx.connection, &tx.presence, &name).await?;
                token.require_revocable()?;
                match (token.kind, &token.project_id) {
                    (TokenKind::Invite, Some(project)) => revoke_invite_token(tx, project).await?,
                    _ => {
                        sqlx::query("DELETE FROM tokens WHERE substr(hash, 1, 12) = $1").bind(name.as_str()).execute(&mut tx.connection).await?;
                        tx.tokens_revoked = true;
                    }
                }
                record(tx, &caller, token.project_id.as_ref(), TokenEvent::Revoked { token: name });
                Ok(())
            })
        })
        .await
    }

    /// Replaces the caller's own `token` by another one that permits the same until the same time. The one before stays valid for a minute. It
    /// can be refreshed again in that time, which revokes the successor that was lost.
    ///
    /// # Errors
    /// When the caller is not an external agent, left the project, or `token` is not valid any longer.
    pub async fn refresh_token(&self, caller: &Caller, token: &str) -> Result<RefreshedToken> {
        let (caller, before, new) = (caller.clone(), hash(token), new_token());
        self.write(move |tx| {
            Box::pin(async move {
                let Caller::Agent(agent) = &caller else { return Err(TokenRefusal::NotRefreshable.into()) };
                let (project, name) = (&agent.project_id, &agent.name);
                participant::load(&mut tx.connection, &caller, project).await?;
                let Some(terms) = terms_of_agent(tx, project, name, &before).await? else { return Err(GeneralRefusal::Unauthorized.into()) };
                let retires_at = retire(tx, project, name, &before).await?;
                insert(tx, &hash(&new), TokenOwner::Agent(project, name), terms).await?;
                tx.tokens_revoked = true;
                record(tx, &caller, Some(project), TokenEvent::Refreshed { token: act::name(&before).parse()? });
                let StoredTerms { permissions, expires_at, .. } = terms;
                Ok(RefreshedToken { token: new, permissions: permissions.unwrap_or(Permissions::READ), expires_at, retires_at })
            })
        })
        .await
    }
}

/// Lets a token end soon, and revokes all others of its agent. Returns when it ends.
async fn retire(tx: &mut Tx, project: &ProjectId, agent: &str, hash: &str) -> Result<Timestamp> {
    sqlx::query("DELETE FROM tokens WHERE kind = 'agent' AND project_id = $1 AND agent_name = $2 AND hash <> $3")
        .bind(project.as_str())
        .bind(agent)
        .bind(hash)
        .execute(&mut tx.connection)
        .await?;
    let retires_at: String = sqlx::query_scalar("UPDATE tokens SET retires_at = COALESCE(retires_at, $2) WHERE hash = $1 RETURNING retires_at")
        .bind(hash)
        .bind(tx.now.after(REFRESH_OVERLAP).to_string())
        .fetch_one(&mut tx.connection)
        .await?;
    Ok(retires_at.parse()?)
}

fn record(tx: &mut Tx, caller: &Caller, project: Option<&ProjectId>, event: TokenEvent) {
    match project {
        Some(project) => tx.record_without_card(caller, project, None, event),
        None => tx.record(caller, event),
    }
}
