//! The health check.

use axum::Json;
use domain::wire::HealthResponse;

/// Check that the server is up
#[utoipa::path(get, path = "/api/health", responses((status = 200, body = HealthResponse)))]
pub(crate) async fn get_health() -> Json<HealthResponse> {
    Json(HealthResponse { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}
