//! Whether the server answers. Needs no token, so it tells nothing else.

use axum::Json;
use domain::wire::HealthResponse;

/// Whether the server is up
#[utoipa::path(get, path = "/api/health", responses((status = 200, body = HealthResponse)))]
pub(crate) async fn health() -> Json<HealthResponse> {
    Json(HealthResponse { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}
