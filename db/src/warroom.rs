//! Use cases of the war room: what keeps agents on one repository out of each other's way.

pub(crate) mod claim;
