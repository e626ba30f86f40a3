//! The tool that submits the result of a task.
//!
//! It must not know which parts a result has.

use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::text::excerpt;
use domain::warroom::result::{MAX_RESULT_BYTES, NewTaskResult, ResultRefusal};
use repo::{Effort, Repository, TextFile, in_lane};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::checkout::{Checkout, checkout_of};
use crate::reply::{Answer, Failure};
use crate::tools::arguments;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

/// The most characters of a path that a refusal repeats.
const MAX_SHOWN: usize = 80;

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "submit_result",
    description: "Call this before your task is closed: what you tried, what worked and what did not, what the next agent should know, with file:line citations.",
    effect: Effect::Writes,
    admission: Admission::Store,
    audience: Audience { managed: Managed::NOBODY, human: true, external: External::Everyone, invite: false },
    identity_arguments: &["agent_name"],
    route: |definition| route(definition, submit_result),
}];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubmitResult {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// The text, with a heading for each part.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    content: Option<String>,
    /// A file of the repository with the text instead.
    #[schemars(with = "Option<String>")]
    #[serde(default, alias = "file_path", deserialize_with = "arguments::given")]
    result_file: Option<String>,
}

async fn submit_result(call: Call, given: SubmitResult) -> Result<Answer, Failure> {
    call.require_task_in_project(&given.task_id).await?;
    let project = call.db.card(&given.task_id).await?.project_id;
    let (content, file) = text_or_file(&call, &project, "content", given.content, given.result_file).await?;
    let result = call.db.submit_result(&call.caller, &given.task_id, NewTaskResult { content, file }).await?;
    let text = format!("The result of {} is stored. A lead closes the task with close_task.", result.task_id);
    Ok(Answer::new(text, json!({"result": result})))
}

/// Returns the given text, or that of a file of the repository with its path. The text is stored, because a path alone would name other words as
/// soon as the file changes, and nothing once the checkout is removed.
pub(super) async fn text_or_file(
    call: &Call,
    project: &ProjectId,
    argument: &'static str,
    text: Option<String>,
    file: Option<String>,
) -> Result<(String, Option<String>), Failure> {
    match (text, file) {
        (Some(text), None) => Ok((text, None)),
        (None, Some(file)) => {
            let read = read(call, project, file.clone()).await?;
            let TextFile { path, content } = read.ok_or_else(|| ResultRefusal::NoFile { path: excerpt(&file, MAX_SHOWN) })?;
            Ok((content, Some(path)))
        }
        (None, None) => {
            Err(Refusal::invalid(argument, "it is missing", "Give the text, or the path of a file of the repository that has it.").into())
        }
        (Some(_), Some(_)) => {
            Err(Refusal::invalid(argument, "it is given together with a file", "Give either the text or the path of the file.").into())
        }
    }
}

/// Reads a file of the person's checkout or of any other checkout of the repository. An external agent may have one of its own.
async fn read(call: &Call, project: &ProjectId, file: String) -> Result<Option<TextFile>, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let Checkout { git_dir, path: checkout } = checkout_of(call, project).await?;
    let most = u64::try_from(MAX_RESULT_BYTES).unwrap_or(u64::MAX);
    Ok(in_lane(&git_dir.clone(), Effort::Brief, move || Repository::open(&git_dir)?.text_file(&checkout, &file, most)).await??)
}
