//! Comments: what one role tells the next.

use domain::comment::AuthorRole;
use domain::id::TaskId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::Call;
use crate::reply::{Answer, Failure};
use crate::tools::arguments;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddComment {
    #[schemars(with = "String")]
    task_id: TaskId,
    content: String,
    /// Your own role.
    #[schemars(schema_with = "arguments::author_role")]
    #[serde(default)]
    author_role: Option<AuthorRole>,
}

pub(crate) async fn add_comment(call: Call, arguments: AddComment) -> Result<Answer, Failure> {
    let comment = call.db.add_comment(&call.caller, &arguments.task_id, &arguments.content, arguments.author_role).await?;
    Ok(Answer {
        text: format!("{} is added to {}.", comment.id, comment.task_id),
        data: json!({"comment_id": comment.id, "task_id": comment.task_id}),
    })
}
