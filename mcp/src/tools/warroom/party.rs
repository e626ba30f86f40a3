//! The tool that shows all agents of a project in one call.
//!
//! It must not know how the context of an agent is measured.

use std::collections::BTreeMap;

use domain::id::{ProjectId, TaskId};
use domain::text::excerpt;
use domain::warroom::agent_activity::FileChange;
use domain::warroom::claim::ClaimPath;
use domain::warroom::lead::{LeadPost, LeadRole};
use domain::warroom::party::PartyMember;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, route};
use crate::checkout::{checkout_for, file_times};
use crate::format;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::ProjectArgument;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, Need, ORCHESTRATOR_ONLY};

/// The most characters of a title or a status.
const MAX_EXCERPT: usize = 60;

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "party_status",
    description: "Call this before you assign work: every agent with its class, context left, tasks, activity, files and last call.",
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
    let project = call.project(given.project).await?;
    let party = call.db.party(&project).await?;
    if party.is_empty() {
        return Ok(Answer::new("No agent is present.", json!({"agents": []})));
    }
    let changes = last_changes(&call, &project, &party).await;
    let change_of = |member: &PartyMember| changes.get(&member.agent.name);
    let lines: Vec<String> = party.iter().map(|member| line(member, change_of(member))).collect();
    let agents: Vec<Value> = party.iter().map(|member| data(member, change_of(member))).collect();
    Ok(Answer::new(lines.join("\n"), json!({"agents": agents})))
}

/// Returns the newest change of the files that each agent holds, of those that are listed. It looks once at each checkout in which such agents work.
/// Nothing is said of a checkout that cannot be read: check_activity says why.
async fn last_changes(call: &Call, project: &ProjectId, party: &[PartyMember]) -> BTreeMap<String, FileChange> {
    let mut held: BTreeMap<Option<TaskId>, Vec<(String, ClaimPath)>> = BTreeMap::new();
    for member in party {
        let worktree_of = member.agent.task_id.clone().filter(|_| member.agent.run_id.is_some());
        let paths = member.claims.iter().map(|path| (member.agent.name.clone(), path.clone()));
        held.entry(worktree_of).or_default().extend(paths);
    }
    let mut newest: BTreeMap<String, FileChange> = BTreeMap::new();
    for (worktree_of, held) in held.into_iter().filter(|(_, held)| !held.is_empty()) {
        let Ok(checkout) = checkout_for(&call.db, project, worktree_of.as_ref()).await else { continue };
        let Ok(times) = file_times(checkout, held.iter().map(|(_, path)| path.clone()).collect()).await else { continue };
        for ((name, path), files) in held.into_iter().zip(times) {
            let change = FileChange::newest(path, &files);
            if change.modified_at > newest.get(&name).and_then(|known| known.modified_at) {
                newest.insert(name, change);
            }
        }
    }
    newest
}

/// Words a member of the party on one line. Facts that are unknown are left out.
fn line(member: &PartyMember, change: Option<&FileChange>) -> String {
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
        let changed = change.and_then(|change| Some((change, change.modified_at?))).map(|(change, at)| {
            let file = change.file.as_deref().unwrap_or(change.path.as_str());
            if paths == [file] { format!(" (changed {at})") } else { format!(" ({file} changed {at})") }
        });
        parts.push(format!("holds {}{more}{}", paths.join(", "), changed.unwrap_or_default()));
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

fn data(member: &PartyMember, change: Option<&FileChange>) -> Value {
    let mut data = format::agent_in_full(&member.agent);
    data["tasks"] = json!(member.tasks);
    data["further_tasks"] = json!(member.further_tasks);
    data["activity_count"] = json!(member.activity_count);
    data["claims"] = json!(member.claims);
    data["further_claims"] = json!(member.further_claims);
    data["last_change"] = json!(change);
    data["is_report_due"] = json!(member.is_report_due);
    data
}
