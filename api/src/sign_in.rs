//! One-time codes for links that sign a browser in, and the cookie that replaces them.
//!
//! The cookie carries the secret of a browser session. The store decides whether that is valid.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cookie::{Cookie, SameSite, time};
use domain::team::browser_session::SESSION_LIFETIME;
use domain::wire::BOARD_HOST;

/// The codes that were issued and not used yet, each with the person whom it signs in. Clones share them.
#[derive(Clone, Default)]
pub struct SignIn {
    codes: Arc<Mutex<HashMap<String, i64>>>,
}

impl SignIn {
    /// Issues a code and returns the link that signs one browser of `person` in with it, once, on the server at `port`. Earlier links of the
    /// person become invalid.
    pub fn link(&self, port: u16, person: i64) -> String {
        let code = db::new_token();
        self.revoke(person);
        self.codes().insert(code.clone(), person);
        link(port, &code)
    }

    /// Makes the unused links of a person invalid.
    pub(crate) fn revoke(&self, person: i64) {
        self.codes().retain(|_, known| *known != person);
    }

    /// Whether `code` was issued and not used yet.
    pub(crate) fn is_valid(&self, code: &str) -> bool {
        // Codes have 256 random bits and the set hashes them with a secret key, so its timing reveals no prefix.
        self.codes().contains_key(code)
    }

    /// Uses a code up, and returns the person whom it signs in, if it was valid.
    pub(crate) fn redeem(&self, code: &str) -> Option<i64> {
        self.codes().remove(code)
    }

    fn codes(&self) -> std::sync::MutexGuard<'_, HashMap<String, i64>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address of the sign-in page with a code.
pub(crate) fn link(port: u16, code: &str) -> String {
    format!("{}/sign-in?code={code}", board_url(port))
}

/// The address of the board in a browser.
pub(crate) fn board_url(port: u16) -> String {
    format!("http://{BOARD_HOST}:{port}")
}

/// The cookie that keeps a browser signed in, with the secret of its session. It names no domain, so only the board's host receives it.
pub(crate) fn cookie(port: u16, secret: String) -> Cookie<'static> {
    Cookie::build((cookie_name(port), secret))
        .http_only(true)
        .same_site(SameSite::Strict)
        .path("/")
        .max_age(time::Duration::seconds(SESSION_LIFETIME.as_secs().cast_signed()))
        .build()
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
        let sign_in = SignIn::default();
        let [one, two] =
            [1, 2].map(|person| sign_in.link(9400, person).strip_prefix("http://vibe-relay.localhost:9400/sign-in?code=").unwrap().to_owned());
        assert!(sign_in.is_valid(&one) && sign_in.is_valid(&one));
        assert_eq!(sign_in.clone().redeem(&one), Some(1));
        assert!(!sign_in.is_valid(&one) && sign_in.redeem(&one).is_none());
        assert_eq!(sign_in.redeem(&two), Some(2));
        assert_eq!(sign_in.redeem(""), None);
    }

    #[test]
    fn newer_link_replaces_the_earlier_one_of_a_person() {
        let sign_in = SignIn::default();
        let code = |person| sign_in.link(9400, person).rsplit_once('=').unwrap().1.to_owned();
        let (other, earlier, newer) = (code(1), code(2), code(2));
        assert!(!sign_in.is_valid(&earlier) && sign_in.is_valid(&newer) && sign_in.is_valid(&other));
        sign_in.revoke(2);
        assert!(!sign_in.is_valid(&newer) && sign_in.is_valid(&other));
    }

    #[test]
    fn cookie_is_hidden_from_scripts_and_other_sites() {
        insta::assert_snapshot!(cookie(9400, "secret".to_owned()), @"vibe-relay-9400=secret; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    }
}
