//! Nouns of a run: its start, checkout, branch, base, port, parking and merge.
//!
//! Nothing here decides what happens next; `schedule` does.

pub(crate) mod base;
pub(crate) mod branch;
pub(crate) mod check;
pub(crate) mod checkout;
pub mod checkout_update;
pub(crate) mod cleanup;
mod command;
pub(crate) mod control;
pub(crate) mod leftover;
pub(crate) mod merge;
pub(crate) mod parking;
pub(crate) mod port;
pub(crate) mod preview;
pub mod publication;
pub(crate) mod run;
pub(crate) mod scratch;
