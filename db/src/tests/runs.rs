//! Tests of runs, parking, branches and merges.

mod base;
mod branch;
mod check;
mod checkout;
mod fence;
mod interrupt;
mod limit;
mod merge;
mod parking;
mod pause;
mod permission;
mod preview;
pub(super) mod publication;
mod reference;
mod rescue;
mod run;
mod run_message;
mod sandbox;
mod snapshot;
pub(super) mod task_pull_request;
mod usage;
