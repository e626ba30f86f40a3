//! Agents that play a scenario file instead of asking a model, for the demo and for tests. They must not know the board's rules: a scripted
//! agent reaches the board over MCP like a real one, and its commits are real.
//!
//! One scenario has two players. The scripted agent ([`agent`]) replaces the `claude` program; the scripted Messages API of the test crate
//! replaces the model behind the real program. Both get the next step from [`player::next`] and pass it only the conversation so far.

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
