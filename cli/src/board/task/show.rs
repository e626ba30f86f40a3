//! Shows one task. Must not know what belongs to a task; the board answers with it.

use domain::id::TaskId;
use domain::runs::checkpoint::Checkpoint;
use domain::runs::evidence::short;
use domain::runs::run::Run;
use domain::runs::usage::consumption;
use domain::wire::{CommentView, List, TaskView};
use serde::Serialize;

use crate::board::project;
use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// A task with everything that `task show` prints.
#[derive(Debug, Serialize)]
struct WholeTask {
    task: TaskView,
    comments: Vec<CommentView>,
    runs: Vec<Run>,
}

/// Prints a task with its comments, runs and open question.
///
/// # Errors
/// When the board is not running, or the task does not exist.
pub(super) async fn show(client: &Client, id: &TaskId) -> Result<(), CliError> {
    let task: TaskView = client.get(&format!("/api/tasks/{id}")).await?;
    let comments: List<CommentView> = client.get(&format!("/api/tasks/{id}/comments")).await?;
    let runs: List<Run> = client.get(&format!("/api/tasks/{id}/runs")).await?;
    let whole = WholeTask { task, comments: comments.items, runs: runs.items };
    output::data(&whole, print);
    Ok(())
}

fn print(whole: &WholeTask) {
    let WholeTask { task: view, comments, runs } = whole;
    let card = &view.task.card;
    output::line(format!("{} ({})", project::line(card).trim(), card.status));
    if let Some(change) = &card.protected_paths {
        output::line(format!("changes protected paths: {}", change.named()));
    }
    if let Some(description) = &view.task.description {
        output::line("");
        output::quoted(description);
    }
    for comment in comments {
        output::line(format!("\n[{}] {}", comment.comment.author(), comment.comment.created_at));
        output::quoted(&comment.comment.content);
    }
    for run in runs {
        let end = run.end_class.map_or("running", |end| end.as_str());
        let error = run.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        let used = run.consumed();
        let cost = consumption(used.cost_micro_usd, used.tokens()).map(|cost| format!(", {} requests, {cost}", used.turns)).unwrap_or_default();
        output::line(format!("\n{} {} attempt {}: {end}{cost}{error}", run.id, run.phase, run.attempt));
        for checkpoint in &run.checkpoints {
            let Checkpoint { sha, taken_at, files, action, .. } = checkpoint;
            output::line(format!("checkpoint {} at {}, {files} files changed: {action}", short(sha), taken_at.clock()));
        }
        if let Some(why) = &run.checkout_left {
            output::line(format!("its checkout could not be removed; the runner retries every hour: {why}"));
        }
    }
    if let Some(question) = &view.question {
        output::line(format!("\nQuestion: {}", question.question));
        question.options.iter().for_each(|option| output::line(format!("  - {option}")));
        output::line(format!("Answer with `vibe-relay task answer {} TEXT`.", card.id));
    }
}
