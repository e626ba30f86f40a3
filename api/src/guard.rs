//! Checks host, origin, size and token before any handler runs.
//!
//! `check_request` runs before everything, `require_person` before every route that is not open. Knows no route by name.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum_extra::extract::CookieJar;
use axum_extra::headers::authorization::Bearer;
use axum_extra::headers::{self, Authorization, ContentLength, ContentType, Header, HeaderMapExt, Mime};
use db::{Act, Caller, Db, Holder};
use domain::audit::AuditKind;
use domain::config::Config;
use domain::config::live::LiveConfig;
use domain::refusal::GeneralRefusal;
use domain::team::browser_session::SessionSecret;
use domain::team::person::Right;
use domain::team::token::{TokenAudience, TokenReach};
use domain::wire::{BOARD_HOST, HOST_NAMES};
use http_body_util::{BodyExt, Limited};
use percent_encoding::percent_decode_str;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::connection::Transport;
use crate::error::{Error, FailureCode, Result};
use crate::openapi::Access;
use crate::rate_limit::count_request;
use crate::session_key::session_key;
use crate::sign_in::cookie_name;
use crate::state::AppState;

/// The largest body of a request, in bytes.
pub(crate) const BODY_LIMIT: usize = 1024 * 1024;
/// The same for the mounted router. Its callers are models, which read only errors of their own protocol, so that router refuses most bodies
/// that are too large itself.
pub(crate) const MOUNTED_BODY_LIMIT: usize = 4 * BODY_LIMIT;
/// The part of a too large body that is read before the refusal, and the time for it. A client that is cut off while it sends cannot read the
/// response.
const DRAIN_LIMIT: usize = 16 * BODY_LIMIT;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest path with its parameters, in bytes.
const ADDRESS_LIMIT: usize = 8 * 1024;

const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' data: blob:; \
     style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// The port that an address without one implies. Requests over the socket name none.
const IMPLIED_PORT: u16 = 80;

