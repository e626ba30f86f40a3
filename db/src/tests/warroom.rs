//! Tests of the war room: battle plans, claims, classes of agents, the context that they have left, debriefs, who is present, handovers, the raid
//! log, and results of tasks.

mod battle_plan;
mod claim;
mod claim_storm;
mod class;
mod context_left;
mod debrief;
mod handover;
mod index;
mod party;
mod raid_log;
mod result;
