//! The sum of the tools, and THE TABLE: who sees which of them, and in which arguments somebody may repeat their own name.
//!
//! The table keeps each agent's list short and is no security boundary: what a caller may do is judged again by the store.

mod agent;
mod arguments;
mod board;
mod comment;
mod contract;
mod create;
mod gate;
mod goal;
mod handshake;
mod hat;
mod message;
mod onboarding;
mod question;
mod spawn;
mod stage;
mod task;

use std::sync::Arc;

use db::Caller;
use domain::refusal::{Refusal, TOKEN_COMMAND};
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::{MAX_NAME_BYTES, is_short_for};
use domain::text::excerpt;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use crate::handler::Handler;

/// What a client's model is told about the server as a whole. Clients cut it after 2 kB.
pub(crate) const INSTRUCTIONS: &str = "The board of vibe-relay: the tasks of your project, their comments and their moves, and the agents who work on them. A task's id is like TASK-001; yours is in <issue> where there is one. check_inbox gives what others wrote to you, send answers; who you are is decided by your token. A result may end with notices: read them before you go on. A refusal ends with the next legal step: take it.";

/// One tool, and who sees it.
pub(crate) struct Row {
    pub(crate) tool: &'static str,
    pub(crate) phases: &'static [AgentKind],
    /// Whether the person's own client sees it.
    pub(crate) person: bool,
    /// Whether agents from outside see it.
    pub(crate) outside: bool,
    /// Whether the bearer of a room's token sees it, who has no name yet.
    pub(crate) room: bool,
    /// The arguments in which a caller may repeat its own name.
    pub(crate) identity: &'static [&'static str],
}

const NOBODY: &[AgentKind] = &[];
const EVERYONE: &[AgentKind] = AgentKind::ALL;
const PLANNING: &[AgentKind] = &[AgentKind::Planner, AgentKind::Orchestrator];
// A reviewer judges what is there: it has nobody to ask.
const ASKING: &[AgentKind] = &[AgentKind::Planner, AgentKind::Coder, AgentKind::Orchestrator];
const PROMISING: &[AgentKind] = &[AgentKind::Planner, AgentKind::Coder];
const WORKING: &[AgentKind] = &[AgentKind::Coder, AgentKind::Reviewer];
const CODING: &[AgentKind] = &[AgentKind::Coder];
const LEADING: &[AgentKind] = &[AgentKind::Orchestrator];

pub(crate) const TABLE: &[Row] = &[
    Row { tool: "get_board", phases: EVERYONE, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "get_task", phases: EVERYONE, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "get_my_tasks", phases: EVERYONE, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "add_comment", phases: EVERYONE, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "update_task_status", phases: EVERYONE, person: true, outside: false, room: false, identity: &[] },
    Row { tool: "create_task", phases: PLANNING, person: true, outside: true, room: false, identity: &["creator", "agent_name"] },
    Row { tool: "create_subtasks", phases: PLANNING, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "complete_task", phases: PLANNING, person: true, outside: false, room: false, identity: &[] },
    Row { tool: "ask_human", phases: ASKING, person: false, outside: false, room: false, identity: &[] },
    Row { tool: "register", phases: NOBODY, person: false, outside: true, room: true, identity: &["agent_name"] },
    Row { tool: "who", phases: EVERYONE, person: true, outside: true, room: true, identity: &[] },
    Row { tool: "set_status", phases: NOBODY, person: false, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "ping", phases: NOBODY, person: true, outside: true, room: false, identity: &["agent_name"] },
    // A lead and the person may take others out, so its name is none of the caller's own.
    Row { tool: "deregister", phases: NOBODY, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "send", phases: EVERYONE, person: true, outside: true, room: false, identity: &["from_agent"] },
    Row { tool: "check_inbox", phases: EVERYONE, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "get_history", phases: EVERYONE, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "list_tasks", phases: NOBODY, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "update_task", phases: NOBODY, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "assign_role_hat", phases: NOBODY, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "hat_history", phases: NOBODY, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "submit_for_review", phases: NOBODY, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "approve_task", phases: NOBODY, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "reject_task", phases: NOBODY, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "verify_task", phases: LEADING, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "reject_verification", phases: LEADING, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "create_goal", phases: PLANNING, person: true, outside: true, room: false, identity: &["creator"] },
    Row { tool: "link_task_to_goal", phases: PLANNING, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "goal_status", phases: PLANNING, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "verify_goal", phases: LEADING, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "initiate_handshake", phases: LEADING, person: true, outside: true, room: false, identity: &["from_agent"] },
    Row { tool: "ack_handshake", phases: WORKING, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "handshake_status", phases: LEADING, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "declare_contract", phases: PROMISING, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "list_contracts", phases: EVERYONE, person: true, outside: true, room: false, identity: &[] },
    Row { tool: "set_spawn_policy", phases: NOBODY, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "get_spawn_policy", phases: NOBODY, person: true, outside: true, room: false, identity: &["agent_name"] },
    Row { tool: "log_minion", phases: CODING, person: true, outside: true, room: false, identity: &["agent_name"] },
];

