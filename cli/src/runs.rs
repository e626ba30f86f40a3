//! Commands for the results of runs, and the lines of a server about them.

pub(crate) mod diff;
pub(crate) mod interrupt;
pub(crate) mod land;
pub(crate) mod parking;
pub(crate) mod pause;
pub(crate) mod permission;
pub(crate) mod preview;
pub(crate) mod profile;
pub(crate) mod publication;
pub(crate) mod rescue;
