//! Browser sessions, and the owner's permanent token.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::team::browser_session::BrowserSession;
use domain::team::person::Right;
use domain::wire::{List, RotatedToken, SignInLink};
use tokio::task::spawn_blocking;

use crate::error::{Error, Result};
use crate::extract::{NoBody, NumericId};
use crate::state::AppState;

/// List the browsers that are signed in, oldest first
///
/// The owner sees the browsers of all persons, others see their own.
#[utoipa::path(get, path = "/api/sessions", responses((status = 200, body = List<BrowserSession>)))]
pub(crate) async fn list_sessions(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Result<Json<List<BrowserSession>>> {
    Ok(Json(List { items: state.db.browser_sessions(&caller).await?, next: None }))
}

/// Sign a browser out
///
/// Only the owner can sign out a browser of another person.
#[utoipa::path(
    delete,
    path = "/api/sessions/{id}",
    params(("id" = i64, Path, minimum = 1)),
    responses((status = 204, description = "The session is revoked, and its connections are closed."))
)]
pub(crate) async fn revoke_session(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    NumericId(session): NumericId,
    _: NoBody,
) -> Result<StatusCode> {
    state.db.revoke_browser_session(&caller, session).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Create a link that signs one of your browsers in
///
/// It works once, on this machine. An earlier link of yours that was not used yet becomes invalid.
#[utoipa::path(post, path = "/api/sign-in-link", responses((status = 201, body = SignInLink)))]
pub(crate) async fn create_sign_in_link(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    _: NoBody,
) -> Result<(StatusCode, Json<SignInLink>)> {
    let person = caller.person(Right::Work, "signing a browser in")?.id;
    Ok((StatusCode::CREATED, Json(SignInLink { sign_in_link: state.sign_in.link(state.port, person) })))
}

/// Replace the owner's permanent token, and sign the owner's browsers out
///
/// The new token is written to the file `token` beside the database; no response contains it. Tokens of agents and of other persons stay valid.
#[utoipa::path(post, path = "/api/token/rotate", responses((status = 200, body = RotatedToken)))]
pub(crate) async fn rotate_token(State(state): State<AppState>, Extension(caller): Extension<Caller>, _: NoBody) -> Result<Json<RotatedToken>> {
    let token = db::new_token();
    let (save, saved) = (state.save_token, token.clone());
    // Saved first: should the server be killed in between, the next start takes the token from the file.
    spawn_blocking(move || save(&saved)).await?.map_err(Error::TokenFile)?;
    Ok(Json(RotatedToken { revoked_sessions: state.db.replace_own_token(&caller, &token).await? }))
}

/// Write the file with the owner's permanent token again, if it is missing or does not hold the token
///
/// Needs no token, because the caller may have lost it. The response contains none, and only the owner can read the file.
#[utoipa::path(
    post,
    path = "/api/token/restore",
    responses((status = 204, description = "The file holds the token."), (status = 500, description = "The file could not be written."))
)]
pub(crate) async fn restore_token(State(state): State<AppState>, _: NoBody) -> Result<StatusCode> {
    let restore = state.restore_token;
    spawn_blocking(move || restore()).await?.map_err(Error::TokenFile)?;
    Ok(StatusCode::NO_CONTENT)
}
