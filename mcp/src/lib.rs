//! Serves the board to agents as tools of the Model Context Protocol at [`PATH`], and contains the bridge that an agent starts.
//!
//! The bearer token identifies the caller, never an argument. It must not know the HTTP interface or start programs.

#![forbid(unsafe_code)]

mod answered;
mod bearer;
mod bridge;
mod call;
mod checkout;
mod connect;
mod format;
mod handler;
mod message;
mod meta;
mod notice;
mod page;
mod prompt;
mod proof;
mod push;
mod reach;
mod reply;
mod resource;
mod server;
pub mod server_file;
pub mod server_socket;
mod session;
mod tools;

pub use bridge::{BridgeError, BridgeOptions, CallError, bridge, call_tool, inbox_changed};
pub use connect::{BoardConnection, ConnectError, connect};
pub use proof::Proof;
pub use server::{PATH, router};

#[cfg(test)]
mod tests;
