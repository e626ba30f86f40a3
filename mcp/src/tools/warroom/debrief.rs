//! Tools that file a debrief, and end the session of the war room.
//!
//! It must not know what keeps a session from ending.

use domain::warroom::debrief::NewDebrief;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::result::text_or_file;
use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "debrief",
        description: "Call this as a lead before end_session: what was achieved, what was not, and what the next session should start with.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, debrief),
    },
    ToolDefinition {
        name: "end_session",
        description: "Call this as a lead when all tasks are closed and a debrief is filed. Battle plans are completed, and `low` entries leave the raid log.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, end_session),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileDebrief {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    summary: Option<String>,
    /// A file of the repository with the summary instead.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    debrief_file: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn debrief(call: Call, given: FileDebrief) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let (summary, _) = text_or_file(&call, &project, "summary", given.summary, given.debrief_file).await?;
    let debrief = call.db.debrief(&call.caller, &project, NewDebrief { summary }).await?;
    Ok(Answer::new(format!("Debrief #{} is filed. end_session ends the session.", debrief.id), json!({"debrief": debrief})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EndSession {
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn end_session(call: Call, given: EndSession) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let ended = call.db.end_session(&call.caller, &project).await?;
    let waiting = ended.waiting.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut text = "The session has ended, and the next one starts with a new battle plan.".to_owned();
    if !waiting.is_empty() {
        text += &format!(
            " These tasks wait, so decide first whether they are still needed: {waiting}. Call update_task for each, with the status stale, obsolete or ready."
        );
    }
    Ok(Answer::new(text, json!({"session": ended})))
}
