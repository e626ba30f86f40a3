//! Components of the area *warroom*: the agents that are present, and the context that each has left.

pub(crate) mod context_left;
pub(crate) mod party;
