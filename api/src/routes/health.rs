//! The health check.

use axum::Json;
use domain::wire::Health;

/// Check that the server is up
#[utoipa::path(get, path = "/api/health", responses((status = 200, body = Health)))]
pub(crate) async fn get_health() -> Json<Health> {
    Json(Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}
