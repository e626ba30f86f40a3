//! The list of everything that needs the human, on all projects.

use axum::extract::State;
use axum::{Extension, Json};
use db::Caller;
use domain::board::needs_you::NeedsYouList;

use crate::error::Result;
use crate::state::AppState;

/// List everything that only you can settle, on all projects: first what an agent waits for, the oldest first
///
/// Reading it marks nothing as read.
#[utoipa::path(get, path = "/api/needs-you", responses((status = 200, body = NeedsYouList)))]
pub(crate) async fn list_needs_you(State(state): State<AppState>, Extension(caller): Extension<Caller>) -> Result<Json<NeedsYouList>> {
    Ok(Json(state.db.needs_you(&caller).await?))
}
