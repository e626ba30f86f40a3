//! Browser sessions: each has a random secret of its own, which is no token. Only its hash is kept.
//!
//! Must not know how a browser keeps and sends the secret.

use std::time::Duration;

use domain::event::Event;
use domain::refusal::Refusal;
use domain::team::browser_session::{BrowserSession, SESSION_LIFETIME};
use sqlx::Row;

use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::token::{hash, new_token};

/// How often a session in use is written down as seen.
const SEEN_INTERVAL: Duration = Duration::from_secs(60);
/// The longest label of a browser, in characters.
const MAX_USER_AGENT: usize = 200;

impl Db {
    /// Opens a session for a browser and returns its secret. Sessions that have expired are deleted.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn open_browser_session(&self, user_agent: Option<&str>) -> Result<String> {
        let secret = new_token();
        let hash = hash(&secret);
        let user_agent: Option<String> = user_agent.map(|label| label.chars().filter(|letter| !letter.is_control()).take(MAX_USER_AGENT).collect());
        self.write(move |tx| {
            Box::pin(async move {
                sqlx::query("DELETE FROM browser_sessions WHERE created_at <= $1")
                    .bind(tx.now.before(SESSION_LIFETIME).to_string())
                    .execute(&mut tx.connection)
                    .await?;
                let id = i64::try_from(tx.next_number("browser_session").await?).unwrap_or_default();
                sqlx::query("INSERT INTO browser_sessions (id, hash, user_agent, created_at, last_seen_at) VALUES ($1, $2, $3, $4, $4)")
                    .bind(id)
                    .bind(&hash)
                    .bind(&user_agent)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record(&Caller::Human, Event::BrowserSessionOpened { session: id });
                Ok(())
            })
        })
        .await?;
        Ok(secret)
    }

    /// Whether `secret` is that of an open session, which counts as seen now.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn use_browser_session(&self, secret: &str) -> Result<bool> {
        let now = crate::now();
        let row = sqlx::query("SELECT id, last_seen_at FROM browser_sessions WHERE hash = $1 AND created_at > $2")
            .bind(hash(secret))
            .bind(now.before(SESSION_LIFETIME).to_string())
            .fetch_optional(&self.readers)
            .await?;
        let Some(row) = row else { return Ok(false) };
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
        Ok(true)
    }

    /// The open sessions, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn browser_sessions(&self) -> Result<Vec<BrowserSession>> {
        let rows = sqlx::query("SELECT id, user_agent, created_at, last_seen_at FROM browser_sessions WHERE created_at > $1 ORDER BY id")
            .bind(crate::now().before(SESSION_LIFETIME).to_string())
            .fetch_all(&self.readers)
            .await?;
        rows.iter()
            .map(|row| {
                Ok(BrowserSession {
                    id: row.try_get("id")?,
                    user_agent: row.try_get("user_agent")?,
                    created_at: parsed(row, "created_at")?,
                    last_seen_at: parsed(row, "last_seen_at")?,
                })
            })
            .collect()
    }

    /// Signs a browser out.
    ///
    /// # Errors
    /// When there is no such session, or the store fails.
    pub async fn revoke_browser_session(&self, id: i64) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                let deleted = sqlx::query("DELETE FROM browser_sessions WHERE id = $1").bind(id).execute(&mut tx.connection).await?;
                if deleted.rows_affected() == 0 {
                    return Err(Refusal::not_found("browser session", id).into());
                }
                revoked(tx, id);
                Ok(())
            })
        })
        .await
    }
}

/// Signs every browser out, and returns how many there were.
pub(crate) async fn revoke_all(tx: &mut Tx) -> Result<u64> {
    let ids: Vec<i64> = sqlx::query_scalar("DELETE FROM browser_sessions RETURNING id").fetch_all(&mut tx.connection).await?;
    ids.iter().for_each(|id| revoked(tx, *id));
    Ok(ids.len() as u64)
}

fn revoked(tx: &mut Tx, id: i64) {
    tx.tokens_revoked = true;
    tx.record(&Caller::Human, Event::BrowserSessionRevoked { session: id });
}
