//! Tests of shared context: sessions, who reads their messages, and memory.

mod leak;
mod memory;
mod session;
mod visibility;
