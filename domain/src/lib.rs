//! The rules and words of vibe-relay: pure, without I/O, clock or randomness, so that the browser runs the same code as the server.
//!
//! Nouns: [`project`], [`task`], [`comment`], [`question`], [`run`], [`agent`], [`message`], [`hat`], [`goal`], [`handshake`], [`contract`],
//! [`spawn`]. Rules: [`transition`] (which move is legal), [`depend`],
//! [`project::round_due`], [`failure`], [`config`], [`text`]. What is shown: [`stage`], [`why`], [`attention`], [`park`], [`board`],
//! [`output`], [`diff`]. What travels: [`event`], [`wire`], [`refusal`].
//! What agent programs report: [`run_event`].

#![forbid(unsafe_code)]

pub mod actor;
pub mod agent;
pub mod attention;
pub mod board;
pub mod comment;
pub mod config;
pub mod contract;
pub mod depend;
pub mod diff;
pub mod event;
pub mod evidence;
pub mod failure;
pub mod goal;
pub mod handshake;
pub mod hat;
pub mod id;
pub mod message;
pub mod output;
pub mod park;
pub mod project;
pub mod question;
pub mod refusal;
pub mod run;
pub mod run_event;
mod schema;
pub mod spawn;
pub mod stage;
pub mod task;
pub mod text;
pub mod time;
pub mod transition;
pub mod why;
pub mod wire;
mod word;

pub use word::UnknownWord;
