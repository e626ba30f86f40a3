//! The tools of the war room: claims of files, battle plans, the raid log, handovers, the context that agents have left, and who is present.
//!
//! It must not know the tools of other areas.

mod battle_plan;
mod claim;
mod context_left;
mod handover;
mod party;
mod raid_log;

use super::definition::ToolDefinition;

pub(super) const TOOLS: &[&[ToolDefinition]] =
    &[battle_plan::TOOLS, claim::TOOLS, context_left::TOOLS, handover::TOOLS, party::TOOLS, raid_log::TOOLS];
