//! The tools of the war room: the activity of agents, claims of files, battle plans, the raid log, handovers, knowledge, results of tasks,
//! debriefs, orders, questions to oracles, zones, the heat map, the context that agents have left, and who is present.
//!
//! It must not know the tools of other areas.

mod agent_activity;
mod battle_plan;
mod claim;
mod context_left;
mod debrief;
mod handover;
mod heat_map;
mod knowledge;
mod oracle;
mod party;
mod raid_log;
mod result;
mod trigger;
mod zone;

use super::definition::ToolDefinition;

pub(super) const TOOLS: &[&[ToolDefinition]] = &[
    agent_activity::TOOLS,
    battle_plan::TOOLS,
    claim::TOOLS,
    context_left::TOOLS,
    debrief::TOOLS,
    handover::TOOLS,
    heat_map::TOOLS,
    knowledge::TOOLS,
    oracle::TOOLS,
    party::TOOLS,
    raid_log::TOOLS,
    result::TOOLS,
    trigger::TOOLS,
    zone::TOOLS,
];
