//! Tools with which an agent leaves its successor what it needs, and with which the successor starts.
//!
//! It must not know who gets a handover; it only finds the files, and words a briefing.

mod briefing;

use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::warroom::handover::{HandoverFile, HandoverRefusal, MAX_FILES, NewHandover};
use repo::{Effort, FoundFile, Repository, in_lane};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::checkout::{Checkout, checkout_of};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, remove_descriptions};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "fenix_down",
        description: "Call this before your context is full or you leave: your successor gets the manifest and the files, once.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(EVERY_KIND).adapted(for_managed).listed_to_oracles(),
            human: false,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, fenix_down),
    },
    ToolDefinition {
        name: "cold_start",
        description: "Call this when you start without memory: the plan, the log, your tasks and claims, who is present, and what your predecessor left.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: false, external: External::Everyone, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, cold_start),
    },
];

/// The reminder says when, and describes the arguments.
fn for_managed(_: AgentKind, properties: &mut JsonObject) -> &'static str {
    remove_descriptions(properties);
    "Call this when a reminder tells you to hand over."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FenixDown {
    /// Files of the repository that you wrote for your successor, or that it must read first. They must exist.
    #[schemars(with = "Vec<String>")]
    #[serde(default, deserialize_with = "arguments::list")]
    files: Vec<String>,
    /// The state of the work, the next step, decisions with their reasons, attempts that failed.
    #[schemars(with = "Option<String>")]
    #[serde(default)]
    manifest: String,
}

async fn fenix_down(call: Call, given: FenixDown) -> Result<Answer, Failure> {
    let project = call.project(ProjectArgument::Missing).await?;
    let new = NewHandover { files: find_files(&call, &project, given.files).await?, manifest: given.manifest };
    let handover = call.db.hand_over(&call.caller, &project, new).await?;
    let next = if call.caller.run().is_some() { "End your turn." } else { "Call cold_start to continue with it, or deregister." };
    let files = match handover.files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    Ok(Answer::new(format!("Handover recorded: {files}, manifest of {} bytes. {next}", handover.manifest.len()), json!({"handover": handover})))
}

/// Returns the named files with their sizes.
async fn find_files(call: &Call, project: &ProjectId, mut given: Vec<String>) -> Result<Vec<HandoverFile>, Failure> {
    // The store refuses more files; finding them would take time.
    given.truncate(MAX_FILES + 1);
    let Checkout { git_dir, path: checkout } = checkout_of(call, project).await?;
    let lane = git_dir.clone();
    let find = move || {
        let repository = Repository::open(&git_dir)?;
        let found = given.into_iter().map(|path| Ok((repository.find_file(&checkout, &path)?, path)));
        found.collect::<Result<Vec<_>, repo::RepoError>>()
    };
    let (mut files, mut missing) = (Vec::new(), Vec::new());
    for (found, given) in in_lane(&lane, Effort::Brief, find).await?? {
        match found {
            FoundFile::File { path, bytes } => files.push(HandoverFile { path, bytes }),
            FoundFile::Missing => missing.push(given),
            FoundFile::Outside => return Err(HandoverRefusal::FileOutside { path: given }.into()),
        }
    }
    if missing.is_empty() {
        return Ok(files);
    }
    Err(HandoverRefusal::FilesMissing { count: missing.len(), paths: missing.join(", ") }.into())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ColdStart {
    /// Continue the work of this agent, which handed over and left.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    predecessor: Option<String>,
}

async fn cold_start(call: Call, given: ColdStart) -> Result<Answer, Failure> {
    let project = call.project(ProjectArgument::Missing).await?;
    let briefing = call.db.cold_start(&call.caller, &project, given.predecessor.as_deref()).await?;
    let party = call.db.party(&project).await?;
    Ok(Answer::new(briefing::text(&briefing, &party), json!({"briefing": briefing, "party": party})))
}
