//! The war room: what keeps agents on one repository out of each other's way, and what they hand on. Each file is one noun.

pub mod agent_activity;
pub mod battle_plan;
pub mod briefing;
pub mod claim;
pub mod class;
pub mod code_map;
pub mod commit_files;
pub mod context_left;
pub mod debrief;
pub mod formation;
pub mod freshness;
pub mod handover;
pub mod heat_map;
pub mod knowledge;
pub mod lead;
pub mod model;
pub mod old_task;
pub mod oracle;
pub mod party;
pub mod raid_log;
pub mod result;
pub mod transport;
pub mod trigger;
pub mod workload;
pub mod zone;
