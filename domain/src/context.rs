//! The nouns of shared context: sessions with their messages, the memory of agents, and imports of both.

pub mod handoff;
pub mod import;
pub mod memory;
pub mod metadata;
pub mod reader;
pub mod session;
