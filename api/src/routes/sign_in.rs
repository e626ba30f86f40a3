//! The one-time link that signs a browser in, by exchanging a code for a session: its cookie and its key.

use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum_extra::extract::CookieJar;
use axum_extra::headers::{HeaderMapExt, UserAgent};
use db::Act;
use domain::audit::AuditKind;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::QueryParameters;
use crate::guard::Site;
use crate::session_key::with_session_key;
use crate::sign_in::{board_url, cookie, link};
use crate::state::AppState;
use crate::{assets, guard};

/// The answer of a program that was built without the board.
const EXPIRED: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>vibe-relay</title>\n\
     <h1>This link has expired</h1>\n\
     <p>A link works once. Run <code>vibe-relay open</code> to get a new one.</p></html>\n";

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SignInQuery {
    /// The code from the link that the server printed.
    #[serde(default)]
    code: String,
}

/// Exchange a one-time code for a session
///
/// The answer sets the cookie and leads to a page whose fragment has the session key, which the page sends as `Vibe-Relay-Session-Key` with each
/// request. HEAD answers the same without using the code up, because link previews and scanners send it. Under a name without a cookie, such as
/// 127.0.0.1, the answer is a redirect to the board's.
#[utoipa::path(get, path = "/sign-in", params(SignInQuery), responses(
    (status = 303, description = "Signed in, or addressed by another name: continue on the board."),
    (status = 401, description = "The code was used or never issued.", body = String, content_type = "text/html"),
    (status = 500),
    (status = 503),
))]
pub(crate) async fn sign_in(
    State(state): State<AppState>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    QueryParameters(query): QueryParameters<SignInQuery>,
) -> Result<Response> {
    let Some(site) = Site::of(&headers, &uri, &state) else {
        // Only a code that was issued is repeated in the answer.
        let code = if state.sign_in.is_valid(&query.code) { query.code.as_str() } else { "" };
        return Ok(Redirect::to(&link(&board_url(state.port), code)).into_response());
    };
    let is_https = matches!(site, Site::Allowed(_));
    if method == Method::HEAD {
        if state.sign_in.is_valid(&query.code) {
            return Ok(Redirect::to(&landing_page(&state, is_https)).into_response());
        }
    } else if let Some(ticket) = state.sign_in.redeem(&query.code) {
        let user_agent = headers.typed_get::<UserAgent>();
        if let Some(secret) = state.db.open_browser_session(ticket.person, user_agent.as_ref().map(UserAgent::as_str), ticket.device).await? {
            let cookies = CookieJar::new().add(cookie(state.port, secret.cookie, is_https));
            let page = with_session_key(&landing_page(&state, is_https), &secret.key);
            return Ok((cookies, Redirect::to(&page)).into_response());
        }
    }
    let act = Act::by_nobody(format!("{method} /sign-in"));
    state.db.record_fact(AuditKind::Authentication, &act, None, None, "unauthorized");
    // A signed-in browser opens its link again. The key of its session is in the board's page, which asks for a sign-in if it is not valid.
    if guard::has_session_cookie(&headers, state.port) {
        return Ok(Redirect::to(if is_https { "/needs-you" } else { "/" }).into_response());
    }
    let mut answer = assets::board(state.assets, &headers).unwrap_or_else(|| Html(EXPIRED).into_response());
    *answer.status_mut() = StatusCode::UNAUTHORIZED;
    Ok(answer)
}

/// The first page after signing in: the list of projects, or the demonstration's only board. Another device opens what needs its person.
fn landing_page(state: &AppState, is_other_device: bool) -> String {
    if is_other_device {
        return "/needs-you".to_owned();
    }
    let project = state.demo.as_ref().and_then(|demo| demo.project.get());
    project.map_or_else(|| "/".to_owned(), |project| format!("/projects/{project}"))
}
