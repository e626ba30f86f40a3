//! Which hosts an agent may connect to, and the requests of its programs to the proxy. Pure.

/// The port of an allowed host that names none.
const HTTPS: u16 = 443;

/// The allowed hosts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowList(Vec<(String, u16)>);

impl AllowList {
    /// `hosts` are host names, each with or without a port.
    pub fn new<'a>(hosts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(hosts.into_iter().filter_map(|text| parse_target(text, HTTPS)).collect())
    }

    pub fn permits(&self, host: &str, port: u16) -> bool {
        self.0.iter().any(|(allowed, allowed_port)| allowed.eq_ignore_ascii_case(host) && *allowed_port == port)
    }
}

/// The request of a program to the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyRequest {
    /// A tunnel to a host.
    Connect {
        host: String,
        port: u16,
    },
    /// A request without a tunnel, which the proxy does not forward.
    Plain {
        host: String,
        port: u16,
    },
    Invalid,
}

impl ProxyRequest {
    /// Reads the first line of a request.
    pub fn parse(line: &str) -> Self {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("CONNECT"), Some(target), Some(version)) if version.starts_with("HTTP/1.") => {
                parse_target(target, HTTPS).map_or(Self::Invalid, |(host, port)| Self::Connect { host, port })
            }
            (Some(_), Some(url), Some(version)) if version.starts_with("HTTP/1.") => {
                let target = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
                target.and_then(|target| parse_target(target, 80)).map_or(Self::Invalid, |(host, port)| Self::Plain { host, port })
            }
            _ => Self::Invalid,
        }
    }
}

/// The host as a person allows it: without the usual port.
pub fn shown(host: &str, port: u16) -> String {
    if port == HTTPS { host.to_owned() } else { format!("{host}:{port}") }
}

/// The host and port of the service at a URL, such as `http://127.0.0.1:8787/v1`.
pub fn target_of_url(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let target = authority.rsplit('@').next()?;
    parse_target(target, if scheme.eq_ignore_ascii_case("http") { 80 } else { HTTPS })
}

fn parse_target(text: &str, default_port: u16) -> Option<(String, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address without a port ends with its bracket.
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (text, default_port),
    };
    let is_valid = |character: char| character.is_ascii_alphanumeric() || ".-_[]:".contains(character);
    (!host.is_empty() && host.chars().all(is_valid)).then(|| (host.trim_end_matches('.').to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_hosts_and_ports_are_permitted() {
        let list = AllowList::new(["api.anthropic.com", "registry.local:8080", "[::1]:9000"]);
        for (host, port, permitted) in [
            ("api.anthropic.com", 443, true),
            ("API.Anthropic.com", 443, true),
            ("api.anthropic.com", 80, false),
            ("evil.api.anthropic.com", 443, false),
            ("api.anthropic.com.evil.org", 443, false),
            ("registry.local", 8080, true),
            ("registry.local", 443, false),
            ("[::1]", 9000, true),
        ] {
            assert_eq!(list.permits(host, port), permitted, "{host}:{port}");
        }
        assert!(!AllowList::default().permits("", 443));
    }

    #[test]
    fn requests_are_read_from_their_first_line() {
        let connect = |host: &str, port| ProxyRequest::Connect { host: host.to_owned(), port };
        assert_eq!(ProxyRequest::parse("CONNECT api.anthropic.com:443 HTTP/1.1"), connect("api.anthropic.com", 443));
        assert_eq!(ProxyRequest::parse("CONNECT api.anthropic.com. HTTP/1.0"), connect("api.anthropic.com", 443));
        assert_eq!(ProxyRequest::parse("GET http://example.org/x HTTP/1.1"), ProxyRequest::Plain { host: "example.org".to_owned(), port: 80 });
        for line in ["", "CONNECT", "CONNECT a b c", "CONNECT a:b HTTP/1.1", "CONNECT x\u{0}y:1 HTTP/1.1", "GET / HTTP/1.1", "CONNECT :443 HTTP/1.1"]
        {
            assert_eq!(ProxyRequest::parse(line), ProxyRequest::Invalid, "{line}");
        }
    }

    #[test]
    fn target_of_a_url_has_a_host_and_a_port() {
        for (url, target) in [
            ("http://127.0.0.1:8787/v1", Some(("127.0.0.1", 8787))),
            ("https://api.anthropic.com", Some(("api.anthropic.com", 443))),
            ("http://user:secret@gateway/x", Some(("gateway", 80))),
            ("gateway", None),
        ] {
            assert_eq!(target_of_url(url), target.map(|(host, port)| (host.to_owned(), port)), "{url}");
        }
    }
}
