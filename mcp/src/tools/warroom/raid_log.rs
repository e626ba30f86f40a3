//! Tools that write and read the raid log.
//!
//! It must not know how long entries are kept.

use db::RaidLogQuery;
use domain::warroom::raid_log::{NewRaidLogEntry, Priority, RaidLogEntry};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CODER_ONLY, EVERY_KIND, Managed, Need, PLANNERS};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "log_raid",
        description: "Call this to log a decision, blocker or discovery for later agents.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(EVERY_KIND).listed_for(Need::RaidLog).unlisted_for(CODER_ONLY),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, log_raid),
    },
    ToolDefinition {
        name: "get_raid_log",
        description: "Call this to read what was decided and found, newest first.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience {
            managed: Managed::of(PLANNERS).listed_for(Need::RaidLog).hiding(&[
                ("agent_name", Need::Never),
                ("before", Need::Never),
                ("count", Need::Never),
            ]),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &[],
        route: |definition| route(definition, get_raid_log),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LogRaid {
    entry: String,
    #[schemars(schema_with = "arguments::raid_priority")]
    #[serde(default, deserialize_with = "arguments::given")]
    priority: Option<Priority>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn log_raid(call: Call, given: LogRaid) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let entry = call.db.log_raid(&call.caller, &project, NewRaidLogEntry { entry: given.entry, priority: given.priority }).await?;
    Ok(Answer::new(format!("Entry #{} is in the raid log, priority {}.", entry.id, entry.priority), json!({"entry": entry})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetRaidLog {
    /// This priority and above.
    #[schemars(schema_with = "arguments::raid_priority")]
    #[serde(default, deserialize_with = "arguments::given")]
    priority: Option<Priority>,
    /// By default 20.
    #[schemars(with = "Option<u32>")]
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    count: Option<u32>,
    /// Its author.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    /// Entries before this one.
    #[schemars(with = "Option<i64>")]
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    before: Option<i64>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn get_raid_log(call: Call, given: GetRaidLog) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let query = RaidLogQuery { priority: given.priority, agent: given.agent_name, before: given.before, limit: given.count };
    let mut entries = call.db.raid_log(&call.caller, &project, &query).await?;
    entries.reverse();
    let (mut shown, older) = page::newest_that_fit(entries.iter().map(|entry| json!(entry)).collect());
    shown.reverse();
    let lines: Vec<String> = entries[older..].iter().rev().map(worded).collect();
    let mut text = if lines.is_empty() { "The raid log has no such entries.".to_owned() } else { lines.join("\n") };
    if let Some(last) = entries.get(older).filter(|_| older > 0) {
        text += &format!("\n({older} more do not fit: call get_raid_log with before={})", last.id);
    }
    Ok(Answer::new(text, json!({"entries": shown})))
}

fn worded(entry: &RaidLogEntry) -> String {
    format!("#{} [{}] {} {}: {}", entry.id, entry.priority, entry.author, entry.created_at, entry.entry)
}
