//! Tools that claim files before they are edited, and pass them on.
//!
//! It must not know who gets a file; it only finds its one name in the repository.

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::text::excerpt;
use domain::warroom::claim::refusal::ClaimRefusal;
use domain::warroom::claim::{Claim, ClaimPath, ClaimWait, EditDecision};
use domain::warroom::zone::lookup::zone_of;
use repo::{Effort, Repository, in_lane};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::checkout::{Checkout, checkout_of};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CODER_ONLY, EVERY_KIND, Managed, Need};

/// The most characters of a path that a refusal repeats.
const MAX_SHOWN: usize = 80;

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "claim_file",
        description: "Call this before you edit a file: only one agent holds it. If another does, you are in line, and a message says when it is yours.",
        effect: Effect::Writes,
        admission: Admission::Store,
        // Before each edit.
        audience: Audience { managed: Managed::of(CODER_ONLY).listed_for(Need::Hook), human: true, external: External::Everyone, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, claim_file),
    },
    ToolDefinition {
        name: "release_file",
        description: "Call this when you no longer edit a file that you claimed: the next agent in line gets it.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(CODER_ONLY)
                .listed_for(Need::ClaimWait)
                .hiding(&[("force", Need::Never), ("reason", Need::Never)])
                .adapted(release_own),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, release_file),
    },
    ToolDefinition {
        name: "get_claims",
        description: "Call this to see which agent holds which files of the repository, and who waits for them.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::of(EVERY_KIND).listed_for(Need::Never), human: true, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, get_claims),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaimFile {
    /// A file, a folder (src/parser/) or a pattern (src/*.rs) of the repository.
    file_path: String,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn claim_file(call: Call, given: ClaimFile) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    if call.caller.run().is_some() {
        return claim_for_edit(&call, &project, given.file_path).await;
    }
    let path = locate(&call, &project, given.file_path).await?;
    let claim = call.db.claim_file(&call.caller, &project, &path).await?.into_claim(&path)?;
    Ok(Answer::new(format!("{} is yours. release_file passes it on.", claim.path), json!({"claim": claim})))
}

/// Decides about an edit that a managed agent is about to make. The text is what its model should know, if anything.
async fn claim_for_edit(call: &Call, project: &ProjectId, given: String) -> Result<Answer, Failure> {
    let path = match locate(call, project, given).await {
        Ok(path) => path,
        // The agent may write what no repository contains, such as a file in /tmp. The changes of commands on
        // the whole repository are compared when the work is submitted.
        Err(Failure::Store(db::Error::Refused(Refusal::Claim(ClaimRefusal::Outside { .. } | ClaimRefusal::WholeRepository)))) => {
            return Ok(Answer::new("", json!({})));
        }
        Err(failure) => return Err(failure),
    };
    let warning = match call.db.claim_for_edit(&call.caller, project, &path).await? {
        EditDecision::Allowed => String::new(),
        EditDecision::Warned { outcome } => outcome.into_claim(&path).err().map(|refusal| refusal.to_string()).unwrap_or_default(),
        EditDecision::Refused { outcome } => outcome.into_claim(&path).map(|_| String::new())?,
    };
    Ok(Answer::new(warning, json!({})))
}

/// Its edits claimed the file, and it is not listed get_claims.
fn release_own(_: AgentKind, properties: &mut JsonObject) -> &'static str {
    properties["file_path"] = json!({"type": "string"});
    "Call this when another agent waits for a file that you no longer edit."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReleaseFile {
    /// As get_claims shows it.
    file_path: String,
    /// For a lead: take it from its holder.
    #[schemars(with = "Option<bool>")]
    #[serde(default, deserialize_with = "arguments::flag")]
    force: Option<bool>,
    /// Why it is taken from its holder.
    reason: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn release_file(call: Call, given: ReleaseFile) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let path = locate(&call, &project, given.file_path).await?;
    let force = given.force.unwrap_or(false).then(|| given.reason.unwrap_or_default());
    let claim = call.db.release_file(&call.caller, &project, &path, force.as_deref()).await?;
    Ok(Answer::new(format!("{}, which {} held, is released.", claim.path, claim.agent), json!({"claim": claim})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetClaims {
    /// Only those of this agent.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn get_claims(call: Call, given: GetClaims) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let claims = call.db.claims(&project, given.agent_name.as_deref()).await?;
    let zones = call.db.zones(&project).await?;
    let zone = |path: &ClaimPath| zone_of(&zones, path).map(|zone| zone.name.as_str());
    let place = |path: &ClaimPath| zone(path).map_or_else(|| path.to_string(), |zone| format!("{path} (zone {zone})"));
    let held = claims.claims.iter().map(|Claim { path, agent, claimed_at, .. }| format!("{}: {agent} since {}", place(path), claimed_at.clock()));
    let waits =
        claims.waits.iter().map(|ClaimWait { path, agent, since, .. }| format!("{}: {agent} has been waiting since {}", place(path), since.clock()));
    let mut text = held.chain(waits).collect::<Vec<_>>().join("\n");
    if text.is_empty() {
        text += "No claims.";
    }
    let mut data = json!(claims);
    for (list, paths) in [("claims", paths(&claims.claims, |claim| &claim.path)), ("waits", paths(&claims.waits, |wait| &wait.path))] {
        for (place, path) in paths.into_iter().enumerate() {
            if let Some(zone) = zone(path) {
                data[list][place]["zone"] = json!(zone);
            }
        }
    }
    Ok(Answer::new(text, data))
}

fn paths<T>(items: &[T], path: fn(&T) -> &ClaimPath) -> Vec<&ClaimPath> {
    items.iter().map(path).collect()
}

/// Returns the one name of a path in the repository of the project. A relative path begins at its root.
async fn locate(call: &Call, project: &ProjectId, given: String) -> Result<ClaimPath, Failure> {
    // Refuses an invalid path before the disk is read.
    let shown = match given.starts_with('/') {
        true => given.clone(),
        false => ClaimPath::parse(&given, &[])?.to_string(),
    };
    let Checkout { git_dir, path } = checkout_of(call, project).await?;
    let located = in_lane(&git_dir.clone(), Effort::Brief, move || Repository::open(&git_dir)?.locate(&path, &given)).await??;
    let Some(inside) = located else { return Err(ClaimRefusal::Outside { path: excerpt(&shown, MAX_SHOWN) }.into()) };
    if inside.is_empty() {
        return Err(ClaimRefusal::WholeRepository.into());
    }
    Ok(ClaimPath::parse(&inside, &[])?)
}
