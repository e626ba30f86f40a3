//! Presence: who takes part, under which name, and what each is at.

use domain::team::agent::{Agent, Registration, is_short_for};
use domain::team::role::Role;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::reply::{Answer, Failure};
use crate::show;
use crate::tools::arguments::{self, InProject};
use crate::tools::onboarding;

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "register",
            "Use it first, to join the project or to say something new about yourself; the answer says how to work here. What you leave out stays. With a room's token the answer holds the token that makes the name yours.",
            Effect::Writes,
            register,
        ),
        tool(
            "who",
            "Use it to see who takes part: name, roles, health, current task, unread messages. The person is always there as `human`.",
            Effect::Reads,
            who,
        ),
        tool("set_status", "Use it to say in a few words what you are doing; who shows it. An empty text takes it back.", Effect::Writes, set_status),
        tool("ping", "Use it about once a minute while you work without calling other tools: it shows that you are there.", Effect::Writes, ping),
        tool(
            "deregister",
            "Use it when you leave for good: nobody waits for you any more. A lead may take out another by name.",
            Effect::Writes,
            deregister,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Register {
    /// A name of your own: letters, digits, '-', '_' and '.'.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    /// One or more of builder, fixer, tester, reviewer, productionalizer, pen, shipper, researcher, coder, with commas between them.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::list")]
    role: Vec<Role>,
    description: Option<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    team: Option<String>,
    /// Your own token from an earlier answer, to take your name up again.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    token: Option<String>,
}

async fn register(call: Call, given: Register) -> Result<Answer, Failure> {
    let project = call.project(None).await?;
    let name = given.agent_name.or_else(|| call.caller.name()).unwrap_or_default();
    let who = Registration { name, roles: given.role, description: given.description, team: given.team };
    let registered = call.db.register(&call.caller, &project, who, given.token.as_deref()).await?;
    let agent = &registered.agent;
    let mut text = format!("{} registered successfully{} in {project}.", agent.name, roles(agent));
    if !agent.trusted {
        text += " The person does not vouch for you yet: you may talk and take tasks, and neither lead, approve nor verify.";
    }
    if let Some(token) = &registered.token {
        text += &format!(
            "\nYour own token: {token}\nConnect with it from now on, as `Authorization: Bearer` or in VIBE_RELAY_TOKEN of `vibe-relay mcp`: the room's token only registers."
        );
    }
    if agent.unread > 0 {
        text += &format!("\n{} messages wait for you: call check_inbox.", agent.unread);
    }
    let onboarding = onboarding::text(&agent.roles);
    let mut data = json!({"agent": show::agent(agent), "onboarding": onboarding});
    if let Some(token) = &registered.token {
        data["token"] = json!(token);
    }
    Ok(Answer::new(format!("{text}\n\n{onboarding}"), data))
}

fn roles(agent: &Agent) -> String {
    if agent.roles.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = agent.roles.iter().map(|role| role.as_str()).collect();
    format!(" as {}", names.join(", "))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Who {
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn who(call: Call, given: Who) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let agents = call.db.agents(&call.project(given.project.0).await?).await?;
    let there: Vec<Value> = agents.iter().filter(|agent| agent.left_at.is_none()).map(show::agent).collect();
    Ok(Answer::new(json!(there).to_string(), json!({"agents": there})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetStatus {
    status: String,
}

async fn set_status(call: Call, given: SetStatus) -> Result<Answer, Failure> {
    let project = call.project(None).await?;
    let agent = call.db.set_status(&call.caller, &project, &given.status).await?;
    let text = match &agent.status {
        Some(status) => format!("{} is shown as: {status}", agent.name),
        None => format!("{} says nothing about what it does.", agent.name),
    };
    Ok(Answer::new(text, json!({"agent": show::agent(&agent)})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ping {}

async fn ping(call: Call, Ping {}: Ping) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let at = call.db.record_heartbeat(&call.caller).await?;
    Ok(Answer::new(format!("pong — {at}"), json!({"at": at})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Deregister {
    /// You, unless you lead.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn deregister(call: Call, given: Deregister) -> Result<Answer, Failure> {
    let project = call.project(given.project.0).await?;
    let name = match given.agent_name {
        Some(name) => name,
        None => call.name()?,
    };
    call.db.deregister(&call.caller, &project, &name).await?;
    let back = if call.name().is_ok_and(|own| is_short_for(&name, &own)) { "register brings it back" } else { "its token is worth nothing any more" };
    Ok(Answer::new(format!("{name} is deregistered. Its tasks stay assigned to it; {back}."), json!({"agent_name": name})))
}
