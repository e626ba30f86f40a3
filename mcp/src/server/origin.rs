//! Recognizes requests from the board's own page. The transport refuses all other origins.
//!
//! The transport also checks the host names; a page that rebinds its own name to this address does not pass there.

use domain::wire::HOST_NAMES;
use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;

/// Whether the request names one origin, and that is this server: one of its names with the port that the request was sent to.
pub(super) fn is_own(headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    let (Some(origin), None, Some(host)) = (origins.next(), origins.next(), headers.get(HOST)) else { return false };
    let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://")).and_then(own_port);
    let host = host.to_str().ok().and_then(own_port);
    origin.is_some() && origin == host
}

fn own_port(authority: &str) -> Option<u16> {
    let authority: Authority = authority.parse().ok()?;
    let is_own_name = HOST_NAMES.iter().any(|name| authority.host().eq_ignore_ascii_case(name));
    is_own_name.then(|| authority.port_u16().unwrap_or(80))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_origin_is_a_name_of_the_server_with_the_same_port() {
        for (origin, host, expected) in [
            ("http://127.0.0.1:9400", "127.0.0.1:9400", true),
            ("http://localhost:9400", "127.0.0.1:9400", true),
            ("http://LOCALHOST:9400", "[::1]:9400", true),
            ("http://localhost", "localhost:80", true),
            ("http://vibe-relay.localhost:9400", "Vibe-Relay.localhost:9400", true),
            ("http://vibe-relay.localhost:9401", "vibe-relay.localhost:9400", false),
            ("http://other.localhost:9400", "vibe-relay.localhost:9400", false),
            ("http://127.0.0.1:9401", "127.0.0.1:9400", false),
            ("https://127.0.0.1:9400", "127.0.0.1:9400", false),
            ("http://evil.example:9400", "evil.example:9400", false),
            ("null", "127.0.0.1:9400", false),
        ] {
            let headers = [(ORIGIN, origin), (HOST, host)].map(|(name, value)| (name, value.parse().unwrap())).into_iter().collect();
            assert_eq!(is_own(&headers), expected, "{origin} to {host}");
        }
        let mut two = HeaderMap::new();
        two.insert(HOST, "localhost:1".parse().unwrap());
        two.append(ORIGIN, "http://localhost:1".parse().unwrap());
        two.append(ORIGIN, "http://evil.example".parse().unwrap());
        assert!(!is_own(&two));
    }
}
