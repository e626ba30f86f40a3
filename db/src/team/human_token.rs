//! The person's permanent token, which programs use. Replacing it also signs every browser out.

use domain::event::Event;

use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::team::browser_session;
use crate::team::token::{self, TokenOwner};

impl Db {
    /// Makes `token` the person's. An earlier one is revoked, with all browser sessions; returns how many those were.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn set_human_token(&self, token: &str) -> Result<u64> {
        let hash = token::hash(token);
        self.write(move |tx| {
            Box::pin(async move {
                let known: Option<i64> = sqlx::query_scalar("SELECT 1 FROM tokens WHERE kind = 'human' AND hash = $1")
                    .bind(&hash)
                    .fetch_optional(&mut tx.connection)
                    .await?;
                if known.is_some() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(0);
                }
                sqlx::query("DELETE FROM tokens WHERE kind = 'human'").execute(&mut tx.connection).await?;
                tx.tokens_revoked = true;
                token::insert(tx, &hash, TokenOwner::Human).await?;
                tx.record(&Caller::Human, Event::TokenCreated {});
                browser_session::revoke_all(tx).await
            })
        })
        .await
    }
}
