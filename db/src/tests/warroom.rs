//! Tests of the war room: the activity of agents, battle plans, claims, classes of agents, the context that they have left, debriefs, who is
//! present, formations, handovers, heat maps, knowledge, leads and models, questions to oracles, the raid log, results of tasks, tasks that a
//! session leaves, orders by trigger words, workloads, and zones.

mod agent_activity;
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
mod managed_oracle;
mod model;
mod old_task;
mod oracle;
mod party;
mod raid_log;
mod result;
mod trigger;
mod workload;
mod zone;
