//! A bearer token with the caller that it identified. Streams and sessions, which outlive a request, check it again.
//!
//! The token is only kept in memory. It must not know sessions or streams.

use std::fmt;

use db::{Act, Caller, Db, Holder, RefreshedToken};
use domain::team::token::{TokenAudience, TokenReach};

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bearer {
    token: String,
    pub(crate) caller: Caller,
    /// The projects in which the caller may act.
    pub(crate) reach: TokenReach,
}

// By hand, because no log may contain the token.
impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer").field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl Bearer {
    /// Looks up the caller of `token`. None when it is unknown.
    ///
    /// # Errors
    /// When the token expired or is not for tools, or the store fails.
    pub(crate) async fn of(db: &Db, token: &str) -> db::Result<Option<Self>> {
        Ok(db.identify(token, TokenAudience::Mcp).await?.map(|holder| Self { token: token.to_owned(), caller: holder.caller, reach: holder.reach }))
    }

    /// Returns the act of a request with this token.
    pub(crate) fn act(&self, action: &str) -> Act {
        Act::by_token(&self.token, action)
    }

    /// Returns the holder of the token while it still identifies the same caller.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn current(&self, db: &Db) -> db::Result<Option<Holder>> {
        match db.identify(&self.token, TokenAudience::Mcp).await {
            Ok(holder) => Ok(holder.filter(|holder| holder.caller == self.caller)),
            Err(db::Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the token with the present name of its agent, and its holder, or None when it is not valid any longer.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn renamed(&self, db: &Db) -> db::Result<Option<(Self, Holder)>> {
        match db.identify(&self.token, TokenAudience::Mcp).await {
            Ok(holder) => Ok(holder.map(|holder| (Self { token: self.token.clone(), caller: holder.caller.clone(), reach: holder.reach }, holder))),
            Err(db::Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the token by another one.
    ///
    /// # Errors
    /// When it cannot be refreshed.
    pub(crate) async fn refresh(&self, db: &Db) -> db::Result<RefreshedToken> {
        db.refresh_token(&self.caller, &self.token).await
    }

    /// Returns a word that names the token and opens nothing, in the form of the tokens of shared-context-server.
    pub(crate) fn handle(&self) -> String {
        format!("sct_{}", db::token_name(&self.token))
    }

    /// Whether `given` is the token, or names it.
    pub(crate) fn is_named(&self, given: &str) -> bool {
        given == self.token || given == self.handle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_token() {
        let bearer = Bearer { token: "secret".to_owned(), caller: Caller::owner(), reach: TokenReach::Project };
        assert_eq!(format!("{bearer:?}"), "Bearer { caller: Person(PersonCaller { id: 1, name: \"owner\", role: Owner, is_companion: false }), .. }");
    }
}
