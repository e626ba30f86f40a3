//! Agents that play a scenario file instead of asking a model, for the demo and for tests. Nothing here decides what the board allows:
//! a scripted agent reaches the board only as a real one does, over MCP, and its commits are real.
//!
//! One scenario has two players. The scripted agent ([`agent`]) stands in for the `claude` program; the scripted Messages API of the test
//! crate stands in for the model behind the real program. Both ask [`player::next`] what comes next and tell it only what was said so far.

pub mod agent;
mod arguments;
pub mod demo;
pub mod issue;
mod mcp_client;
mod placeholder;
pub mod player;
pub mod scenario;
mod session;
mod stream;
mod tool;
