//! Tools that set and read the zones of a repository.
//!
//! It must not know which paths are acceptable.

use domain::refusal::Refusal;
use domain::warroom::claim::ClaimPath;
use domain::warroom::zone::{NewZone, Zone, zone_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, Need, PLANNERS};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "set_zone",
        description: "Call this as a lead to name a part of the repository. It replaces the zone of that name.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(PLANNERS).listed_for(Need::Never), human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, set_zone),
    },
    ToolDefinition {
        name: "get_zones",
        description: "Call this to see the zones of the repository, and whom to ask about each.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::of(EVERY_KIND).listed_for(Need::Never), human: true, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, get_zones),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetZone {
    /// A word, such as audio.
    name: String,
    /// Folders (src/parser/), files and patterns (src/*.rs).
    #[schemars(with = "Vec<String>")]
    #[serde(deserialize_with = "arguments::list")]
    paths: Vec<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    owner: Option<String>,
    /// The agent or person that knows it.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    oracle: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn set_zone(call: Call, given: SetZone) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let new = NewZone { name: given.name, paths: given.paths, owner: given.owner, oracle: given.oracle };
    let zone = call.db.set_zone(&call.caller, &project, new).await?;
    Ok(Answer::new(format!("Set the zone {}", worded(&zone)), json!({"zone": zone})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetZones {
    /// Only the zone of this file.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    path: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn get_zones(call: Call, given: GetZones) -> Result<Answer, Failure> {
    let mut zones = call.db.zones(&call.project(given.project).await?).await?;
    if let Some(given) = given.path {
        let path: ClaimPath = given.parse().map_err(Refusal::from)?;
        zones = zone_of(&zones, &path).cloned().into_iter().collect();
        if zones.is_empty() {
            return Ok(Answer::new(format!("{path} is in no zone."), json!({"zones": []})));
        }
    }
    let lines: Vec<String> = zones.iter().map(worded).collect();
    let text = if lines.is_empty() { "The project has no zones. A lead sets one with set_zone.".to_owned() } else { lines.join("\n") };
    Ok(Answer::new(text, json!({"zones": zones})))
}

fn worded(zone: &Zone) -> String {
    let paths: Vec<&str> = zone.paths.iter().map(ClaimPath::as_str).collect();
    let staff = [("owner", &zone.owner), ("oracle", &zone.oracle)];
    let staff = staff.iter().filter_map(|(role, name)| Some(format!("; {role} {}", name.as_ref()?)));
    format!("{}: {}{}", zone.name, paths.join(", "), staff.collect::<String>())
}
