//! Tests of the war room: battle plans, claims, classes of agents, the context that they have left, who is present, handovers, and the raid log.

mod battle_plan;
mod claim;
mod claim_storm;
mod class;
mod context_left;
mod handover;
mod index;
mod party;
mod raid_log;
