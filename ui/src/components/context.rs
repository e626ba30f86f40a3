//! Components of the area *context*: the thread of a session, its composer, search in it, and the memory of agents.

pub(crate) mod memory;
pub(crate) mod session_composer;
pub(crate) mod session_search;
pub(crate) mod session_thread;
