//! A bearer token with the caller that it identified. Streams and sessions, which outlive a request, check it again.
//!
//! The token is only kept in memory. It must not know sessions or streams.

use std::fmt;

use db::{Act, Caller, Db};

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bearer {
    token: String,
    pub(crate) caller: Caller,
}

// By hand, because no log may contain the token.
impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer").field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl Bearer {
    /// Looks up the caller of `token`. None when it is not valid.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn of(db: &Db, token: &str) -> db::Result<Option<Self>> {
        Ok(db.caller(token).await?.map(|caller| Self { token: token.to_owned(), caller }))
    }

    /// Returns the act of a request with this token.
    pub(crate) fn act(&self, action: &str) -> Act {
        Act::by_token(&self.token, action)
    }

    /// Whether the token still identifies the same caller.
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
    fn debug_output_hides_the_token() {
        let bearer = Bearer { token: "secret".to_owned(), caller: Caller::owner() };
        assert_eq!(format!("{bearer:?}"), "Bearer { caller: Person(PersonCaller { id: 1, name: \"owner\", role: Owner }), .. }");
    }
}
