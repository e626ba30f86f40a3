//! `vibe-relay interrupt`: ends what the agent of a task does now. Must not know how the agent is told.

use std::path::Path;

use domain::runs::run::Run;
use domain::wire::{InterruptOptions, TaskView};

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output::{self, text_or_input};

/// Interrupts the agent of a task, which goes on with `message` or waits for one.
///
/// # Errors
/// When the board is not running, or the task has no running agent.
pub(crate) async fn run(config: Option<&Path>, task: &str, message: Option<String>) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let task = id::task(task)?;
    let view: TaskView = client.get(&format!("/api/tasks/{task}")).await?;
    let run = view.task.card.run.ok_or_else(|| CliError::NoAgent { task: task.clone() })?.id;
    let waits = message.is_none();
    let options = InterruptOptions { message: message.map(text_or_input).transpose()? };
    let run: Run = client.post(&format!("/api/runs/{run}/interrupt"), &options).await?;
    let outcome = if waits {
        format!("{task} is interrupted: its agent waits for a message (`vibe-relay interrupt {task} --message TEXT`)")
    } else {
        format!("{task} is interrupted: its agent continues with your message")
    };
    output::data(&run, |_| output::line(outcome));
    Ok(())
}
