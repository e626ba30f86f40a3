//! The routes of the war room.

pub(crate) mod claim;
