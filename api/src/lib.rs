//! The board over HTTP: maps requests to use cases of `db`, serves the event log over a WebSocket and the board's files, and sends notifications to
//! webhooks.
//!
//! Decides no rule of the board, starts no program, and knows neither the agents' tools nor how agents are run.

#![forbid(unsafe_code)]

mod assets;
mod connection;
mod error;
mod extract;
mod guard;
mod markdown;
mod openapi;
mod page_size;
mod rate_limit;
mod routes;
mod serve;
mod session_key;
mod sign_in;
mod state;
mod webhook;
mod ws;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use assets::Asset;
pub use routes::router;
pub use serve::{raise_file_limit, serve};
pub use sign_in::SignIn;
pub use state::{AppState, CanOpen, DemoHooks, FollowBase, ImportIssue, MapCode, Publish, ReadIssue, RestoreToken, SaveToken, UpdateCheckout};
pub use webhook::run as send_notifications;
