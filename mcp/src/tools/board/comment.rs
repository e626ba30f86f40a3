//! The tool that adds a comment to a task.
//!
//! It must not know who reads it.

use db::Caller;
use domain::board::comment::AuthorRole;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, WORKERS};

pub(in crate::tools) const ADD_COMMENT: &str = "add_comment";
pub(in crate::tools) const AUTHOR_ROLE: &str = "author_role";

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: ADD_COMMENT,
    description: "Call this to record on a task what its next reader must know: what you did, found or decided. Markdown.",
    effect: Effect::Writes,
    admission: Admission::Store,
    audience: Audience { managed: Managed::of(WORKERS).adapted(comment_briefly), human: true, external: External::Everyone, invite: false },
    identity_arguments: &[],
    route: |definition| route(definition, add_comment),
}];

fn comment_briefly(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this to record on a task what its next reader must know. Markdown."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddComment {
    #[schemars(with = "String")]
    task_id: TaskId,
    content: String,
    /// Your own role.
    #[schemars(schema_with = "arguments::author_role")]
    #[serde(default, deserialize_with = "arguments::given")]
    author_role: Option<String>,
}

/// Parses the role that the caller claims to write in.
fn check_author_role(caller: &Caller, role: Option<&str>) -> Result<Option<AuthorRole>, Failure> {
    let Some(role) = role else { return Ok(None) };
    if matches!(caller, Caller::Agent(_)) && role != AuthorRole::Agent.as_str() {
        let problem = "it is for managed agents";
        return Err(Refusal::invalid(AUTHOR_ROLE, problem, "Omit it: your comment shows your name.").into());
    }
    match role.parse::<AuthorRole>() {
        Ok(role) => Ok(Some(role)),
        Err(error) => Err(Failure::Arguments { field: Some(AUTHOR_ROLE.to_owned()), problem: error.to_string() }),
    }
}

async fn add_comment(call: Call, arguments: AddComment) -> Result<Answer, Failure> {
    call.require_task_in_project(&arguments.task_id).await?;
    let role = check_author_role(&call.caller, arguments.author_role.as_deref())?;
    let comment = call.db.add_comment(&call.caller, &arguments.task_id, &arguments.content, role).await?;
    let data = json!({"comment_id": comment.id, "task_id": comment.task_id});
    Ok(Answer::new(format!("{} was added to {}.", comment.id, comment.task_id), data))
}
