//! One-time codes for links that sign a browser in, and the cookie that replaces them.
//!
//! Holds the human's token, because the cookie carries it. The store decides whether a token is valid.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use cookie::{Cookie, SameSite, time};

/// The time that a browser stays signed in.
const COOKIE_LIFETIME: time::Duration = time::Duration::days(30);

/// The codes that were issued and not used yet. Clones share them.
#[derive(Clone)]
pub struct SignIn {
    human_token: Arc<str>,
    codes: Arc<Mutex<HashSet<String>>>,
}

impl SignIn {
    pub fn new(human_token: &str) -> Self {
        Self { human_token: human_token.into(), codes: Arc::default() }
    }

    /// Issues a code. Opening `/sign-in?code=…` with it signs one browser in, once.
    pub fn code(&self) -> String {
        let code = db::new_token();
        self.codes().insert(code.clone());
        code
    }

    /// Whether `code` was issued and not used yet.
    pub(crate) fn is_valid(&self, code: &str) -> bool {
        // Codes have 256 random bits and the set hashes them with a secret key, so its timing reveals no prefix.
        self.codes().contains(code)
    }

    /// Uses a code up, and returns whether it was valid.
    pub(crate) fn redeem(&self, code: &str) -> bool {
        self.codes().remove(code)
    }

    /// The cookie that signs a browser in.
    pub(crate) fn cookie(&self, port: u16) -> Cookie<'static> {
        Cookie::build((cookie_name(port), self.human_token.to_string()))
            .http_only(true)
            .same_site(SameSite::Strict)
            .path("/")
            .max_age(COOKIE_LIFETIME)
            .build()
    }

    fn codes(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cookie's name. Browsers share cookies between ports, so the name has the port: two servers on one machine must not sign each
/// other's browser out.
pub(crate) fn cookie_name(port: u16) -> String {
    format!("vibe-relay-{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_valid_once() {
        let sign_in = SignIn::new("secret");
        let (one, two) = (sign_in.code(), sign_in.code());
        assert!(sign_in.is_valid(&one) && sign_in.is_valid(&one));
        assert!(sign_in.clone().redeem(&one));
        assert!(!sign_in.is_valid(&one) && !sign_in.redeem(&one));
        assert!(sign_in.redeem(&two));
        assert!(!sign_in.redeem(""));
    }

    #[test]
    fn cookie_is_hidden_from_scripts_and_other_sites() {
        insta::assert_snapshot!(SignIn::new("secret").cookie(9400), @"vibe-relay-9400=secret; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    }
}
