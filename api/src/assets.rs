//! The board's files, with headers that let a browser cache the immutable ones and revalidate the others.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum_extra::headers::{ETag, HeaderMapExt, IfNoneMatch};

use crate::error::Error;
use crate::guard::Site;
use crate::sign_in::board_url;
use crate::state::AppState;

/// One file of the board.
#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    /// The path below the server's root, such as `/assets/board-0123456789abcdef.js`.
    pub path: &'static str,
    pub content_type: &'static str,
    pub bytes: &'static [u8],
    /// The same bytes compressed for `Content-Encoding: br`.
    pub brotli: Option<&'static [u8]>,
    /// A strong entity tag, with its quotes.
    pub etag: &'static str,
    /// Whether the name changes with the content, so that browsers may cache the file forever.
    pub immutable: bool,
}

/// The path of the page, which is sent for every address of the board, because the board reads the address itself.
const PAGE: &str = "/";

/// Below these prefixes an unknown address is an error, not a page of the board.
const RESERVED_PREFIXES: [&str; 5] = ["/api", "/mcp", "/.well-known", "/assets", "/demo"];

/// Serves every address without a route: a file, or the board, which routes by the address itself.
///
/// A browser that opens a page under another name is sent to the board's, because only there it can be signed in.
pub(crate) async fn page(State(state): State<AppState>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    let found = match asset(state.assets, path) {
        Some(asset) => Some(asset),
        None if RESERVED_PREFIXES.iter().any(|folder| is_below(path, folder)) => None,
        None => asset(state.assets, PAGE),
    };
    let Some(asset) = found else { return Error::NoSuchPath(path.to_owned()).into_response() };
    if method != Method::GET && method != Method::HEAD {
        let refusal = Error::Method { method, path: path.to_owned() };
        return ([(header::ALLOW, "GET, HEAD")], refusal).into_response();
    }
    let is_navigation = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
    if is_navigation && Site::of(&headers, &uri, &state).is_none() {
        let address = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        return Redirect::temporary(&format!("{}{address}", board_url(state.port))).into_response();
    }
    answer(asset, &headers)
}

/// The page of the board, which explains a refused sign-in, unless the program was built without it.
pub(crate) fn board(assets: &'static [Asset], headers: &HeaderMap) -> Option<Response> {
    // Without the condition of a cached copy, because the status is not that of the page.
    let accepted = headers.get(header::ACCEPT_ENCODING).map(|coding| (header::ACCEPT_ENCODING, coding.clone()));
    asset(assets, PAGE).map(|page| answer(page, &accepted.into_iter().collect()))
}

fn asset(assets: &'static [Asset], path: &str) -> Option<&'static Asset> {
    assets.iter().find(|asset| asset.path == path)
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn answer(asset: &'static Asset, headers: &HeaderMap) -> Response {
    let compressed = asset.brotli.filter(|_| accepts_brotli(headers));
    // The compressed bytes are another representation and need their own tag.
    let etag = if compressed.is_some() { format!("{}-br\"", asset.etag.trim_end_matches('"')) } else { asset.etag.to_owned() };
    let etag = etag.parse::<ETag>().ok();
    let cache = if asset.immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let condition = headers.typed_get::<IfNoneMatch>();
    let unchanged = etag.as_ref().zip(condition).is_some_and(|(etag, condition)| !condition.precondition_passes(etag));

    let mut response = if unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(Bytes::from_static(compressed.unwrap_or(asset.bytes))).into_response()
    };
    let answer = response.headers_mut();
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    answer.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if let Some(etag) = etag {
        answer.typed_insert(etag);
    }
    if !unchanged {
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

    fn answer_with(name: header::HeaderName, value: &'static str) -> Response {
        answer(&SCRIPT, &HeaderMap::from_iter([(name, HeaderValue::from_static(value))]))
    }

    #[test]
    fn brotli_is_sent_to_clients_that_accept_it() {
        for (accepted, coding) in [("gzip, br", Some("br")), ("BR;q=0.5", Some("br")), ("br;q=0", None), ("brotli", None), ("gzip", None)] {
            let response = answer_with(header::ACCEPT_ENCODING, accepted);
            assert_eq!(response.headers().get(header::CONTENT_ENCODING).map(|coding| coding.to_str().unwrap()), coding, "{accepted}");
            assert_eq!(response.headers()[header::ETAG], if coding.is_some() { "\"0123-br\"" } else { "\"0123\"" });
            assert_eq!(response.headers()[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
        }
    }

    #[test]
    fn matching_tag_is_answered_without_the_bytes() {
        assert_eq!(answer_with(header::IF_NONE_MATCH, "\"0\", \"0123\"").status(), StatusCode::NOT_MODIFIED);
        assert_eq!(answer_with(header::IF_NONE_MATCH, "\"0123-br\"").status(), StatusCode::OK, "the tag of another representation");
    }
}
