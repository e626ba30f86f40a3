//! The nouns of shared context: sessions with their messages, and the memory of agents.

pub mod handoff;
pub mod memory;
pub mod metadata;
pub mod reader;
pub mod session;
