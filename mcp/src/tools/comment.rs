//! Comments: what one role tells the next.

use domain::comment::AuthorRole;
use domain::id::TaskId;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::reply::{Answer, Failure};
use crate::tools::arguments;

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![tool(
        "add_comment",
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
    #[serde(default)]
    author_role: Option<AuthorRole>,
}

async fn add_comment(call: Call, arguments: AddComment) -> Result<Answer, Failure> {
    call.within_reach(&arguments.task_id).await?;
    let comment = call.db.add_comment(&call.caller, &arguments.task_id, &arguments.content, arguments.author_role).await?;
    let data = json!({"comment_id": comment.id, "task_id": comment.task_id});
    Ok(Answer::new(format!("{} is added to {}.", comment.id, comment.task_id), data))
}
