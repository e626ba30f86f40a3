//! The tools of the war room: claims of files, the context that agents have left, and who is present.
//!
//! It must not know the tools of other areas.

mod claim;
mod context_left;
mod party;

use super::definition::ToolDefinition;

pub(super) const TOOLS: &[&[ToolDefinition]] = &[claim::TOOLS, context_left::TOOLS, party::TOOLS];
