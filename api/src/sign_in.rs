//! One-time codes for links that sign a browser in, and the cookie that follows them.
//!
//! The cookie carries the first part of the secret of a browser session. The store decides whether the whole is valid.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cookie::{Cookie, SameSite, time};
use domain::team::browser_session::SESSION_LIFETIME;
use domain::wire::BOARD_HOST;

/// The codes that were issued and not used yet. Clones share them.
#[derive(Clone, Default)]
pub struct SignIn {
    codes: Arc<Mutex<HashMap<String, Ticket>>>,
}

/// The session that a code opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) person: i64,
    /// The name of the device, if the code pairs one.
    pub(crate) device: Option<String>,
    /// When the code becomes invalid; `None` if only its use or a newer one ends it.
    ends: Option<Instant>,
}

impl Ticket {
    fn is_valid(&self) -> bool {
        self.ends.is_none_or(|ends| Instant::now() < ends)
    }
}

impl SignIn {
    /// Issues a code and returns the link that signs one browser of `person` in with it, once, on the server at `port`. Earlier links of the
    /// person become invalid.
    pub fn link(&self, port: u16, person: i64) -> String {
        link(&board_url(port), &self.issue(Ticket { person, device: None, ends: None }))
    }

    /// Issues a code that pairs a device of `person` within `lifetime`. An earlier code of a pairing of the person becomes invalid.
    pub(crate) fn pair(&self, person: i64, device: String, lifetime: Duration) -> String {
        self.issue(Ticket { person, device: Some(device), ends: Instant::now().checked_add(lifetime) })
    }

    fn issue(&self, ticket: Ticket) -> String {
        let code = db::new_token();
        let mut codes = self.codes();
        codes.retain(|_, known| known.is_valid() && (known.person != ticket.person || known.device.is_some() != ticket.device.is_some()));
        codes.insert(code.clone(), ticket);
        code
    }

    /// Makes the unused links of a person invalid.
    pub(crate) fn revoke(&self, person: i64) {
        self.codes().retain(|_, known| known.person != person);
    }

    /// Whether `code` was issued and not used yet.
    pub(crate) fn is_valid(&self, code: &str) -> bool {
        // Codes have 256 random bits and the set hashes them with a secret key, so its timing reveals no prefix.
        self.codes().get(code).is_some_and(Ticket::is_valid)
    }

    /// Uses a code up, and returns the session that it opens, if it was valid.
    pub(crate) fn redeem(&self, code: &str) -> Option<Ticket> {
        self.codes().remove(code).filter(Ticket::is_valid)
    }

    fn codes(&self) -> std::sync::MutexGuard<'_, HashMap<String, Ticket>> {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address of the sign-in page of the board at `origin`, with a code.
pub(crate) fn link(origin: &str, code: &str) -> String {
    format!("{origin}/sign-in?code={code}")
}

/// The address of the board in a browser on this machine.
pub(crate) fn board_url(port: u16) -> String {
    format!("http://{BOARD_HOST}:{port}")
}

/// The cookie that keeps a browser signed in, with its part of the session's secret. It names no domain, so only the host of the board
/// receives it, and from another device only by HTTPS.
pub(crate) fn cookie(port: u16, value: String, is_https: bool) -> Cookie<'static> {
    Cookie::build((cookie_name(port), value))
        .http_only(true)
        .secure(is_https)
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
        assert_eq!(sign_in.clone().redeem(&one).map(|ticket| ticket.person), Some(1));
        assert!(!sign_in.is_valid(&one) && sign_in.redeem(&one).is_none());
        assert_eq!(sign_in.redeem(&two).map(|ticket| ticket.person), Some(2));
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
    fn pairing_ends_soon_and_leaves_the_other_link_of_the_person() {
        let sign_in = SignIn::default();
        let code = || sign_in.link(9400, 1).rsplit_once('=').unwrap().1.to_owned();
        let browser = code();
        let earlier = sign_in.pair(1, "Phone".to_owned(), Duration::from_secs(60));
        let newer = sign_in.pair(1, "Tablet".to_owned(), Duration::from_secs(60));
        assert!(sign_in.is_valid(&browser) && !sign_in.is_valid(&earlier));
        assert!(sign_in.is_valid(&code()) && sign_in.is_valid(&newer), "a link for a browser leaves the pairing");
        assert_eq!(sign_in.redeem(&newer).unwrap().device.as_deref(), Some("Tablet"));
        let late = sign_in.pair(1, "Phone".to_owned(), Duration::ZERO);
        assert!(!sign_in.is_valid(&late) && sign_in.redeem(&late).is_none());
        let removed = sign_in.pair(1, "Phone".to_owned(), Duration::from_secs(60));
        sign_in.revoke(1);
        assert!(!sign_in.is_valid(&removed));
    }

    #[test]
    fn cookie_is_hidden_from_scripts_and_other_sites() {
        insta::assert_snapshot!(cookie(9400, "secret".to_owned(), false), @"vibe-relay-9400=secret; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    }
}
