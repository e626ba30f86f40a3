//! Components of the area *warroom*: the agents that are present, the context that each has left, claims, plans, handovers, orders and the log.

pub(crate) mod battle_plan;
pub(crate) mod claim;
pub(crate) mod context_left;
pub(crate) mod handover;
pub(crate) mod party;
pub(crate) mod raid_log;
pub(crate) mod trigger;
