//! A tool that shows how much work each part of a repository takes.
//!
//! It must not know how work is attributed.

use std::path::Path;

use domain::warroom::heat_map::{HeatMap, ZoneHeat};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::zone::open_parts;
use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::ProjectArgument;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, Need, PLANNERS};

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "get_heat_map",
    description: "Call this to see which zones take the most work: activity, send-backs, conflicts and cost of the last 30 days.",
    effect: Effect::Reads,
    admission: Admission::ActiveReader,
    audience: Audience { managed: Managed::of(PLANNERS).listed_for(Need::Never), human: true, external: External::Leads, invite: false },
    identity_arguments: &[],
    route: |definition| route(definition, get_heat_map),
}];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetHeatMap {
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn get_heat_map(call: Call, given: GetHeatMap) -> Result<Answer, Failure> {
    let project = call.db.project(&call.project(given.project).await?).await?;
    let facts = call.db.heat_facts(&project.id).await?;
    let branches = vec![project.integration_branch, project.base_branch];
    let map = repo::with_commit_files(Path::new(&project.git_dir), branches, move |files| HeatMap::of(&facts, files)).await?;
    Ok(Answer::new(text(&map), json!({"heat_map": map})))
}

fn text(map: &HeatMap) -> String {
    let mut rows: Vec<&ZoneHeat> = map.zones.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.heat));
    let mut lines: Vec<String> = rows.into_iter().map(line).collect();
    if map.tasks_without_files > 0 {
        lines.push(format!("{} of {} tasks name no files.", map.tasks_without_files, map.tasks));
    }
    lines.extend(open_parts(&map.coverage));
    lines.join("\n")
}

fn line(row: &ZoneHeat) -> String {
    let name = row.zone.as_deref().unwrap_or("(no zone)");
    let cents = row.cost_micro_usd / 10_000;
    format!(
        "{name}: heat {}, {} tasks ({} open), {} runs, {} updates, {} send-backs, {} conflicts, ${}.{:02}, {} files",
        row.heat,
        row.tasks,
        row.open_tasks,
        row.runs,
        row.updates,
        row.send_backs,
        row.conflicts,
        cents / 100,
        cents % 100,
        row.files
    )
}
