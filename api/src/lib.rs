//! The board over HTTP: requests become use-cases of `db`, their answers JSON, the log a WebSocket, the browser's files bytes.
//!
//! Decides no rule of the board, starts no program, and does not know that agents have tools or how they are run.

#![forbid(unsafe_code)]

mod assets;
mod error;
mod extract;
mod guard;
mod markdown;
mod openapi;
mod routes;
mod serve;
mod sign_in;
mod state;
mod ws;

#[cfg(test)]
mod tests;

pub use routes::{Access, ROUTES, Route, router};
pub use serve::serve;
pub use sign_in::SignIn;
pub use state::{AppState, DemoHooks};
