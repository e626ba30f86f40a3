//! Routes of the war room: claims of files, and the agents that are present, with the context that they have left.

mod claim;
mod party;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this area for all persons.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(claim::list_claims))
        .routes(routes!(claim::release_claim))
        .routes(routes!(party::get_party))
}
