//! The table of all tools: which of them a caller sees and may call, and whether it names itself correctly.
//!
//! Each tool is defined once, in the file of its noun. The table is not a security boundary, because the store checks every call again.

pub(crate) mod arguments;
mod board;
mod context;
pub(crate) mod definition;
mod managed;
mod team;
mod warroom;

use std::borrow::Cow;
use std::sync::Arc;

use db::Caller;
use domain::rate_limit::Cost;
use domain::refusal::Refusal;
use domain::runs::run::RunRefusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::agent::{MAX_NAME_BYTES, TOKEN_COMMAND, is_short_for};
use domain::team::token::TokenReach;
use domain::text::excerpt;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use self::definition::{Effect, External, ListingFacts, ToolDefinition};
use self::managed::Need;
use crate::handler::Handler;
use crate::reach;

/// The server's instructions to the client's model. Clients cut them after 2 kB.
pub(crate) const INSTRUCTIONS: &str = "The board of vibe-relay: the tasks of your project with their comments, and the agents who work on them. A task id looks like TASK-001; yours is in <issue> if you have one. check_inbox returns messages to you, send replies. Your token identifies you. Read notices at the end of a result before you continue. A refusal ends with the next legal step: take it.";

/// The arguments that name the object of a call, the most telling first.
const SUBJECTS: [&str; 9] = ["task_id", "session_id", "goal_id", "plan_id", "key", "message_id", "handshake_id", "file_path", "project"];

/// All tools.
pub(crate) fn table() -> impl Iterator<Item = &'static ToolDefinition> {
    [board::TOOLS, context::TOOLS, team::TOOLS, warroom::TOOLS].into_iter().flatten().copied().flatten()
}

pub(crate) fn definition(tool: &str) -> Option<&'static ToolDefinition> {
    table().find(|definition| definition.name == tool)
}

/// Returns the name of a tool that a client calls by another one. It is accepted and not listed.
pub(crate) fn current_name(given: Cow<'static, str>) -> Cow<'static, str> {
    if given == "get_tasks" { Cow::Borrowed(board::LIST_TASKS) } else { given }
}

/// Whether a call comes from a hook of a managed agent and not from its model, which is not listed the tool.
pub(crate) fn is_by_hook(caller: &Caller, tool: &str) -> bool {
    matches!(caller, Caller::Run(_)) && definition(tool).is_some_and(|definition| definition.audience.managed.need == Need::Hook)
}

/// Registers all tools.
pub(crate) fn routes() -> ToolRouter<Handler> {
    let mut router = ToolRouter::new();
    for definition in table() {
        router.add_route((definition.route)(definition));
    }
    router
}

/// Whether the caller may call `tool`.
pub(crate) fn is_allowed(caller: &Caller, tool: &str) -> bool {
    definition(tool).is_some_and(|definition| definition.allows(caller))
}

/// Returns the tools among `all` that the caller can use, without the arguments that mean nothing to it.
pub(crate) fn visible_to(caller: &Caller, facts: ListingFacts, all: &ToolRouter<Handler>) -> Vec<Tool> {
    let shown = |tool: &Tool| definition(&tool.name).filter(|definition| definition.shows(caller, facts));
    let mut tools = Vec::new();
    for mut tool in all.list_all() {
        let Some(definition) = shown(&tool) else { continue };
        let mut schema = Arc::unwrap_or_clone(std::mem::take(&mut tool.input_schema));
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            hide_arguments(caller, definition, properties);
            if facts.reach == TokenReach::All && definition.effect != Effect::Renews {
                reach::add_argument(properties);
            }
            if let Caller::Run(run) = caller {
                definition.audience.managed.rewrite(run.phase, facts.in_use, &mut tool, properties);
            }
        }
        tool.input_schema = Arc::new(schema);
        tools.push(tool);
    }
    tools
}

/// Removes arguments from a listed schema that cost tokens and tell the caller nothing. The tool still accepts them.
fn hide_arguments(caller: &Caller, definition: &ToolDefinition, properties: &mut JsonObject) {
    for argument in definition.identity_arguments {
        // One with a description is an argument of the tool itself.
        if properties.get(*argument) == Some(&json!({"type": "string"})) {
            properties.remove(*argument);
        }
    }
    if caller.project().is_some() {
        properties.remove("project");
    }
    // An external agent has none of these roles, and a managed agent has only its own.
    if matches!(caller, Caller::Agent(_) | Caller::Run(_)) && definition.name == board::ADD_COMMENT {
        properties.remove(board::AUTHOR_ROLE);
    }
}

/// Returns what a call of `tool` uses up, in a message of `bytes` bytes.
pub(crate) fn cost(tool: &str, bytes: u32) -> Cost {
    match definition(tool).map(|definition| definition.effect) {
        Some(Effect::Writes | Effect::Decides | Effect::Renews) => Cost { writes: 1, searches: 0, bytes },
        Some(Effect::Searches) => Cost { writes: 0, searches: 1, bytes },
        Some(Effect::Reads) | None => Cost { writes: 0, searches: 0, bytes },
    }
}

/// Returns why the caller may not call `tool`.
pub(crate) fn refusal(caller: &Caller, tool: &str) -> Refusal {
    let own: Vec<&str> = table().map(|definition| definition.name).filter(|name| is_allowed(caller, name)).collect();
    let mut hint = format!("Your tools are {}.", own.join(", "));
    if let Some(Err(refusal)) = definition(tool).map(|definition| definition.require_rights(caller)) {
        return refusal;
    }
    let is_for_agents = definition(tool).is_some_and(|definition| definition.audience.external != External::Nobody);
    if matches!(caller, Caller::Person(_) | Caller::Runner) && is_for_agents {
        hint = format!("This token is the human's. As an agent, ask the human for a token of your own: {TOKEN_COMMAND}. {hint}");
    }
    match caller {
        Caller::Run(run) => RunRefusal::WrongAgentKind { phase: run.phase, action: format!("call {tool}"), hint }.into(),
        Caller::Person(_) | Caller::Runner => Refusal::invalid("tool", format!("{tool} is for agents only"), hint),
        Caller::Agent(_) => Refusal::invalid("tool", format!("{tool} is for managed agents"), hint),
        Caller::Invite(_) => AgentRefusal::NotRegistered.into(),
    }
}

/// Returns what a call names as its object, for the audit log.
pub(crate) fn subject(arguments: Option<&JsonObject>) -> Option<String> {
    let arguments = arguments?;
    SUBJECTS.iter().find_map(|name| match arguments.get(*name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// Refuses a call that names another agent than its token does as the acting one. An omitted name is the caller's own.
///
/// This is the only place that checks a claimed name. Each tool decides by itself which agents it may be about.
pub(crate) fn check_identity(caller: &Caller, tool: &str, arguments: Option<&JsonObject>) -> Result<(), AgentRefusal> {
    // A guest has no name yet: the one it registers with is a wish.
    let (Some(own), Some(arguments), Some(definition)) = (caller.name(), arguments, definition(tool)) else { return Ok(()) };
    for argument in definition.identity_arguments {
        let claimed = match arguments.get(*argument) {
            None | Some(Value::Null) => continue,
            Some(Value::String(claimed)) if claimed.trim().is_empty() || is_short_for(claimed.trim(), &own) => continue,
            Some(Value::String(claimed)) => excerpt(claimed, MAX_NAME_BYTES),
            Some(other) => excerpt(&other.to_string(), MAX_NAME_BYTES),
        };
        return Err(AgentRefusal::WrongIdentity { own, claimed });
    }
    Ok(())
}
