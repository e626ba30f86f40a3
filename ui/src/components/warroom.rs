//! Components of the area *warroom*: the agents that are present, the context that each has left, the formation that suits the project, claims,
//! plans, zones, the heat map, the code map, handovers, orders, questions to experts, knowledge and the log.

pub(crate) mod battle_plan;
pub(crate) mod claim;
pub(crate) mod code_map;
pub(crate) mod context_left;
pub(crate) mod formation;
pub(crate) mod handover;
pub(crate) mod heat_map;
pub(crate) mod knowledge;
mod lines_field;
mod number;
pub(crate) mod oracle;
pub(crate) mod party;
mod project_choice;
pub(crate) mod raid_log;
mod table;
pub(crate) mod trigger;
pub(crate) mod words;
pub(crate) mod zone;
