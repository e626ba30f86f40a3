//! Browser sessions: each has a random secret of its own, in two parts, which is no token. Only its hash is kept.
//!
//! Must not know how a browser sends the secret.

use std::time::Duration;

use domain::refusal::Refusal;
use domain::team::browser_session::{BrowserSession, BrowserSessionEvent, SESSION_LIFETIME, SessionSecret};
use domain::team::person::Right;
use sqlx::Row;

use crate::caller::{Caller, PersonCaller};
use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::person::row::{caller_of, find};
use crate::team::token::{hash, new_token};

/// How often a session in use is written down as seen.
const SEEN_INTERVAL: Duration = Duration::from_secs(60);
/// The longest label of a browser, in characters.
const MAX_USER_AGENT: usize = 200;

impl Db {
    /// Opens a session for a browser of a person and returns its secret, or `None` for a person who was removed. A paired device has a name.
    /// Sessions that have expired are deleted.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open_browser_session(&self, person: i64, user_agent: Option<&str>, device: Option<String>) -> Result<Option<SessionSecret>> {
        let secret = SessionSecret { cookie: new_token(), key: new_token() };
        let hash = hash(&secret.joined());
        let user_agent: Option<String> = user_agent.map(|label| label.chars().filter(|letter| !letter.is_control()).take(MAX_USER_AGENT).collect());
        self.write(move |tx| {
            Box::pin(async move {
                let Some(person) = find(&mut tx.connection, person).await? else {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(None);
                };
                sqlx::query("DELETE FROM browser_sessions WHERE created_at <= $1")
                    .bind(tx.now.before(SESSION_LIFETIME).to_string())
                    .execute(&mut tx.connection)
                    .await?;
                let id = i64::try_from(tx.next_number("browser_session").await?).unwrap_or_default();
                sqlx::query(
                    "INSERT INTO browser_sessions (id, hash, person_id, user_agent, device, created_at, last_seen_at) VALUES ($1, $2, $3, $4, $5, $6, $6)",
                )
                .bind(id)
                .bind(&hash)
                .bind(person.id)
                .bind(&user_agent)
                .bind(&device)
                .bind(tx.now.to_string())
                .execute(&mut tx.connection)
                .await?;
                tx.record(&caller_of(&person), BrowserSessionEvent::Opened { session: id });
                Ok(Some(secret))
            })
        })
        .await
    }

    /// Returns the person whose open session has this secret, if one has. The session counts as seen now.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn use_browser_session(&self, secret: &SessionSecret) -> Result<Option<Caller>> {
        let now = crate::now();
        let row = sqlx::query(
            "SELECT s.id, s.last_seen_at, s.person_id, p.name, p.role FROM browser_sessions s JOIN persons p ON p.id = s.person_id
             WHERE s.hash = $1 AND s.created_at > $2",
        )
        .bind(hash(&secret.joined()))
        .bind(now.before(SESSION_LIFETIME).to_string())
        .fetch_optional(&self.readers)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let person = PersonCaller { id: row.try_get("person_id")?, name: row.try_get("name")?, role: parsed(&row, "role")?, is_companion: false };
        if now.since(parsed(&row, "last_seen_at")?) >= SEEN_INTERVAL {
            let id: i64 = row.try_get("id")?;
            self.write(move |tx| {
                Box::pin(async move {
                    sqlx::query("UPDATE browser_sessions SET last_seen_at = $1 WHERE id = $2")
                        .bind(tx.now.to_string())
                        .bind(id)
                        .execute(&mut tx.connection)
                        .await?;
                    tx.skip_event(NoEventReason::Heartbeat);
                    Ok(())
                })
            })
            .await?;
        }
        Ok(Some(Caller::Person(person)))
    }

    /// The open sessions that the caller manages, oldest first: the owner's are everyone's, others have only their own.
    ///
    /// # Errors
    /// When the caller is not a person.
    pub async fn browser_sessions(&self, caller: &Caller) -> Result<Vec<BrowserSession>> {
        let person = caller.person(Right::Read, "listing sessions")?;
        let rows = sqlx::query(
            "SELECT s.*, p.name FROM browser_sessions s JOIN persons p ON p.id = s.person_id
             WHERE s.created_at > $1 AND ($2 OR s.person_id = $3) ORDER BY s.id",
        )
        .bind(crate::now().before(SESSION_LIFETIME).to_string())
        .bind(person.role.may(Right::Administer))
        .bind(person.id)
        .fetch_all(&self.readers)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(BrowserSession {
                    id: row.try_get("id")?,
                    person_id: row.try_get("person_id")?,
                    person: row.try_get("name")?,
                    device: row.try_get("device")?,
                    user_agent: row.try_get("user_agent")?,
                    created_at: parsed(row, "created_at")?,
                    last_seen_at: parsed(row, "last_seen_at")?,
                })
            })
            .collect()
    }

    /// Signs a browser out. Only the owner can sign out a browser of another person.
    ///
    /// # Errors
    /// When the caller has no such session, or the caller may only read.
    pub async fn revoke_browser_session(&self, caller: &Caller, id: i64) -> Result<()> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let person = caller.person(Right::Work, "signing browsers out")?;
                let deleted = sqlx::query("DELETE FROM browser_sessions WHERE id = $1 AND ($2 OR person_id = $3)")
                    .bind(id)
                    .bind(person.role.may(Right::Administer))
                    .bind(person.id)
                    .execute(&mut tx.connection)
                    .await?;
                if deleted.rows_affected() == 0 {
                    return Err(Refusal::not_found("browser session", id).into());
                }
                revoked(tx, &caller, id);
                Ok(())
            })
        })
        .await
    }
}

/// Signs every browser of a person out, and returns how many there were.
pub(crate) async fn revoke_all_of(tx: &mut Tx, caller: &Caller, person: i64) -> Result<u64> {
    let ids: Vec<i64> =
        sqlx::query_scalar("DELETE FROM browser_sessions WHERE person_id = $1 RETURNING id").bind(person).fetch_all(&mut tx.connection).await?;
    ids.iter().for_each(|id| revoked(tx, caller, *id));
    Ok(ids.len() as u64)
}

fn revoked(tx: &mut Tx, caller: &Caller, id: i64) {
    tx.tokens_revoked = true;
    tx.record(caller, BrowserSessionEvent::Revoked { session: id });
}
