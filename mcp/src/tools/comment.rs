//! Comments: what one role tells the next.

use db::Caller;
use domain::board::comment::AuthorRole;
use domain::id::TaskId;
use domain::refusal::Refusal;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::reply::{Answer, Failure};
use crate::tools::arguments;

pub(super) const ADD_COMMENT: &str = "add_comment";
pub(super) const AUTHOR_ROLE: &str = "author_role";

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![tool(
        ADD_COMMENT,
        "Use it to say what the next reader of a task must know: what you did, what is wrong (file and line), what you decided. Markdown.",
        Effect::Writes,
        add_comment,
    )]
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

/// The role that the caller says it speaks in.
fn claimed(caller: &Caller, role: Option<&str>) -> Result<Option<AuthorRole>, Failure> {
    let Some(role) = role else { return Ok(None) };
    if matches!(caller, Caller::Agent(_)) && role != AuthorRole::Agent.as_str() {
        let problem = "it is for the agents that the board runs";
        return Err(Refusal::invalid(AUTHOR_ROLE, problem, "Leave it out: what you write stands under your name.").into());
    }
    match role.parse::<AuthorRole>() {
        Ok(role) => Ok(Some(role)),
        Err(error) => Err(Failure::Arguments { field: Some(AUTHOR_ROLE.to_owned()), problem: error.to_string() }),
    }
}

async fn add_comment(call: Call, arguments: AddComment) -> Result<Answer, Failure> {
    call.within_reach(&arguments.task_id).await?;
    let role = claimed(&call.caller, arguments.author_role.as_deref())?;
    let comment = call.db.add_comment(&call.caller, &arguments.task_id, &arguments.content, role).await?;
    let data = json!({"comment_id": comment.id, "task_id": comment.task_id});
    Ok(Answer::new(format!("{} is added to {}.", comment.id, comment.task_id), data))
}
