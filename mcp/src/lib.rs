//! What agents can do: the board as tools of the Model Context Protocol, served at [`PATH`], and the bridge that an agent starts.
//!
//! Who calls is decided by the bearer token, never by an argument. Knows nothing of the HTTP interface for people and starts no program.

#![forbid(unsafe_code)]

mod bearer;
mod bridge;
mod call;
mod handler;
mod meta;
mod notice;
mod page;
mod push;
mod reply;
mod resource;
mod server;
pub mod server_file;
mod session;
mod show;
mod tools;

pub use bridge::{BridgeError, BridgeOptions, CallError, bridge, call_tool};
pub use server::{PATH, router};

#[cfg(test)]
mod tests;
