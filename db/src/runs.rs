//! Use cases of agents at work: runs, branches, merges and parkings.

pub(crate) mod base;
pub(crate) mod branch;
pub(crate) mod check;
pub(crate) mod checkout;
pub(crate) mod checkpoint;
pub(crate) mod folder;
pub(crate) mod interrupt;
pub(crate) mod land;
pub(crate) mod limit;
pub(crate) mod merge;
pub(crate) mod parking;
pub(crate) mod pause;
pub(crate) mod permission;
pub(crate) mod preview;
pub(crate) mod process;
pub(crate) mod publication;
pub(crate) mod reference;
pub(crate) mod rescue;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod snapshot;
pub(crate) mod usage;
