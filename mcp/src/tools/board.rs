//! The tools of the board: tasks, plans, comments, questions, review gates and goals.
//!
//! It must not know the tools of other areas.

mod card;
mod comment;
mod external_task;
mod gate;
mod goal;
mod plan;
mod question;
mod steer;
mod task;
mod wait;

pub(super) use comment::{ADD_COMMENT, AUTHOR_ROLE};
pub(super) use external_task::LIST_TASKS;

use super::definition::ToolDefinition;

pub(super) const TOOLS: &[&[ToolDefinition]] = &[
    card::TOOLS,
    comment::TOOLS,
    external_task::TOOLS,
    gate::TOOLS,
    goal::TOOLS,
    plan::TOOLS,
    question::TOOLS,
    steer::TOOLS,
    task::TOOLS,
    wait::TOOLS,
];
