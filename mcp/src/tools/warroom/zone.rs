//! Tools that set and read the zones of a repository.
//!
//! It must not know which paths are acceptable.

use std::path::Path;

use domain::refusal::Refusal;
use domain::warroom::claim::ClaimPath;
use domain::warroom::zone::coverage::ZoneCoverage;
use domain::warroom::zone::lookup::zone_of;
use domain::warroom::zone::proposal::ProposalSource;
use domain::warroom::zone::{NewZone, Zone};
use repo::KeptCodeMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, Need, PLANNERS};

/// The parts in no zone that a text names.
const SHOWN: usize = 5;

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
        name: "propose_zones",
        description: "Call this as a lead to get proposals of zones, from the file CODEOWNERS or from the code map. Nothing is set.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::of(PLANNERS).listed_for(Need::Never), human: true, external: External::Leads, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, propose_zones),
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
struct ProposeZones {
    #[schemars(schema_with = "arguments::proposal_source")]
    from: ProposalSource,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn propose_zones(call: Call, given: ProposeZones) -> Result<Answer, Failure> {
    let project = call.db.project(&call.project(given.project).await?).await?;
    let code_map = KeptCodeMap::folder(&call.db.folder(), project.id.as_str());
    let found = repo::read_proposal_source(given.from, Path::new(&project.git_dir), project.base_branch, code_map).await?;
    let found = call.db.propose_zones(&project.id, &found).await?;
    let proposals = found.proposals.iter().map(|proposal| {
        let owner = proposal.zone.owner.iter().map(|owner| format!("; owner {owner}"));
        let note = proposal.note.iter().map(|note| format!("; {note}"));
        format!("{}: {}{}", proposal.zone.name, proposal.zone.paths.join(", "), owner.chain(note).collect::<String>())
    });
    let mut lines: Vec<String> = proposals.collect();
    lines.push(if lines.is_empty() { "Nothing to propose.".to_owned() } else { "Nothing is set yet. Call set_zone for those that fit.".to_owned() });
    lines.extend(found.skipped.iter().map(|skipped| format!("Skipped: {skipped}")));
    Ok(Answer::new(lines.join("\n"), json!({"zone_proposals": found})))
}

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
    /// The agent or person that knows it; managed: the runner starts one when asked.
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
    let project = call.db.project(&call.project(given.project).await?).await?;
    let mut zones = call.db.zones(&project.id).await?;
    if let Some(given) = given.path {
        let path: ClaimPath = given.parse().map_err(Refusal::from)?;
        zones = zone_of(&zones, &path).cloned().into_iter().collect();
        let text = zones.first().map_or_else(|| format!("{path} is in no zone."), worded);
        return Ok(Answer::new(text, json!({"zones": zones})));
    }
    if zones.is_empty() {
        return Ok(Answer::new("The project has no zones. A lead sets one with set_zone.", json!({"zones": []})));
    }
    let branches = vec![project.integration_branch, project.base_branch];
    let covered = zones.clone();
    let coverage = repo::with_commit_files(Path::new(&project.git_dir), branches, move |files| ZoneCoverage::of(&covered, files)).await?;
    let lines = zones.iter().map(worded).chain(open_parts(&coverage));
    Ok(Answer::new(lines.collect::<Vec<_>>().join("\n"), json!({"zones": zones, "coverage": coverage})))
}

/// The gaps of zones, each on a line.
pub(super) fn open_parts(coverage: &ZoneCoverage) -> Vec<String> {
    let parts: Vec<&str> = coverage.uncovered.iter().take(SHOWN).map(|part| part.path.as_str()).collect();
    let uncovered = (!parts.is_empty()).then(|| format!("In no zone: {} files, most in {}.", coverage.uncovered_files, parts.join(", ")));
    let without = (!coverage.without_oracle.is_empty()).then(|| format!("Without an oracle: {}.", coverage.without_oracle.join(", ")));
    uncovered.into_iter().chain(without).collect()
}

fn worded(zone: &Zone) -> String {
    let paths: Vec<&str> = zone.paths.iter().map(ClaimPath::as_str).collect();
    let staff = [("owner", &zone.owner), ("oracle", &zone.oracle)];
    let staff = staff.iter().filter_map(|(role, name)| Some(format!("; {role} {}", name.as_ref()?)));
    format!("{}: {}{}", zone.name, paths.join(", "), staff.collect::<String>())
}
