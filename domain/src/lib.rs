//! The rules and the vocabulary of vibe-relay: pure, without I/O, clock or randomness, so that the browser runs the same code as the server.
//!
//! Areas: [`board`] (projects, tasks, goals and the table of legal moves), [`runs`] (attempts by managed agents), [`team`] (participants
//! and their messages), [`context`] (sessions in which they share findings, and their memory), [`warroom`] (claims, and what agents hand on). Logs: [`audit`], [`event`]. On the wire: [`wire`], [`refusal`]. Outside the areas: [`actor`], [`config`], [`id`], [`likeness`], [`text`], [`time`].
#![forbid(unsafe_code)]

pub mod actor;
pub mod audit;
pub mod board;
pub mod config;
pub mod context;
pub mod event;
pub mod id;
pub mod likeness;
pub mod printable;
pub mod prompt;
pub mod rate_limit;
pub mod refusal;
pub mod runs;
mod schema;
pub mod team;
pub mod text;
mod text_schema;
pub mod time;
mod vocabulary;
pub mod warroom;
pub mod wire;

pub use vocabulary::UnknownValue;
