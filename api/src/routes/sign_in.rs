//! The one-time link that signs a browser in: a code becomes a cookie.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::Parameters;
use crate::guard;
use crate::state::AppState;

const USED: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>vibe-relay</title>\n\
     <h1>This link is not good any more</h1>\n\
     <p>It works once. Start <code>vibe-relay serve</code> again: it prints a new one, and running agents go on.</p></html>\n";

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Link {
    /// From the link that the server printed.
    #[serde(default)]
    code: String,
}

/// Exchange a one-time code for a cookie
#[utoipa::path(get, path = "/sign-in", params(Link), responses(
    (status = 303, description = "Signed in, on to the board"),
    (status = 401, description = "The code was used or never given out"),
))]
pub(crate) async fn sign_in(State(state): State<AppState>, headers: HeaderMap, Parameters(link): Parameters<Link>) -> Result<Response> {
    if state.sign_in.redeem(&link.code) {
        return Ok(([(header::SET_COOKIE, state.sign_in.cookie(state.port))], Redirect::to(&landing(&state))).into_response());
    }
    // The same link opened again by the same browser.
    if guard::is_signed_in(&state, &headers).await? {
        return Ok(Redirect::to("/").into_response());
    }
    Ok((StatusCode::UNAUTHORIZED, Html(USED)).into_response())
}

/// Where a browser goes first: to the list of projects, in the demonstration to its only board.
fn landing(state: &AppState) -> String {
    let project = state.demo.as_ref().and_then(|demo| demo.project.get());
    project.map_or_else(|| "/".to_owned(), |project| format!("/projects/{project}"))
}
