//! Tests of the war room: battle plans, claims, classes of agents, the context that they have left, debriefs, who is present, handovers, heat
//! maps, knowledge, leads and models, questions to oracles, the raid log, results of tasks, orders by trigger words, and zones.

mod battle_plan;
mod claim;
mod claim_storm;
mod class;
mod context_left;
mod debrief;
mod formation;
mod handover;
mod heat_map;
mod index;
pub(in crate::tests) mod knowledge;
mod lead;
mod model;
mod oracle;
mod party;
mod raid_log;
mod result;
mod trigger;
mod zone;
