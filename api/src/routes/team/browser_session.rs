//! Browser sessions, and the owner's permanent token.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::team::browser_session::BrowserSession;
use domain::wire::{List, RotatedToken};
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
