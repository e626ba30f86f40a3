//! The companion of a person: their own coding agent, which works on boards for them and makes no decisions.
//!
//! Must not know what a companion may do, which [`Caller`] defines, and where its token is kept.

use domain::team::person::Right;
use domain::team::token::TokenEvent;

use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::team::token::{self, StoredTerms, TokenOwner};

impl Db {
    /// Creates the token of the caller's companion. An earlier one is revoked.
    ///
    /// # Errors
    /// When the caller is not a person who may decide about work.
    pub async fn create_companion_token(&self, caller: &Caller) -> Result<String> {
        let (caller, new) = (caller.clone(), token::new_token());
        let hash = token::hash(&new);
        self.write(move |tx| {
            Box::pin(async move {
                let person = caller.person(Right::Decide, "attaching a coding agent")?.id;
                token::revoke_companion_token(tx, person).await?;
                token::insert(tx, &hash, TokenOwner::Companion(person), StoredTerms::COMPANION).await?;
                tx.record(&caller, TokenEvent::Created {});
                Ok(())
            })
        })
        .await?;
        Ok(new)
    }
}
