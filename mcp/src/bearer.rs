//! A token that was shown, with the caller that it stood for then. Whoever outlives a request asks here whether it still does.
//!
//! The token is kept in memory alone and written nowhere. Knows no session and no stream.

use std::fmt;

use db::{Caller, Db};

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bearer {
    token: String,
    pub(crate) caller: Caller,
}

// By hand: no log shows the token.
impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer").field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl Bearer {
    /// Who shows `token`; nobody when it is worth nothing.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn of(db: &Db, token: &str) -> db::Result<Option<Self>> {
        Ok(db.caller(token).await?.map(|caller| Self { token: token.to_owned(), caller }))
    }

    /// Whether the token still stands for the same caller.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn is_current(&self, db: &Db) -> db::Result<bool> {
        Ok(db.caller(&self.token).await?.as_ref() == Some(&self.caller))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_log_shows_a_token() {
        let bearer = Bearer { token: "secret".to_owned(), caller: Caller::Human };
        assert_eq!(format!("{bearer:?}"), "Bearer { caller: Human, .. }");
    }
}
