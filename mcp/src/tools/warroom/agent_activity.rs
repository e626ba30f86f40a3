//! Tools that show whether an agent is at work, and whether what it knows is still true.
//!
//! It must not know where the checkout of an agent is, or how files are found.

use db::AgentFiles;
use domain::warroom::agent_activity::{AgentActivity, FileChange, QUIET_AFTER};
use domain::warroom::claim::ClaimPath;
use domain::warroom::freshness::Freshness;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::checkout::{checkout_for, file_times};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, Need};

const AUDIENCE: Audience =
    Audience { managed: Managed::of(EVERY_KIND).listed_for(Need::Never), human: true, external: External::Everyone, invite: false };

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "check_activity",
        description: "Call this to see whether an agent is working: when its claimed files (or those of its zone), its tasks and its calls last changed.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: AUDIENCE,
        identity_arguments: &[],
        route: |definition| route(definition, check_activity),
    },
    ToolDefinition {
        name: "check_freshness",
        description: "Call this to see which files of an agent's claims, zone and tasks changed since it loaded them: its last set_context, or when its run read each.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: AUDIENCE,
        identity_arguments: &[],
        route: |definition| route(definition, check_freshness),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckActivity {
    agent_name: String,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn check_activity(call: Call, given: CheckActivity) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let AgentFiles { agent, claims, zone, worktree_of, last_task_update, activity_count, .. } =
        call.db.agent_files(&project, &given.agent_name).await?;
    let holds = !claims.is_empty();
    let paths = if holds { claims } else { zone };
    let checkout = checkout_for(&call.db, &project, worktree_of.as_ref()).await?;
    let times = file_times(checkout, paths.clone()).await?;
    let changes: Vec<FileChange> = paths.into_iter().zip(times).map(|(path, files)| FileChange::newest(path, &files)).collect();
    let (claims, zone) = if holds { (changes, Vec::new()) } else { (Vec::new(), changes) };
    let activity = AgentActivity { agent: agent.name, claims, zone, last_task_update, last_seen: agent.last_seen, activity_count };
    Ok(Answer::new(text(&activity), json!({"activity": activity})))
}

fn text(activity: &AgentActivity) -> String {
    let AgentActivity { agent, claims, zone, last_task_update, last_seen, activity_count } = activity;
    let mut lines = vec![match last_seen {
        Some(at) => format!("{agent} was seen {at}."),
        None => format!("{agent} was never seen."),
    }];
    lines.extend(claims.iter().map(|change| line("holds", change)));
    lines.extend(zone.iter().map(|change| line("zone", change)));
    lines.push(match last_task_update {
        Some(update) => format!("Last task update: {} at {}. Activity count: {activity_count}.", update.task, update.at),
        None => "It has no open task.".to_owned(),
    });
    if activity.is_quiet(db::now()) {
        lines.push(format!(
            "Nothing changed for {} minutes: it may be stuck or gone. Send \"sitrep {agent}\" to it; a lead can reassign its tasks, and take its \
             files with release_file and force.",
            QUIET_AFTER.as_secs() / 60
        ));
    }
    lines.join("\n")
}

fn line(what: &str, change: &FileChange) -> String {
    let FileChange { path, file, modified_at } = change;
    match (modified_at, file) {
        (None, _) => format!("{what} {path}: no such file"),
        (Some(at), None) => format!("{what} {path}: changed {at}"),
        (Some(at), Some(file)) => format!("{what} {path}: last changed {at}, {file}"),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckFreshness {
    /// You, if omitted.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn check_freshness(call: Call, given: CheckFreshness) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let name = match given.agent_name {
        Some(name) => name,
        None => call.name()?,
    };
    let AgentFiles { agent, claims, zone, planned, worktree_of, loaded_at, loaded, .. } = call.db.agent_files(&project, &name).await?;
    let checkout = checkout_for(&call.db, &project, worktree_of.as_ref()).await?;
    // Its run may have read files that are in none of these.
    let read = loaded.keys().filter_map(|path| path.parse::<ClaimPath>().ok()).filter(|path| !path.is_glob()).collect();
    let files = file_times(checkout, [claims, zone, planned, read].concat()).await?;
    let freshness = Freshness::of(agent.name, loaded_at, &loaded, files.into_iter().flatten());
    let mut text = match (freshness.loaded_at, freshness.count()) {
        (None, _) => format!("It is not known when {} loaded its files. It reports this with set_context.", freshness.agent),
        (Some(at), 0) => format!("No file of {} changed since {at}.", freshness.agent),
        (Some(at), 1) => format!("1 file of {} changed since {at}:", freshness.agent),
        (Some(at), count) => format!("{count} files of {} changed since {at}:", freshness.agent),
    };
    for file in &freshness.changed {
        text += &format!("\n{} at {}", file.path, file.modified_at);
    }
    if freshness.further > 0 {
        text += &format!("\nand {} more", freshness.further);
    }
    Ok(Answer::new(text, json!({"freshness": freshness})))
}
