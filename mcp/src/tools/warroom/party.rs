//! The tool that shows all agents of a project in one call.
//!
//! It must not know how the context of an agent is measured.

use domain::text::excerpt;
use domain::warroom::claim::ClaimPath;
use domain::warroom::lead::{LeadPost, LeadRole};
use domain::warroom::party::PartyMember;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, route};
use crate::format;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::ProjectArgument;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, Need, ORCHESTRATOR_ONLY};

/// The most characters of a title or a status.
const MAX_EXCERPT: usize = 60;

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "party_status",
    description: "Call this before you give out work: every agent with its class, context left, tasks, activity, files and last call.",
    effect: Effect::Reads,
    admission: Admission::ActiveReader,
    audience: Audience { managed: Managed::of(ORCHESTRATOR_ONLY).listed_for(Need::Never), human: true, external: External::Everyone, invite: false },
    identity_arguments: &["agent_name"],
    route: |definition| route(definition, party_status),
}];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PartyStatus {
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn party_status(call: Call, given: PartyStatus) -> Result<Answer, Failure> {
    let party = call.db.party(&call.project(given.project).await?).await?;
    if party.is_empty() {
        return Ok(Answer::new("No agent is present.", json!({"agents": []})));
    }
    let lines: Vec<String> = party.iter().map(line).collect();
    let agents: Vec<Value> = party.iter().map(data).collect();
    Ok(Answer::new(lines.join("\n"), json!({"agents": agents})))
}

/// Words a member of the party on one line. Facts that are unknown are left out.
fn line(member: &PartyMember) -> String {
    let agent = &member.agent;
    let roles: Vec<&str> = agent.roles.iter().map(|role| role.as_str()).collect();
    let roles = if roles.is_empty() { String::new() } else { format!(", {}", roles.join(" ")) };
    let post = agent.lead_role.filter(|role| *role != LeadRole::Commander);
    let post = post.map(|role| format!(", {}", LeadPost { role, zone: agent.zone.clone() })).unwrap_or_default();
    let model = agent.model.as_ref().map(|model| format!(", {model}")).unwrap_or_default();
    let mut parts = vec![format!("{} ({}{post}{roles}, {}{model})", agent.name, agent.class, agent.transport)];
    parts.extend(agent.context_left.map(|left| format!("context left {}", format::context_left(&left))));
    parts.extend(member.tasks.iter().map(|task| format!("{} {} {}", task.id, task.status, excerpt(&task.title, MAX_EXCERPT))));
    parts.extend((member.further_tasks > 0).then(|| format!("{} more tasks", member.further_tasks)));
    parts.extend((member.activity_count > 0).then(|| format!("activity {}", member.activity_count)));
    if !member.claims.is_empty() {
        let paths: Vec<&str> = member.claims.iter().map(ClaimPath::as_str).collect();
        let more = if member.further_claims > 0 { format!(" and {} more", member.further_claims) } else { String::new() };
        parts.push(format!("holds {}{more}", paths.join(", ")));
    }
    parts.extend(member.is_report_due.then(|| "report overdue".to_owned()));
    parts.extend(agent.status.as_ref().map(|status| format!("status: {}", excerpt(status, MAX_EXCERPT))));
    parts.push(match agent.last_seen {
        _ if agent.connected => "connected".to_owned(),
        Some(at) => format!("seen {at}"),
        None => "never seen".to_owned(),
    });
    parts.join(" · ")
}

fn data(member: &PartyMember) -> Value {
    let mut data = format::agent_in_full(&member.agent);
    data["tasks"] = json!(member.tasks);
    data["further_tasks"] = json!(member.further_tasks);
    data["activity_count"] = json!(member.activity_count);
    data["claims"] = json!(member.claims);
    data["further_claims"] = json!(member.further_claims);
    data["is_report_due"] = json!(member.is_report_due);
    data
}
