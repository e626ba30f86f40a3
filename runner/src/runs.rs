//! Nouns of a run: its start, checkout, branch, port, parking and merge.
//!
//! Nothing here decides what happens next; `schedule` does.

pub(crate) mod branch;
pub(crate) mod check;
pub(crate) mod checkout;
pub mod checkout_update;
pub(crate) mod control;
pub(crate) mod leftover;
pub(crate) mod merge;
pub(crate) mod parking;
pub(crate) mod port;
pub mod publication;
pub(crate) mod run;
