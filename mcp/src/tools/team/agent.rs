//! Tools that register, list and remove agents, and set their status.
//!
//! It must not know who may claim a name.

use domain::team::agent::{Agent, Registration, is_short_for};
use domain::team::role::Role;
use domain::warroom::class::AgentClass;
use domain::warroom::lead::LeadRole;
use domain::warroom::transport::Transport;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, route};
use crate::format;
use crate::reach;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CODER_ONLY, EVERY_KIND, Managed};
use crate::tools::team::onboarding;

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "register",
        description: "Call this first to join the project, and later to change how you are listed; omitted fields stay. Returns how to work here. With an invite token it also returns your own token.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: false, external: External::Everyone, invite: true },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, register),
    },
    ToolDefinition {
        name: "who",
        description: "Call this to see which agents are active, with roles, class, context left, health and task.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::of(EVERY_KIND).unlisted_for(CODER_ONLY), human: true, external: External::Everyone, invite: true },
        identity_arguments: &[],
        route: |definition| route(definition, who),
    },
    ToolDefinition {
        name: "set_status",
        description: "Call this to say in a few words what you are doing, which `who` shows. An empty text clears it.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: false, external: External::Everyone, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, set_status),
    },
    ToolDefinition {
        name: "ping",
        description: "Call this about once a minute while you work without calling other tools. It proves that you are alive.",
        effect: Effect::Writes,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Everyone, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, ping),
    },
    ToolDefinition {
        name: "deregister",
        description: "Call this when you leave permanently; handshakes stop waiting for you. A lead may remove another agent by name.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, deregister),
    },
    ToolDefinition {
        name: "rename",
        description: "Call this to take another name, such as oracle-audio. Your tasks, files, messages and token move with it. A lead may rename another agent.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Trusted, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, rename),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Register {
    /// Letters, digits, '-', '_' and '.'.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    #[schemars(schema_with = "arguments::roles")]
    #[serde(default, deserialize_with = "arguments::list")]
    role: Vec<Role>,
    description: Option<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    team: Option<String>,
    /// Permanent; only a coder changes code. By default coder.
    #[schemars(schema_with = "arguments::agent_class")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_class: Option<AgentClass>,
    #[schemars(schema_with = "arguments::lead_role")]
    #[serde(default, deserialize_with = "arguments::given")]
    lead_role: Option<LeadRole>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    zone: Option<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    model: Option<String>,
    #[schemars(schema_with = "arguments::transport")]
    #[serde(default, deserialize_with = "arguments::given")]
    transport: Option<Transport>,
    /// Your token from an earlier registration, to reclaim your name.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    token: Option<String>,
}

async fn register(call: Call, given: Register) -> Result<Answer, Failure> {
    let project = call.project(ProjectArgument::Missing).await?;
    let name = given.agent_name.or_else(|| call.caller.name()).unwrap_or_default();
    let who = Registration {
        name,
        roles: given.role,
        description: given.description,
        team: given.team,
        class: given.agent_class,
        lead_role: given.lead_role,
        zone: given.zone,
        model: given.model,
        transport: given.transport,
    };
    let registered = call.db.register(&call.caller, &project, who, given.token.as_deref()).await?;
    let agent = &registered.agent;
    let mut text = format!("{} registered successfully{} in {project}.", agent.name, roles(agent));
    if !agent.trusted {
        text += " You are not trusted yet: you can send messages and take tasks, but not lead, approve or verify.";
    }
    if let Some(token) = &registered.token {
        text += &format!(
            "\nYour own token: {token}\nConnect with it from now on, as `Authorization: Bearer` or in VIBE_RELAY_TOKEN of `vibe-relay mcp`. The invite token can only register."
        );
    }
    if agent.unread > 0 {
        text += &format!("\nYou have {} unread messages: call check_inbox.", agent.unread);
    }
    if let Some(projects) = reach::projects(&call.db, &call.bearer).await? {
        text += &format!("\n{projects}");
    }
    let onboarding = onboarding::text(&call.config.borrow().config.prompts, &agent.roles);
    let mut data = json!({"agent": format::agent(agent), "onboarding": onboarding});
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
    project: ProjectArgument,
}

async fn who(call: Call, given: Who) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let agents = call.db.agents(&project).await?;
    let updates = call.db.activity_counts(&project).await?;
    let describe = |agent: &Agent| {
        if call.caller.run().is_some() {
            return format::agent(agent);
        }
        let mut data = format::agent_in_full(agent);
        data["activity_count"] = json!(updates.get(&agent.name).copied().unwrap_or_default());
        data
    };
    let active: Vec<Value> = agents.iter().filter(|agent| agent.left_at.is_none()).map(describe).collect();
    Ok(Answer::new(json!(active).to_string(), json!({"agents": active})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetStatus {
    status: String,
}

async fn set_status(call: Call, given: SetStatus) -> Result<Answer, Failure> {
    let project = call.project(ProjectArgument::Missing).await?;
    let agent = call.db.set_status(&call.caller, &project, &given.status).await?;
    let text = match &agent.status {
        Some(status) => format!("{} has the status: {status}", agent.name),
        None => format!("{} has no status.", agent.name),
    };
    Ok(Answer::new(text, json!({"agent": format::agent(&agent)})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ping {}

async fn ping(call: Call, Ping {}: Ping) -> Result<Answer, Failure> {
    let at = call.db.record_heartbeat(&call.caller).await?;
    Ok(Answer::new(format!("pong — {at}"), json!({"at": at})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Deregister {
    /// Yourself, unless you are a lead.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn deregister(call: Call, given: Deregister) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let name = match given.agent_name {
        Some(name) => name,
        None => call.name()?,
    };
    call.db.deregister(&call.caller, &project, &name).await?;
    let back = if call.name().is_ok_and(|own| is_short_for(&name, &own)) { "register to return" } else { "its token is revoked" };
    Ok(Answer::new(format!("{name} is deregistered. Its tasks stay assigned to it; {back}."), json!({"agent_name": name})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rename {
    /// Yourself, unless you are a lead.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    new_name: String,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn rename(call: Call, given: Rename) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let name = match given.agent_name {
        Some(name) => name,
        None => call.name()?,
    };
    let agent = call.db.rename_agent(&call.caller, &project, &name, &given.new_name).await?;
    let text = format!("{name} is now {}. Messages to the former name reach it, and its token remains valid.", agent.name);
    Ok(Answer::new(text, json!({"agent_name": agent.name, "agent": format::agent(&agent)})))
}