/// Every tool. In each description the first sentence says when to use it.
pub(crate) fn routes() -> ToolRouter<Handler> {
    let mut router = ToolRouter::new();
    let nouns = [
        agent::routes(),
        board::routes(),
        comment::routes(),
        contract::routes(),
        create::routes(),
        gate::routes(),
        goal::routes(),
        handshake::routes(),
        hat::routes(),
        message::routes(),
        question::routes(),
        spawn::routes(),
        stage::routes(),
        task::routes(),
    ];
    for route in nouns.into_iter().flatten() {
        router.add_route(route);
    }
    router
}

/// The arguments of `tool` in which a caller may repeat its own name.
pub(crate) fn identity(tool: &str) -> &'static [&'static str] {
    TABLE.iter().find(|row| row.tool == tool).map_or(&[], |row| row.identity)
}

/// Whether the caller sees `tool` and may call it.
pub(crate) fn may(caller: &Caller, tool: &str) -> bool {
    TABLE.iter().any(|row| {
        row.tool == tool
            && match caller {
                Caller::Run(run) => row.phases.contains(&run.phase),
                Caller::Human | Caller::Runner => row.person,
                Caller::Agent(_) => row.outside,
                Caller::Invite(_) => row.room,
            }
    })
}

/// The tools among `all` that the caller sees, as it sees them.
pub(crate) fn seen_by(caller: &Caller, all: &ToolRouter<Handler>) -> Vec<Tool> {
    let mut seen = all.list_all();
    seen.retain(|tool| may(caller, &tool.name));
    // Who comes from outside has none of the roles of this argument.
    if let (Caller::Agent(_), Some(tool)) = (caller, seen.iter_mut().find(|tool| tool.name == comment::ADD_COMMENT)) {
        let schema = Arc::make_mut(&mut tool.input_schema);
        schema.get_mut("properties").and_then(Value::as_object_mut).and_then(|properties| properties.remove(comment::AUTHOR_ROLE));
    }
    seen
}

/// Why the caller may not call `tool`.
pub(crate) fn refusal(caller: &Caller, tool: &str) -> Refusal {
    let own: Vec<&str> = TABLE.iter().filter(|row| may(caller, row.tool)).map(|row| row.tool).collect();
    let mut hint = format!("Your tools are {}.", own.join(", "));
    if matches!(caller, Caller::Human | Caller::Runner) && TABLE.iter().any(|row| row.tool == tool && row.outside) {
        hint = format!("This token is the person's. As an agent, ask the person for a token of your own: {TOKEN_COMMAND}. {hint}");
    }
    match caller {
        Caller::Run(run) => Refusal::WrongAgentKind { phase: run.phase, action: format!("call {tool}"), hint },
        Caller::Human | Caller::Runner => Refusal::invalid("tool", format!("{tool} is for agents only"), hint),
        Caller::Agent(_) => Refusal::invalid("tool", format!("{tool} is for agents that the runner starts"), hint),
        Caller::Invite(_) => Refusal::NotRegistered,
    }
}

/// Refuses a call that names somebody else than its token does as the one who acts. A name that is left out is the caller's own.
///
/// The only place where a claimed name is judged. Whom a call is about is another matter, and each tool's own.
pub(crate) fn claim(caller: &Caller, tool: &str, arguments: Option<&JsonObject>) -> Result<(), Refusal> {
    // Whoever has no name yet repeats none: what it gives to register is its wish.
    let (Some(own), Some(arguments)) = (caller.name(), arguments) else { return Ok(()) };
    for argument in identity(tool) {
        let claimed = match arguments.get(*argument) {
            None | Some(Value::Null) => continue,
            Some(Value::String(claimed)) if claimed.trim().is_empty() || is_short_for(claimed.trim(), &own) => continue,
            Some(Value::String(claimed)) => excerpt(claimed, MAX_NAME_BYTES),
            Some(other) => excerpt(&other.to_string(), MAX_NAME_BYTES),
        };
        return Err(Refusal::WrongIdentity { own, claimed });
    }
    Ok(())
}
