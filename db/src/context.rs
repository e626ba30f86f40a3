//! Use cases of shared context: sessions with their messages, the memory of agents, and imports of both.

pub(crate) mod handoff;
pub(crate) mod import;
pub(crate) mod memory;
pub(crate) mod session;
