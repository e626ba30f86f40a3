//! Routes of the participants: agents and their tokens, messages, handshakes, contracts, hats and minions; browser sessions.

mod agent;
mod browser_session;
mod contract;
mod handshake;
mod hat;
mod message;
mod minion;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// Every route of this area; all are for the human.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(agent::list_agents))
        .routes(routes!(agent::remove_agent))
        .routes(routes!(agent::create_token))
        .routes(routes!(agent::create_invite_token))
        .routes(routes!(message::list_messages, message::send_message))
        .routes(routes!(message::get_inbox))
        .routes(routes!(message::read_inbox))
        .routes(routes!(handshake::list_handshakes, handshake::initiate_handshake))
        .routes(routes!(handshake::acknowledge_handshake))
        .routes(routes!(contract::list_contracts, contract::declare_contract))
        .routes(routes!(contract::list_contract_versions))
        .routes(routes!(minion::list_spawn_policies, minion::set_spawn_policy))
        .routes(routes!(minion::list_minions))
        .routes(routes!(hat::list_hats))
        .routes(routes!(browser_session::list_sessions))
        .routes(routes!(browser_session::revoke_session))
        .routes(routes!(browser_session::rotate_token))
}
