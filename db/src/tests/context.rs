//! Tests of shared context: sessions, who reads their messages, and memory.

mod administration;
mod board_search;
mod handoff;
mod import;
mod leak;
mod memory;
mod search;
mod session;
mod visibility;
