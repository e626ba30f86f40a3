//! Tokens by their names: what each permits and until when. Their values are shown once, where they are created.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use db::Caller;
use domain::team::token::{Token, TokenName};
use domain::wire::{List, TokenPatch};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::error::Result;
use crate::extract::{Body, Id, NoBody, QueryParameters};
use crate::state::AppState;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TokenParameters {
    /// `next` of the page before.
    #[serde(default)]
    after: u32,
}

/// List the tokens that persons gave, newest first, after those of the runs at work
#[utoipa::path(get, path = "/api/tokens", params(TokenParameters), responses((status = 200, body = List<Token>)))]
pub(crate) async fn list_tokens(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    QueryParameters(given): QueryParameters<TokenParameters>,
) -> Result<Json<List<Token>>> {
    let (items, next) = state.db.tokens(&caller, given.after).await?;
    Ok(Json(List { items, next }))
}

/// Change what a token permits, or until when it is valid
///
/// It applies at once. The token of the owner and those of runs cannot be changed.
#[utoipa::path(
    patch,
    path = "/api/tokens/{id}",
    params(("id" = TokenName, Path)),
    request_body = TokenPatch,
    responses((status = 200, body = Token))
)]
pub(crate) async fn change_token(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(name): Id<TokenName>,
    Body(patch): Body<TokenPatch>,
) -> Result<Json<Token>> {
    Ok(Json(state.db.change_token(&caller, &name, patch).await?))
}

/// Revoke a token
///
/// The token of the owner is replaced instead, and that of a run ends with the run.
#[utoipa::path(
    delete,
    path = "/api/tokens/{id}",
    params(("id" = TokenName, Path)),
    responses((status = 204, description = "The token is revoked, and its connections are closed."))
)]
pub(crate) async fn revoke_token(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    Id(name): Id<TokenName>,
    _: NoBody,
) -> Result<StatusCode> {
    state.db.revoke_token(&caller, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}
