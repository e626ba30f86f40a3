//! Use cases of the war room: what keeps agents on one repository out of each other's way, and what they hand on.

pub(crate) mod agent_activity;
pub(crate) mod battle_plan;
pub(crate) mod briefing;
pub(crate) mod claim;
pub(crate) mod context_left;
pub(crate) mod debrief;
pub(crate) mod formation;
pub(crate) mod freshness;
pub(crate) mod handover;
pub(crate) mod heat_map;
pub(crate) mod knowledge;
pub(crate) mod lead;
pub(crate) mod old_task;
pub(crate) mod oracle;
pub(crate) mod party;
pub(crate) mod raid_log;
pub(crate) mod result;
pub(crate) mod trigger;
pub(crate) mod workload;
pub(crate) mod zone;