/// Accepts requests that are addressed to the server by one of its names, from its own page or from a program, with at most `limit` bytes. Adds the
/// security headers to every response.
pub(crate) async fn check_request(State((names, limit)): State<(Names, usize)>, request: Request, next: Next) -> Response {
    let is_over_socket = request.extensions().get() == Some(&Transport::Socket);
    let names = if is_over_socket { Names { port: IMPLIED_PORT, config: None } } else { names };
    let mut response = match validate(&request, &names, limit) {
        Ok(()) => next.run(request.map(|body| Body::new(Limited::new(body, limit)))).await,
        Err(error) => {
            if matches!(error, Error::TooLarge { .. }) {
                // A client that sends more, or more slowly, is cut off.
                drop(timeout(DRAIN_TIMEOUT, drain(request.into_body())).await);
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

async fn drain(body: Body) {
    let mut rest = Limited::new(body, DRAIN_LIMIT);
    while let Some(Ok(_)) = rest.frame().await {}
}

fn validate(request: &Request, names: &Names, limit: usize) -> Result<()> {
    let headers = request.headers();
    let uri = request.uri();
    // Host and origin are compared as text: a parser that forgives a spelling would let it pass.
    let hosts = hosts(headers, uri);
    if hosts.is_empty() {
        return Err(Error::WrongHost(String::new()));
    }
    if let Some(foreign) = hosts.into_iter().find(|host| !names.include(host)) {
        return Err(Error::WrongHost(foreign.chars().take(100).collect()));
    }
    for origin in headers.get_all(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        if !names.include_origin(origin) {
            return Err(Error::WrongOrigin(origin.chars().take(100).collect()));
        }
    }
    if uri.path_and_query().is_some_and(|address| address.as_str().len() > ADDRESS_LIMIT) {
        return Err(Error::Address("is longer than 8 KiB"));
    }
    for part in [uri.path(), uri.query().unwrap_or_default()] {
        match percent_decode_str(part).decode_utf8() {
            Ok(text) if text.contains('\0') => return Err(Error::Address("contains a NUL character")),
            Ok(_) => {}
            Err(_) => return Err(Error::Address("is not valid UTF-8")),
        }
    }
    if headers.typed_get::<ContentLength>().is_some_and(|length| length.0 > limit as u64) {
        return Err(Error::TooLarge { limit });
    }
    Ok(())
}

/// Every host that the request names.
fn hosts<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Vec<&'a str> {
    let named = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
    named.chain(uri.authority().map(|authority| authority.as_str())).collect()
}

/// The names of this server.
#[derive(Clone)]
pub(crate) struct Names {
    pub(crate) port: u16,
    /// The source of the allowed hosts, where requests of other devices are accepted.
    pub(crate) config: Option<watch::Receiver<LiveConfig>>,
}

impl Names {
    /// Whether `host` is one of them.
    fn include(&self, host: &str) -> bool {
        HOST_NAMES.iter().any(|name| is_host(host, name, self.port)) || self.allow(host)
    }

    /// Whether `origin` is a page under one of them.
    fn include_origin(&self, origin: &str) -> bool {
        let is_local = |host: &str| HOST_NAMES.iter().any(|name| is_host(host, name, self.port));
        origin.strip_prefix("http://").is_some_and(is_local) || origin.strip_prefix("https://").is_some_and(|host| self.allow(host))
    }

    fn allow(&self, host: &str) -> bool {
        self.config.as_ref().is_some_and(|config| allowed_host(&config.borrow().config, host).is_some())
    }
}

/// The allowed host that `host` means, in any case.
fn allowed_host(config: &Config, host: &str) -> Option<String> {
    config.allowed_hosts.iter().find(|allowed| allowed.eq_ignore_ascii_case(host)).cloned()
}

/// Whether `host` is `name`, in any case, with this port. Browsers omit the port that the scheme implies.
fn is_host(host: &str, name: &str, port: u16) -> bool {
    let (Some(given), Some(rest)) = (host.get(..name.len()), host.get(name.len()..)) else { return false };
    given.eq_ignore_ascii_case(name) && (rest == format!(":{port}") || (port == IMPLIED_PORT && rest.is_empty()))
}

/// A name under which a browser can be signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Site {
    /// The board's own name, on this machine.
    Local { port: u16 },
    /// An allowed host, by HTTPS.
    Allowed(String),
}

impl Site {
    /// The site that a request is addressed to, unless it is another name.
    pub(crate) fn of(headers: &HeaderMap, uri: &Uri, state: &AppState) -> Option<Self> {
        let hosts = hosts(headers, uri);
        let first = hosts.first()?;
        if is_host(first, BOARD_HOST, state.port) {
            return hosts.iter().all(|host| is_host(host, BOARD_HOST, state.port)).then_some(Self::Local { port: state.port });
        }
        let allowed = allowed_host(&state.config.borrow().config, first)?;
        hosts.iter().all(|host| host.eq_ignore_ascii_case(&allowed)).then_some(Self::Allowed(allowed))
    }

    fn has_origin(&self, origin: &str) -> bool {
        match self {
            Self::Local { port } => origin.strip_prefix("http://").is_some_and(|host| is_host(host, BOARD_HOST, *port)),
            Self::Allowed(name) => origin.strip_prefix("https://").is_some_and(|host| host.eq_ignore_ascii_case(name)),
        }
    }
}

/// Accepts only persons who have the right that the route and the method need, and only JSON from them. Handlers find the person as
/// `Extension<Caller>`.
pub(crate) async fn require_person(State((state, access)): State<(AppState, Access)>, mut request: Request, next: Next) -> Result<Response> {
    let action = action(&request);
    let identified = match own_credential(&state, &request) {
        Ok(credential) => credential.holder(&state.db).await.map(|holder| (credential, holder.caller)),
        Err(error) => Err(error),
    };
    let (credential, caller) = match identified {
        Ok(identified) => identified,
        Err(error) => {
            state.db.record_fact(AuditKind::Authentication, &Act::by_nobody(action), None, None, error.code());
            return Err(error);
        }
    };
    let (act, path) = (credential.act(action), request.uri().path().to_owned());
    let admitted = admit(&caller, access, &request).and_then(|()| count_request(&state, &caller, &act, &request));
    let response = match admitted {
        Ok(()) => {
            request.extensions_mut().insert(credential);
            request.extensions_mut().insert(act.clone());
            request.extensions_mut().insert(caller.clone());
            act.clone().run(next.run(request)).await
        }
        Err(error) => error.into_response(),
    };
    if let Some(FailureCode(code)) = response.extensions().get() {
        state.db.record_fact(AuditKind::Refusal, &act, Some(&caller), Some(&path), code);
    }
    Ok(response)
}

/// The method and the route of a request, without the ids in its path.
fn action(request: &Request) -> String {
    let route = request.extensions().get::<MatchedPath>().map_or_else(|| request.uri().path(), MatchedPath::as_str);
    format!("{} {route}", request.method())
}

/// Returns the credential of a request. That of a browser counts from the board's own page only.
fn own_credential(state: &AppState, request: &Request) -> Result<Credential> {
    let credential = credential(request.headers(), state.port).ok_or(GeneralRefusal::Unauthorized)?;
    if matches!(credential, Credential::Session(_)) {
        require_own_page(request, state)?;
    }
    Ok(credential)
}

/// Refuses callers without the right that the route and the method need, and bodies that are not JSON.
fn admit(caller: &Caller, access: Access, request: &Request) -> Result<()> {
    caller.person(Right::Read, "the HTTP interface")?;
    if access == Access::Owner {
        caller.person(Right::Administer, "administering the board")?;
    } else if access == Access::Person && !request.method().is_safe() {
        caller.person(Right::Work, "changing the board")?;
    }
    require_json(request)
}

/// Whether the request carries the token of a person. A session does not count, because nothing checks its page here.
pub(crate) async fn has_readers_token(state: &AppState, headers: &HeaderMap) -> bool {
    match credential(headers, state.port) {
        Some(bearer @ Credential::Bearer(_)) => {
            bearer.holder(&state.db).await.is_ok_and(|holder| holder.caller.person(Right::Read, "the state of the runner").is_ok())
        }
        Some(Credential::Session(_)) | None => false,
    }
}

/// Whether the browser has the cookie of a session, which proves nothing without the key.
pub(crate) fn has_session_cookie(headers: &HeaderMap, port: u16) -> bool {
    CookieJar::from_headers(headers).get(&cookie_name(port)).is_some()
}

/// The credential that identifies the caller of a request. Neither kind is accepted in the place of the other.
#[derive(Clone)]
pub(crate) enum Credential {
    /// A token.
    Bearer(String),
    /// The secret of a browser session, from the cookie and the session key.
    Session(SessionSecret),
}

impl Credential {
    /// Returns the act of a request with this credential.
    fn act(&self, action: String) -> Act {
        match self {
            Self::Bearer(token) => Act::by_token(token, action),
            Self::Session(secret) => Act::by_browser(&secret.joined(), action),
        }
    }

    /// Returns whom the credential identifies at this moment.
    ///
    /// # Errors
    /// When it is unknown, revoked, expired or not for this interface.
    pub(crate) async fn holder(&self, db: &Db) -> Result<Holder> {
        let holder = match self {
            Self::Bearer(token) => db.identify(token, TokenAudience::Api).await?,
            Self::Session(secret) => {
                let caller = db.use_browser_session(secret).await?;
                caller.map(|caller| Holder { caller, audience: TokenAudience::Api, reach: TokenReach::Project, ends_at: None })
            }
        };
        holder.ok_or_else(|| GeneralRefusal::Unauthorized.into())
    }
}

/// The credential of a request. A bearer token takes precedence over a cookie, because browsers send cookies without being asked. A cookie alone
/// is none.
fn credential(headers: &HeaderMap, port: u16) -> Option<Credential> {
    if headers.contains_key(header::AUTHORIZATION) {
        let Authorization(bearer) = headers.typed_get::<Authorization<Bearer>>()?;
        return Some(Credential::Bearer(bearer.token().to_owned()));
    }
    let (cookies, key) = (CookieJar::from_headers(headers), session_key(headers)?);
    let cookie = cookies.get(&cookie_name(port))?;
    Some(Credential::Session(SessionSecret { cookie: cookie.value().to_owned(), key: key.to_owned() }))
}

/// The relation between the page that sends a request and this server.
#[derive(PartialEq, Eq)]
enum FetchSite {
    SameOrigin,
    /// The address was typed or opened from a bookmark.
    NoPage,
    Other,
}

impl Header for FetchSite {
    fn name() -> &'static HeaderName {
        static NAME: HeaderName = HeaderName::from_static("sec-fetch-site");
        &NAME
    }

    fn decode<'i, I: Iterator<Item = &'i HeaderValue>>(values: &mut I) -> Result<Self, headers::Error> {
        let value = values.next().ok_or_else(headers::Error::invalid)?;
        Ok(match value.as_bytes() {
            b"same-origin" => Self::SameOrigin,
            b"none" => Self::NoPage,
            _ => Self::Other,
        })
    }

    fn encode<E: Extend<HeaderValue>>(&self, values: &mut E) {
        let value = match self {
            Self::SameOrigin => "same-origin",
            Self::NoPage => "none",
            Self::Other => "cross-site",
        };
        values.extend([HeaderValue::from_static(value)]);
    }
}

/// Requires that the board's own page sent a request with a session: under a name that has a cookie, with no origin but that name's, and because
/// the browser says so.
fn require_own_page(request: &Request, state: &AppState) -> Result<()> {
    let headers = request.headers();
    let site = Site::of(headers, request.uri(), state).ok_or(Error::CrossSite)?;
    let acts = !request.method().is_safe() || headers.contains_key(header::UPGRADE);
    let is_own_origin = headers.get_all(header::ORIGIN).iter().all(|origin| origin.to_str().is_ok_and(|origin| site.has_origin(origin)));
    let own = match headers.typed_get::<FetchSite>() {
        Some(FetchSite::SameOrigin) => true,
        Some(FetchSite::NoPage) => !acts,
        Some(FetchSite::Other) => false,
        // Some browsers open WebSockets without this header; they name the origin.
        None => headers.contains_key(header::ORIGIN),
    };
    if own && is_own_origin { Ok(()) } else { Err(Error::CrossSite) }
}

/// Requires JSON or no body from requests that act, because a page of another site can send any other body without a preflight request.
fn require_json(request: &Request) -> Result<()> {
    if request.method().is_safe() {
        return Ok(());
    }
    let headers = request.headers();
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        let length = headers.typed_get::<ContentLength>();
        let empty = length.is_none_or(|length| length.0 == 0) && !headers.contains_key(header::TRANSFER_ENCODING);
        return if empty { Ok(()) } else { Err(Error::ContentType("(none)".to_owned())) };
    };
    let mime = headers.typed_get::<ContentType>().map(Mime::from);
    let is_json = mime.is_some_and(|mime| mime.essence_str() == "application/json");
    if is_json { Ok(()) } else { Err(Error::ContentType(given.to_str().unwrap_or_default().chars().take(100).collect())) }
}
