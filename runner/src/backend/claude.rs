//! Claude Code as a backend, checked against version 2.1.330.
//!
//! These modules are the only place that knows its flags, its stream-json, its tool names and its error texts.
//!
//! | task | module |
//! |---|---|
//! | probe: version and sign-in, and what a person can do about a problem | [`probe`] |
//! | command line, files, and messages for its stdin | [`launch`] |
//! | interrupts, and answers to permission requests | [`control`] |
//! | a session that a person continues | [`manual`] |
//! | environment that it inherits and reserves | [`environment`] |
//! | its files in the home folder, and its sign-in | [`home`], [`sign_in`] |
//! | settings of the person that apply to agents | [`user_settings`] |
//! | output to run events | [`decode`], [`tool`], [`error`] |
//! | what it leaves outside of the checkout | [`session`] |
//! | helpers that an agent starts itself | [`hook`] |
//!
//! A session is resumed under its id from any folder. The system prompt and tool descriptions of a session are frozen at its first
//! start.
//!
//! Capabilities that are missing or unused: text arrives in whole blocks, not in chunks. Permission requests come only
//! from agents that have to ask. Tokens of thinking are known only for the turn. A diff of an edit is not decoded.

pub(super) mod control;
pub(super) mod decode;
pub(super) mod environment;
pub(super) mod error;
pub(super) mod home;
pub mod hook;
pub(super) mod launch;
pub(super) mod manual;
pub(super) mod probe;
pub(super) mod session;
pub(super) mod sign_in;
mod tool;
pub(super) mod user_settings;
