//! One-time codes for links that sign a browser in, and the cookie that they are exchanged for.
//!
//! Knows the person's token, because the cookie holds it; whether a token is good is the store's knowledge.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// A browser stays signed in for thirty days after its link was opened.
const SECONDS: u32 = 30 * 24 * 60 * 60;

/// The codes that were given out and not used yet. Clones share them.
#[derive(Clone)]
pub struct SignIn {
    human_token: Arc<str>,
    codes: Arc<Mutex<HashSet<String>>>,
}

impl SignIn {
    pub fn new(human_token: &str) -> Self {
        Self { human_token: human_token.into(), codes: Arc::default() }
    }

    /// A fresh code. Opening `/sign-in?code=…` with it signs one browser in, once.
    pub fn code(&self) -> String {
        let code = db::new_token();
        self.codes().insert(code.clone());
        code
    }

    /// Uses a code up. Answers whether it was good.
    pub(crate) fn redeem(&self, code: &str) -> bool {
        // Codes have 256 random bits and the set hashes them with a secret key: there is no prefix to be guessed from its timing.
        self.codes().remove(code)
    }

    /// The value of a `Set-Cookie` header that signs a browser in.
    pub(crate) fn cookie(&self, port: u16) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={SECONDS}", cookie_name(port), self.human_token)
    }

    fn codes(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Browsers do not tell ports apart in cookies, so the name has to: two servers on one machine must not sign each other's browser out.
pub(crate) fn cookie_name(port: u16) -> String {
    format!("vibe-relay-{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once() {
        let sign_in = SignIn::new("secret");
        let (one, two) = (sign_in.code(), sign_in.code());
        assert!(sign_in.clone().redeem(&one));
        assert!(!sign_in.redeem(&one));
        assert!(sign_in.redeem(&two));
        assert!(!sign_in.redeem(""));
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        insta::assert_snapshot!(SignIn::new("secret").cookie(9400), @"vibe-relay-9400=secret; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    }
}
