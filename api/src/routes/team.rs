//! Routes of the participants: persons, agents and their tokens, messages, handshakes, contracts, hats and minions; browser sessions and pairings.

mod agent;
mod audit;
mod browser_session;
mod companion;
mod contract;
mod handshake;
mod hat;
mod message;
mod minion;
mod pairing;
mod person;
mod token;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

/// The routes of this area for anyone who reaches the server.
pub(super) fn open_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(browser_session::restore_token))
}

/// The routes of this area for all persons.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(agent::list_agents))
        .routes(routes!(agent::remove_agent))
        .routes(routes!(message::list_messages, message::send_message))
        .routes(routes!(message::get_inbox))
        .routes(routes!(message::mark_message_read))
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
        .routes(routes!(browser_session::create_sign_in_link))
        .routes(routes!(pairing::pair_device))
        .routes(routes!(companion::create_companion_token))
        .routes(routes!(person::list_persons))
}

/// The routes of this area for the owner.
pub(super) fn owner_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(agent::create_token))
        .routes(routes!(agent::create_invite_token))
        .routes(routes!(audit::list_audit))
        .routes(routes!(audit::check_audit))
        .routes(routes!(browser_session::rotate_token))
        .routes(routes!(person::add_person))
        .routes(routes!(person::change_person_role, person::remove_person))
        .routes(routes!(person::create_person_token))
        .routes(routes!(token::list_tokens))
        .routes(routes!(token::change_token, token::revoke_token))
}
