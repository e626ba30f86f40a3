//! Who is let in: names, pages, sizes and tokens, checked before any handler runs.
//!
//! `door` stands before everything, `person` before everything but the open routes. Knows no route by name.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use db::Caller;
use domain::refusal::Refusal;
use http_body_util::{BodyExt, Limited};
use percent_encoding::percent_decode_str;
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::sign_in::cookie_name;
use crate::state::AppState;

/// The most bytes of a request's body.
pub(crate) const BODY_LIMIT: usize = 1024 * 1024;
/// The same for what is mounted beside the routes. Whoever calls there is a model, which reads only what is said within its protocol; so
/// what is too long is let in that far and refused inside.
pub(crate) const MOUNTED_BODY_LIMIT: usize = 4 * BODY_LIMIT;
/// As much of a body that is too large is taken in all the same, at most for so long, before it is refused: a client that is cut off while
/// it sends does not get to read why.
const REST_LIMIT: usize = 16 * BODY_LIMIT;
const REST_PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of a path with its parameters.
const ADDRESS_LIMIT: usize = 8 * 1024;
/// The names that a loopback server goes by. A page that rebinds its own name to this address still says its own.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' data:; \
     style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// Lets through what is addressed to the server at `port` by its own page or by a program, with at most `limit` bytes, and makes every
/// answer a safe one.
pub(crate) async fn door(State((port, limit)): State<(u16, usize)>, request: Request, next: Next) -> Response {
    let mut response = match admit(&request, port, limit) {
        Ok(()) => next.run(request.map(|body| Body::new(Limited::new(body, limit)))).await,
        Err(error) => {
            if matches!(error, Error::TooLarge { .. }) {
                // Whoever sends more, or more slowly, is cut off.
                drop(timeout(REST_PATIENCE, take_in(request.into_body())).await);
            }
            error.into_response()
        }
    };
    let headers = response.headers_mut();
    let defaults = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in defaults {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

async fn take_in(body: Body) {
    let mut rest = Limited::new(body, REST_LIMIT);
    while let Some(Ok(_)) = rest.frame().await {}
}

fn admit(request: &Request, port: u16, limit: usize) -> Result<()> {
    let headers = request.headers();
    let uri = request.uri();
    let hosts = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
    let hosts: Vec<&str> = hosts.chain(uri.authority().map(|authority| authority.as_str())).collect();
    if hosts.is_empty() {
        return Err(Error::ForeignHost(String::new()));
    }
    if let Some(foreign) = hosts.into_iter().find(|host| !is_own(host, port)) {
        return Err(Error::ForeignHost(foreign.chars().take(100).collect()));
    }
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        if !origin.strip_prefix("http://").is_some_and(|host| is_own(host, port)) {
            return Err(Error::ForeignOrigin(origin.chars().take(100).collect()));
        }
    }
    if uri.path_and_query().is_some_and(|address| address.as_str().len() > ADDRESS_LIMIT) {
        return Err(Error::Address("is longer than 8 KiB"));
    }
    for part in [uri.path(), uri.query().unwrap_or_default()] {
        match percent_decode_str(part).decode_utf8() {
            Ok(text) if text.contains('\0') => return Err(Error::Address("holds a NUL character")),
            Ok(_) => {}
            Err(_) => return Err(Error::Address("is not written in UTF-8")),
        }
    }
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()).and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(Error::TooLarge { limit });
    }
    Ok(())
}

/// Whether `host` is one of this server's names with its port. Browsers leave out the port that the scheme implies.
fn is_own(host: &str, port: u16) -> bool {
    NAMES.iter().filter_map(|name| host.strip_prefix(name)).any(|rest| rest == format!(":{port}") || (port == 80 && rest.is_empty()))
}

/// Lets through the person, and their JSON only.
pub(crate) async fn person(State(state): State<AppState>, request: Request, next: Next) -> Result<Response> {
    let token = match credential(request.headers(), state.port) {
        Some(Credential::Bearer(token)) => token,
        Some(Credential::Cookie(token)) => {
            from_own_page(&request)?;
            token
        }
        None => return Err(Refusal::Unauthorized.into()),
    };
    match state.db.caller(&token).await? {
        Some(Caller::Human) => {}
        Some(Caller::Run(_) | Caller::Agent(_) | Caller::Invite(_) | Caller::Runner) => {
            return Err(Refusal::HumanOnly { action: "the HTTP interface".to_owned() }.into());
        }
        None => return Err(Refusal::Unauthorized.into()),
    }
    json_only(&request)?;
    Ok(next.run(request).await)
}

/// Whether the browser is signed in already.
pub(crate) async fn is_signed_in(state: &AppState, headers: &HeaderMap) -> Result<bool> {
    let Some(Credential::Cookie(token)) = credential(headers, state.port) else { return Ok(false) };
    Ok(state.db.caller(&token).await? == Some(Caller::Human))
}

enum Credential {
    Bearer(String),
    Cookie(String),
}

/// A bearer token goes before a cookie: whoever sends one means it.
fn credential(headers: &HeaderMap, port: u16) -> Option<Credential> {
    if let Some(authorization) = headers.get(header::AUTHORIZATION) {
        let (scheme, token) = authorization.to_str().ok()?.split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then(|| Credential::Bearer(token.trim().to_owned()));
    }
    let name = cookie_name(port);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(given, _)| *given == name)
        .map(|(_, token)| Credential::Cookie(token.to_owned()))
}

/// A cookie comes along by itself, also from pages on other ports of this machine; so the browser must say that its own page asks.
/// That an `Origin` is ours was checked at the door.
fn from_own_page(request: &Request) -> Result<()> {
    let headers = request.headers();
    let acts = !request.method().is_safe() || headers.contains_key(header::UPGRADE);
    let own = match headers.get("sec-fetch-site").map(HeaderValue::as_bytes) {
        Some(b"same-origin") => true,
        // Typed into the address bar.
        Some(b"none") => !acts,
        Some(_) => false,
        // Browsers older than these headers, which send an `Origin` with everything that acts.
        None => !acts || headers.contains_key(header::ORIGIN),
    };
    if own { Ok(()) } else { Err(Error::CrossSite) }
}

/// What acts carries JSON or nothing: no other body can be sent by a foreign page without asking first.
fn json_only(request: &Request) -> Result<()> {
    if request.method().is_safe() {
        return Ok(());
    }
    let headers = request.headers();
    let given = match headers.get(header::CONTENT_TYPE) {
        Some(given) => given.to_str().unwrap_or_default(),
        None => {
            let empty = headers.get(header::CONTENT_LENGTH).is_none_or(|length| length == "0") && !headers.contains_key(header::TRANSFER_ENCODING);
            return if empty { Ok(()) } else { Err(Error::ContentType("nothing in particular".to_owned())) };
        }
    };
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(Error::ContentType(given.chars().take(100).collect())) }
}
