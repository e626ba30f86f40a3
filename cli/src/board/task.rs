//! `vibe-relay task`: adds, shows, moves and controls tasks. Must not know the rules for them.

use std::path::Path;

use clap::Subcommand;
use domain::board::status::Status;
use domain::board::task::retry::{RetryOptions, RetrySession, RetryTree};
use domain::board::task::{NewTask, TaskPatch};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::checkpoint::Checkpoint;
use domain::runs::evidence::short;
use domain::runs::run::Run;
use domain::runs::usage::consumption;
use domain::wire::{CommentView, List, TaskView, TextBody};
use serde_json::json;

use crate::board::project;
use crate::client::Client;
use crate::error::CliError;
use crate::output;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a task to a project.
    Add {
        /// Project id, for example PROJ-001.
        project: String,
        title: String,
        #[arg(long)]
        description: Option<String>,
        /// Allow an agent to start at once.
        #[arg(long)]
        start: bool,
    },
    /// Show a task with its comments and runs.
    Show {
        /// Task id, for example TASK-001.
        task: String,
    },
    /// Move a task: backlog, in_progress, in_review, done or cancelled.
    Move {
        /// Task id, for example TASK-001.
        task: String,
        status: String,
        /// Reason, if the move requires one.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Add a comment.
    Comment {
        /// Task id, for example TASK-001.
        task: String,
        text: String,
    },
    /// Answer the agent's question.
    Answer {
        /// Task id, for example TASK-001.
        task: String,
        text: String,
    },
    /// Allow an agent to start.
    Start {
        /// Task id, for example TASK-001.
        task: String,
    },
    /// Stop the task's agent and hold the task.
    Stop {
        /// Task id, for example TASK-001.
        task: String,
    },
    /// Raise the limit that the task waits for, or its own: add it once more.
    Raise {
        /// Task id, for example TASK-001.
        task: String,
    },
    /// Retry a task that needs attention.
    Retry {
        /// Task id, for example TASK-001.
        task: String,
        /// Begin a new session instead of continuing the last one.
        #[arg(long)]
        fresh: bool,
        /// Begin in a new worktree from the project branch. A rescue ref keeps the content of the old one.
        #[arg(long)]
        base: bool,
        /// Begin with the files of a checkpoint that `task show` lists, and in a new session. A rescue ref keeps the present content.
        #[arg(long, conflicts_with = "base", value_name = "SHA")]
        checkpoint: Option<String>,
        /// Another model for this and later attempts.
        #[arg(long)]
        model: Option<String>,
        /// A comment that the agent reads.
        #[arg(long)]
        note: Option<String>,
    },
}

/// Runs the command.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let view: TaskView = match command {
        Command::Add { project, title, description, start } => {
            let new = NewTask { title, description, start, ..NewTask::default() };
            client.post(&format!("/api/projects/{}/tasks", project.parse::<ProjectId>()?), &new).await?
        }
        Command::Show { task } => return show(&client, &task.parse()?).await,
        Command::Move { task, status, reason } => {
            let status: Status = status.parse().map_err(|error: domain::UnknownValue| {
                CliError::Store(Refusal::invalid("status", error.to_string(), "Use one of these statuses.").into())
            })?;
            let patch = TaskPatch { status: Some(status), reason, ..TaskPatch::default() };
            client.patch(&path(&task)?, &patch).await?
        }
        Command::Comment { task, text } => {
            let comment: CommentView = client.post(&format!("{}/comments", path(&task)?), &TextBody { content: text }).await?;
            output::line(format!("{} on {}", comment.comment.id, comment.comment.task_id));
            return Ok(());
        }
        Command::Answer { task, text } => client.post(&format!("{}/answer", path(&task)?), &TextBody { content: text }).await?,
        Command::Start { task } => client.post(&format!("{}/start", path(&task)?), &json!({})).await?,
        Command::Stop { task } => client.post(&format!("{}/stop", path(&task)?), &json!({})).await?,
        Command::Raise { task } => client.post(&format!("{}/raise", path(&task)?), &json!({})).await?,
        Command::Retry { task, fresh, base, checkpoint, model, note } => {
            let (session, tree) = (fresh.then_some(RetrySession::Fresh), base.then_some(RetryTree::Base));
            client.post(&format!("{}/retry", path(&task)?), &RetryOptions { session, tree, checkpoint, model, note }).await?
        }
    };
    output::line(format!("{} ({})", project::line(&view.task.card).trim(), view.task.card.status));
    if let Some(note) = view.note {
        output::line(note);
    }
    Ok(())
}

fn path(task: &str) -> Result<String, CliError> {
    Ok(format!("/api/tasks/{}", task.parse::<TaskId>()?))
}

async fn show(client: &Client, id: &TaskId) -> Result<(), CliError> {
    let view: TaskView = client.get(&format!("/api/tasks/{id}")).await?;
    let card = &view.task.card;
    output::line(format!("{} ({})", project::line(card).trim(), card.status));
    if let Some(change) = &card.protected_paths {
        output::line(format!("changes protected paths: {}", change.named()));
    }
    if let Some(description) = &view.task.description {
        output::line("");
        output::quoted(description);
    }
    let comments: List<CommentView> = client.get(&format!("/api/tasks/{id}/comments")).await?;
    for comment in comments.items {
        output::line(format!("\n[{}] {}", comment.comment.author(), comment.comment.created_at));
        output::quoted(&comment.comment.content);
    }
    let runs: List<Run> = client.get(&format!("/api/tasks/{id}/runs")).await?;
    for run in runs.items {
        let end = run.end_class.map_or("running", |end| end.as_str());
        let error = run.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        let used = run.consumed();
        let cost = consumption(used.cost_micro_usd, used.tokens()).map(|cost| format!(", {} requests, {cost}", used.turns)).unwrap_or_default();
        output::line(format!("\n{} {} attempt {}: {end}{cost}{error}", run.id, run.phase, run.attempt));
        for checkpoint in &run.checkpoints {
            let Checkpoint { sha, taken_at, files, action, .. } = checkpoint;
            output::line(format!("checkpoint {} at {}, {files} files changed: {action}", short(sha), taken_at.clock()));
        }
        if let Some(why) = run.checkout_left {
            output::line(format!("its checkout could not be removed; the runner retries every hour: {why}"));
        }
    }
    if let Some(question) = view.question {
        output::line(format!("\nQuestion: {}\nAnswer with `vibe-relay task answer {id} TEXT`.", question.question));
    }
    Ok(())
}
