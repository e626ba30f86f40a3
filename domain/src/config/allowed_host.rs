//! The names under which other devices reach the board, by HTTPS through a proxy on this machine.
//!
//! Pure. Must not know how a request names its host.

use crate::wire::BOARD_HOST;

/// Why `host` cannot be allowed, or `None`.
pub(super) fn problem(host: &str) -> Option<&'static str> {
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if host.contains("://") || host.contains('/') {
        return Some("write only the name, without https:// and a path");
    }
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Some("expected a name such as desk.example.org, with a port if it is not 443");
    }
    if name.split('.').next_back().is_some_and(|label| label.bytes().all(|byte| byte.is_ascii_digit())) {
        return Some("expected a name instead of an IP address, because a certificate needs one");
    }
    if is_local(name) {
        return Some("this name always means the device itself");
    }
    match port {
        Some("443") => Some("omit the port 443, which https:// implies"),
        Some(port) if port.parse::<u16>().is_ok_and(|number| number > 0 && number.to_string() == port) => None,
        Some(_) => Some("expected a port between 1 and 65535"),
        None => None,
    }
}

/// Whether every device resolves the name to itself.
fn is_local(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name == BOARD_HOST
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn name_with_an_optional_port_is_allowed() {
        for host in ["desk.tail1234.ts.net", "desk.example.org:8443", "Desk", "a-b.c"] {
            assert_eq!(problem(host), None, "{host}");
        }
    }

    #[test]
    fn addresses_local_names_and_wildcards_are_refused() {
        let refused = [
            "",
            "https://desk.example.org",
            "desk.example.org/",
            "*.example.org",
            "a..b",
            "-a.b",
            "a b",
            "user@desk",
            "192.168.1.2",
            "[::1]",
            "desk:443",
            "desk:0",
            "desk:08443",
            "desk:70000",
            "desk:",
            "localhost",
            "LocalHost:8443",
            "vibe-relay.localhost",
        ];
        for host in refused {
            assert!(problem(host).is_some(), "{host}");
        }
    }
}
