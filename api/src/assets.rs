//! The board's files, with the headers that let a browser keep what cannot change and ask about what can.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use embed::Asset;

use crate::error::Error;

/// Below these an unknown address is a mistake, not a place in the board.
const NEVER_A_PAGE: [&str; 5] = ["/api", "/mcp", "/.well-known", "/assets", "/demo"];

/// Every address that no route has: a file, or a place in the board, which reads the address itself.
pub(crate) async fn page(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    let found = match embed::asset(path) {
        Some(asset) => Some(asset),
        None if NEVER_A_PAGE.iter().any(|folder| is_below(path, folder)) => None,
        None => embed::index(),
    };
    let Some(asset) = found else { return Error::NoSuchPath(path.to_owned()).into_response() };
    if method != Method::GET && method != Method::HEAD {
        let refusal = Error::Method { method, path: path.to_owned() };
        return ([(header::ALLOW, "GET, HEAD")], refusal).into_response();
    }
    answer(asset, &headers)
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn answer(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let compressed = asset.brotli.filter(|_| accepts_brotli(headers));
    // The compressed bytes are another representation, so they need a tag of their own.
    let etag = if compressed.is_some() { format!("{}-br\"", asset.etag.trim_end_matches('"')) } else { asset.etag.to_owned() };
    let keep = if asset.immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|tags| tags.to_str().ok()).flat_map(|tags| tags.split(','));
    let known = known.map(str::trim).any(|tag| tag == etag || tag == "*");

    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(Bytes::from_static(compressed.unwrap_or(asset.bytes))).into_response()
    };
    let answer = response.headers_mut();
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    answer.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        answer.insert(header::ETAG, etag);
    }
    if !known {
        answer.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
        if compressed.is_some() {
            answer.insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
        }
    }
    response
}

fn accepts_brotli(headers: &HeaderMap) -> bool {
    let given = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    given.map(str::trim).any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = quality.trim().strip_prefix("q=").is_some_and(|quality| quality.parse::<f32>().is_ok_and(|quality| quality <= 0.0));
        name.trim().eq_ignore_ascii_case("br") && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    static SCRIPT: Asset = Asset {
        path: "/assets/board-0123.js",
        content_type: "text/javascript",
        bytes: b"let a = 1;",
        brotli: Some(b"shorter"),
        etag: "\"0123\"",
        immutable: true,
    };

    fn asked(name: header::HeaderName, value: &'static str) -> Response {
        answer(&SCRIPT, &HeaderMap::from_iter([(name, HeaderValue::from_static(value))]))
    }

    #[test]
    fn files_are_compressed_for_those_who_can_read_it() {
        for (accepted, coding) in [("gzip, br", Some("br")), ("BR;q=0.5", Some("br")), ("br;q=0", None), ("brotli", None), ("gzip", None)] {
            let response = asked(header::ACCEPT_ENCODING, accepted);
            assert_eq!(response.headers().get(header::CONTENT_ENCODING).map(|coding| coding.to_str().unwrap()), coding, "{accepted}");
            assert_eq!(response.headers()[header::ETAG], if coding.is_some() { "\"0123-br\"" } else { "\"0123\"" });
            assert_eq!(response.headers()[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        }
    }

    #[test]
    fn a_known_tag_is_answered_without_the_bytes() {
        assert_eq!(asked(header::IF_NONE_MATCH, "\"0\", \"0123\"").status(), StatusCode::NOT_MODIFIED);
        assert_eq!(asked(header::IF_NONE_MATCH, "\"0123-br\"").status(), StatusCode::OK, "those bytes were others");
    }
}
