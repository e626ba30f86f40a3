//! Components of the area *context*: the thread of a session, its composer, search in it, the dialog for a new one, links to findings, and the memory of agents.

pub(crate) mod findings_link;
pub(crate) mod memory;
pub(crate) mod new_session;
pub(crate) mod session_composer;
pub(crate) mod session_search;
pub(crate) mod session_thread;
