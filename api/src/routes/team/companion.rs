//! The companion of a person: the coding agent that they attach to the board.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::wire::CompanionToken;

use crate::error::Result;
use crate::extract::NoBody;
use crate::state::AppState;

/// Create the token of your companion
///
/// Your own coding agent uses it at the MCP server: it reads everything, creates, edits, comments, holds, starts and steers, and makes no
/// decisions. The HTTP interface does not accept it. Your earlier one is revoked.
#[utoipa::path(post, path = "/api/companion-token", responses((status = 201, body = CompanionToken)))]
pub(crate) async fn create_companion_token(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    _: NoBody,
) -> Result<(StatusCode, Json<CompanionToken>)> {
    Ok((StatusCode::CREATED, Json(CompanionToken { token: state.db.create_companion_token(&caller).await? })))
}
