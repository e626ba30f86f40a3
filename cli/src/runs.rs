//! Commands for the results of runs.

pub(crate) mod land;
