//! Use cases of the war room: what keeps agents on one repository out of each other's way, and what each has left of its context.

pub(crate) mod claim;
pub(crate) mod context_left;
pub(crate) mod party;
