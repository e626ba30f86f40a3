//! Use cases of shared context: sessions with their messages, and the memory of agents.

pub(crate) mod handoff;
pub(crate) mod memory;
pub(crate) mod session;
