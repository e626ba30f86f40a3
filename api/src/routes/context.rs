//! Routes of shared context: the sessions of a project, their messages, search in them, the memory of agents, and imports.

mod import;
mod memory;
mod session;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::state::AppState;

pub(super) use memory::memory_subject;

/// The routes of this area for all persons.
pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(session::get_context_use))
        .routes(routes!(session::list_context_sessions, session::create_context_session))
        .routes(routes!(session::get_context_session))
        .routes(routes!(session::get_context_session_of_task))
        .routes(routes!(session::close_context_session))
        .routes(routes!(session::message::get_session_thread, session::message::add_session_message))
        .routes(routes!(session::message::search_session))
}

/// The routes of this area for the owner.
pub(super) fn owner_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(import::import_database)).routes(routes!(memory::list_project_memory)).routes(routes!(
        memory::get_agent_memory,
        memory::edit_agent_memory,
        memory::delete_agent_memory
    ))
}
