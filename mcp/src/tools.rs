//! The sum of the tools, and THE TABLE: which role sees which.
//!
//! The table keeps each agent's list short and is no security boundary: what a run may do is judged again by the store.

mod arguments;
mod board;
mod comment;
mod create;
mod question;
mod task;

use db::Caller;
use domain::refusal::Refusal;
use domain::task::Phase;
use rmcp::handler::server::router::tool::ToolRouter;

use crate::call::Effect::{Reads, Writes};
use crate::call::tool;
use crate::handler::Handler;

/// What a client's model is told about the server as a whole. Clients cut it after 2 kB.
pub(crate) const INSTRUCTIONS: &str = "The board of vibe-relay: the tasks of your project, their comments and their moves. Your task's id is in <issue>. A result may end with notices: read them before you go on. A refusal ends with the next legal step: take it.";

pub(crate) struct Row {
    pub(crate) tool: &'static str,
    phases: &'static [Phase],
    /// Whether the person's own client sees it.
    person: bool,
}

const EVERYONE: &[Phase] = Phase::ALL;
const PLANNING: &[Phase] = &[Phase::Planner, Phase::Orchestrator];
// A reviewer judges what is there: it has nobody to ask.
const ASKING: &[Phase] = &[Phase::Planner, Phase::Coder, Phase::Orchestrator];

pub(crate) const TABLE: &[Row] = &[
    Row { tool: "get_board", phases: EVERYONE, person: true },
    Row { tool: "get_task", phases: EVERYONE, person: true },
    Row { tool: "get_my_tasks", phases: EVERYONE, person: true },
    Row { tool: "add_comment", phases: EVERYONE, person: true },
    Row { tool: "update_task_status", phases: EVERYONE, person: true },
    Row { tool: "create_task", phases: PLANNING, person: true },
    Row { tool: "create_subtasks", phases: PLANNING, person: true },
    Row { tool: "complete_task", phases: PLANNING, person: true },
    Row { tool: "ask_human", phases: ASKING, person: false },
];

/// Every tool. In each description the first sentence says when to use it.
pub(crate) fn routes() -> ToolRouter<Handler> {
    ToolRouter::new()
        .with_route(tool(
            "get_board",
            "Use it to see the whole project: every task with status, role, dependencies, why it waits, and its last comments shortened. A long board comes in pages: pass `after` as the answer says.",
            Reads,
            board::get_board,
        ))
        .with_route(tool(
            "get_my_tasks",
            "Use it to find the task you work on: its id, status and why. A run has exactly one; `phase` keeps only a task of that role.",
            Reads,
            board::get_my_tasks,
        ))
        .with_route(tool(
            "get_task",
            "Use it to read one task in full: description, branch, and the whole comment thread, oldest first. An older part of a long thread comes with `before`.",
            Reads,
            task::get_task,
        ))
        .with_route(tool(
            "update_task_status",
            "Use it when your part of a task is finished. Coder: in_review, after committing. Reviewer: done approves the commit, in_progress sends it back after a comment. Orchestrator: cancelled, with a reason.",
            Writes,
            task::update_task_status,
        ))
        .with_route(tool(
            "complete_task",
            "Use it as the last call of a planner or orchestrator: your own task is done and what you created starts. Without created tasks a planner must give a reason.",
            Writes,
            task::complete_task,
        ))
        .with_route(tool(
            "add_comment",
            "Use it to say what the next reader must know: what you did, what is wrong (file and line), what you decided. Markdown.",
            Writes,
            comment::add_comment,
        ))
        .with_route(tool(
            "create_subtasks",
            "Use it to create the tasks of a plan in one call, all or none; the ids come back in the order given. At most 50. `depends_on` names tasks by place in this list, from 0, or by id.",
            Writes,
            create::create_subtasks,
        ))
        .with_route(tool(
            "create_task",
            "Use it to create a single task; for several use create_subtasks. It becomes a child of `parent_task_id`, an agent's by default of its planning task.",
            Writes,
            create::create_task,
        ))
        .with_route(tool(
            "ask_human",
            "Use it only when you cannot go on without a decision of the person. Then end your turn: you are resumed with the answer. Offer `options` where you can, and the `default` you would take.",
            Writes,
            question::ask_human,
        ))
}

/// Whether the caller sees `tool` and may call it.
pub(crate) fn may(caller: &Caller, tool: &str) -> bool {
    TABLE.iter().any(|row| {
        row.tool == tool
            && match caller {
                Caller::Run(run) => row.phases.contains(&run.phase),
                Caller::Human | Caller::Runner => row.person,
            }
    })
}

/// Why the caller may not call `tool`.
pub(crate) fn refusal(caller: &Caller, tool: &str) -> Refusal {
    let own: Vec<&str> = TABLE.iter().filter(|row| may(caller, row.tool)).map(|row| row.tool).collect();
    let hint = format!("Your tools are {}.", own.join(", "));
    match caller {
        Caller::Run(run) => Refusal::NotYourRole { phase: run.phase, action: format!("call {tool}"), hint },
        Caller::Human | Caller::Runner => Refusal::invalid("tool", format!("{tool} is for running agents only"), hint),
    }
}
