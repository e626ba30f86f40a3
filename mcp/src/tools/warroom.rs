//! The tools of the war room: claims of files.
//!
//! It must not know the tools of other areas.

mod claim;

use super::definition::ToolDefinition;

pub(super) const TOOLS: &[&[ToolDefinition]] = &[claim::TOOLS];
