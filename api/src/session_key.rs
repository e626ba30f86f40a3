//! The session key: the part of a browser session's secret that is not in the cookie.
//!
//! Browsers send a cookie to every port of its host, also to the app of a task, but keep storage apart for each port. The board's page has the key
//! there and sends it with each request. Must not know what the secret opens.

use axum::http::{HeaderMap, header};
use domain::team::browser_session::{SESSION_KEY_FRAGMENT, SESSION_KEY_HEADER, SESSION_KEY_PROTOCOL};

/// The key of a request, from its header or from the subprotocols of a WebSocket.
pub(crate) fn session_key(headers: &HeaderMap) -> Option<&str> {
    if let Some(key) = headers.get(SESSION_KEY_HEADER) {
        return key.to_str().ok();
    }
    let lists = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).find_map(|protocol| protocol.trim().strip_prefix(SESSION_KEY_PROTOCOL))
}

/// The address of a page of the board with the key for it. The fragment is never sent to a server, so no proxy logs it.
pub(crate) fn with_session_key(page: &str, key: &str) -> String {
    format!("{page}#{SESSION_KEY_FRAGMENT}{key}")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn key_of(headers: &[(&'static str, &'static str)]) -> Option<String> {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect();
        session_key(&HeaderMap::from_iter(headers)).map(str::to_owned)
    }

    #[test]
    fn key_is_in_the_header_or_in_a_subprotocol() {
        let protocols = "sec-websocket-protocol";
        assert_eq!(key_of(&[(SESSION_KEY_HEADER, "one")]).as_deref(), Some("one"));
        assert_eq!(key_of(&[(protocols, "vibe-relay, vibe-relay.session-key.two")]).as_deref(), Some("two"));
        assert_eq!(key_of(&[(SESSION_KEY_HEADER, "one"), (protocols, "vibe-relay.session-key.two")]).as_deref(), Some("one"));
        assert_eq!((key_of(&[]), key_of(&[(protocols, "vibe-relay,other")])), (None, None));
    }

    #[test]
    fn key_follows_the_page_as_a_fragment() {
        assert_eq!(with_session_key("/needs-you", "abc"), "/needs-you#session-key=abc");
    }
}
