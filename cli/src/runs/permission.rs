//! `vibe-relay permission`: shows what the agent of a task asks to do, and answers it. Must not know how the agent gets the answer.

use std::path::Path;

use domain::runs::permission::{PermissionAnswer, PermissionRequest};
use domain::wire::{PermissionDecision, TaskView};

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output;

/// Answers the oldest open request of a task's agent, or lists the open ones without an answer.
///
/// # Errors
/// When the board is not running, or the agent asks nothing.
pub(crate) async fn run(config: Option<&Path>, task: &str, answer: Option<PermissionAnswer>, reason: Option<String>) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let task = id::task(task)?;
    let view: TaskView = client.get(&format!("/api/tasks/{task}")).await?;
    let first = view.permissions.first().ok_or_else(|| CliError::NoPermission { task: task.clone() })?;
    let Some(answer) = answer else {
        output::data(&view.permissions, |requests| {
            requests.iter().for_each(show);
            output::line(format!("Answer: vibe-relay permission {task} allow|deny|always [--reason TEXT]"));
        });
        return Ok(());
    };
    let decision = PermissionDecision { request: first.id, answer, reason };
    let answered: PermissionRequest = client.post(&format!("/api/runs/{}/permission", first.run_id), &decision).await?;
    output::data(&answered, |answered| {
        show(answered);
        output::line(format!("{task}: {answer}"));
    });
    Ok(())
}

fn show(request: &PermissionRequest) {
    output::line(format!("{} of {}", request.tool, request.run_id));
    output::quoted(&request.input);
    if let Some(rule) = &request.rule {
        output::line(format!("always: {} until the task is done", rule.sentence()));
    }
}
