//! `vibe-relay task`: adds, lists, shows, changes and controls tasks. Must not know the rules for them.

mod list;
mod log;
mod show;

use std::path::Path;

use clap::Subcommand;
use domain::board::card::Card;
use domain::board::status::{CancelReason, Status};
use domain::board::task::retry::{RetryOptions, RetrySession, RetryTree};
use domain::board::task::{NewTask, TaskPatch};
use domain::id::TaskId;
use domain::runs::diff::Diff;
use domain::runs::run::Run;
use domain::wire::{CommentView, TaskView, TextBody};
use serde_json::json;

use self::list::Filter;
use crate::board::project;
use crate::client::Client;
use crate::error::CliError;
use crate::output::{self, text_or_input};
use crate::runs::parking;
use crate::{id, number, runs, vocabulary};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the open tasks of a project.
    List(Filter),
    /// Add a task to a project.
    Add(Add),
    /// Show a task with its comments and runs.
    Show {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
    },
    /// Change a task. Omitted options leave the rest as it is.
    Edit(Edit),
    /// Show what the work of a task changes.
    Diff {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
    },
    /// Print what the last agent of a task said and did.
    Log {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// Keep printing what the agent does until it ends.
        #[arg(long, short)]
        follow: bool,
    },
    /// Send a message to the agent of a task.
    Message {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// The message; - for standard input.
        text: String,
    },
    /// Move a task to another status.
    Move {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// The new status.
        #[arg(value_parser = vocabulary::one_of(Status::ALL, Status::as_str))]
        status: Status,
        /// Reason. To cancel: failed, abandoned, obsolete or duplicate; to send back: the needed change. - for standard input.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Cancel a task that is not needed. Its history stays, and a rescue ref keeps its unmerged work.
    #[command(visible_alias = "cancel")]
    Delete {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// Why it is not needed. Tasks that depend on it can start if it is obsolete or a duplicate.
        #[arg(long, default_value = "obsolete", value_parser = vocabulary::one_of(CancelReason::ALL, CancelReason::as_str))]
        reason: CancelReason,
    },
    /// Add a comment.
    Comment {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// The comment; - for standard input.
        text: String,
    },
    /// Answer the agent's question.
    Answer {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// The answer; - for standard input.
        text: String,
    },
    /// Allow an agent to start.
    Start {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
    },
    /// Stop the task's agent and hold the task.
    Stop {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
    },
    /// Raise the limit that the task waits for, or its own, by the original amount.
    Raise {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
    },
    /// Retry a task that needs attention.
    Retry(Retry),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// Project id or number, for example PROJ-001 or 1.
    project: String,
    /// Title; - for standard input.
    title: String,
    /// The work and its acceptance criteria; - for standard input.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Tasks to be done first; separate several with commas, or repeat the option.
    #[arg(long, value_name = "TASK", value_delimiter = ',', value_parser = id::task)]
    depends_on: Vec<TaskId>,
    /// Higher values start first.
    #[arg(long, allow_negative_numbers = true, value_parser = number::whole::<i64>)]
    priority: Option<i64>,
    /// The model of its agents.
    #[arg(long)]
    model: Option<String>,
    /// A local branch from whose tip the work starts; default: the project branch.
    #[arg(long, value_name = "BRANCH")]
    from_branch: Option<String>,
    /// Allow an agent to start at once.
    #[arg(long)]
    start: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    /// Task id or number, for example TASK-001 or 1.
    task: String,
    /// Another title.
    #[arg(long)]
    title: Option<String>,
    /// The work and its acceptance criteria; - for standard input.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// All tasks to be done first; an empty text for none.
    #[arg(long, value_name = "TASK,TASK")]
    depends_on: Option<String>,
    /// Higher values start first.
    #[arg(long, allow_negative_numbers = true, value_parser = number::whole::<i64>)]
    priority: Option<i64>,
    /// The model of its agents.
    #[arg(long)]
    model: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Retry {
    /// Task id or number, for example TASK-001 or 1.
    task: String,
    /// Start a new session instead of continuing the last one.
    #[arg(long)]
    fresh: bool,
    /// Start in a new worktree from the project branch. A rescue ref keeps the content of the old one.
    #[arg(long)]
    base: bool,
    /// Start from the files of a checkpoint that `task show` lists, in a new session. A rescue ref keeps the current content.
    #[arg(long, conflicts_with = "base", value_name = "SHA")]
    checkpoint: Option<String>,
    /// Another model for this and later attempts.
    #[arg(long)]
    model: Option<String>,
    /// A comment that the agent reads; - for standard input.
    #[arg(long)]
    note: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let view: TaskView = match command {
        Command::List(filter) => return list::list(&client, filter).await,
        Command::Show { task } => return show::show(&client, &id::task(&task)?).await,
        Command::Log { task, follow } => return log::print(&client, &id::task(&task)?, follow).await,
        Command::Diff { task } => {
            let diff: Diff = client.get(&format!("{}/diff", path(&task)?)).await?;
            output::data(&diff, runs::diff::print);
            return Ok(());
        }
        Command::Message { task, text } => return message(&client, &task, text_or_input(text)?).await,
        Command::Comment { task, text } => {
            let comment: CommentView = client.post(&format!("{}/comments", path(&task)?), &TextBody { content: text_or_input(text)? }).await?;
            output::data(&comment, |view| output::line(format!("{} on {}", view.comment.id, view.comment.task_id)));
            return Ok(());
        }
        Command::Add(add) => return add.send(&client).await,
        Command::Edit(edit) => client.patch(&path(&edit.task)?, &edit.patch()?).await?,
        Command::Move { task, status, reason } => {
            let patch = TaskPatch { status: Some(status), reason: reason.map(text_or_input).transpose()?, ..TaskPatch::default() };
            client.patch(&path(&task)?, &patch).await?
        }
        Command::Delete { task, reason } => return delete(&client, &id::task(&task)?, reason).await,
        Command::Answer { task, text } => client.post(&format!("{}/answer", path(&task)?), &TextBody { content: text_or_input(text)? }).await?,
        Command::Start { task } => {
            let view: TaskView = client.post(&format!("{}/start", path(&task)?), &json!({})).await?;
            return may_start(&client, &view).await;
        }
        Command::Stop { task } => {
            let view: TaskView = client.post(&format!("{}/stop", path(&task)?), &json!({})).await?;
            output::data(&view, |view| output::line(stopped(&view.task.card)));
            return Ok(());
        }
        Command::Raise { task } => {
            let view: TaskView = client.post(&format!("{}/raise", path(&task)?), &json!({})).await?;
            let line = |card: &Card| format!("{} {}: the limit is raised by its original amount", card.id, card.title);
            output::data(&view, |view| output::line(line(&view.task.card)));
            return Ok(());
        }
        Command::Retry(retry) => {
            let view: TaskView = client.post(&format!("{}/retry", path(&retry.task)?), &retry.options()?).await?;
            return may_start(&client, &view).await;
        }
    };
    output::data(&view, print);
    Ok(())
}

fn print(view: &TaskView) {
    output::line(format!("{} ({})", project::line(&view.task.card).trim(), view.task.card.status));
    view.note.iter().for_each(output::line);
}

/// Says that agents may start a task, and what keeps them from it.
async fn may_start(client: &Client, view: &TaskView) -> Result<(), CliError> {
    output::data(view, |view| output::line(format!("{} {}: an agent may start", view.task.card.id, view.task.card.title)));
    parking::hint(client, &view.task.card.project_id).await;
    Ok(())
}

/// Says what stopping a task did.
fn stopped(card: &Card) -> String {
    let Card { id, title, .. } = card;
    let agent = if card.run.is_some() { "its agent is stopping, and no other" } else { "no agent" };
    format!("{id} {title}: {agent} starts until `vibe-relay task start {id}`")
}

/// Cancels a task, which is as close to deleting it as the history allows.
async fn delete(client: &Client, id: &TaskId, reason: CancelReason) -> Result<(), CliError> {
    let patch = TaskPatch { status: Some(Status::Cancelled), reason: Some(reason.to_string()), ..TaskPatch::default() };
    let view: TaskView = client.patch(&format!("/api/tasks/{id}"), &patch).await?;
    output::data(&view, |view| output::line(format!("{id} {} is cancelled as {reason}", view.task.card.title)));
    output::hint(format!("Tasks are not erased: its history stays, and `vibe-relay task move {id} backlog` brings it back."));
    Ok(())
}

impl Add {
    async fn send(self, client: &Client) -> Result<(), CliError> {
        let Self { project, title, description, depends_on, priority, model, from_branch, start } = self;
        let (title, description) = (text_or_input(title)?, description.map(text_or_input).transpose()?);
        let new = NewTask { title, description, depends_on, priority, model, from_branch, start, ..NewTask::default() };
        let project = id::project(&project)?;
        let view: TaskView = client.post(&format!("/api/projects/{project}/tasks"), &new).await?;
        output::data(&view, print);
        parking::hint_after_adding(client, &project, start).await;
        Ok(())
    }
}

impl Edit {
    fn patch(self) -> Result<TaskPatch, CliError> {
        let Self { task: _, title, description, depends_on, priority, model } = self;
        let ids = |given: String| given.split(',').map(str::trim).filter(|given| !given.is_empty()).map(id::task).collect::<Result<_, _>>();
        let patch = TaskPatch {
            title: title.map(text_or_input).transpose()?,
            description: description.map(text_or_input).transpose()?,
            depends_on: depends_on.map(ids).transpose()?,
            priority,
            model,
            ..TaskPatch::default()
        };
        if patch == TaskPatch::default() { Err(CliError::NothingToChange { command: "task edit" }) } else { Ok(patch) }
    }
}

impl Retry {
    fn options(self) -> Result<RetryOptions, CliError> {
        let Self { task: _, fresh, base, checkpoint, model, note } = self;
        let (session, tree) = (fresh.then_some(RetrySession::Fresh), base.then_some(RetryTree::Base));
        Ok(RetryOptions { session, tree, checkpoint, model, note: note.map(text_or_input).transpose()? })
    }
}

async fn message(client: &Client, task: &str, content: String) -> Result<(), CliError> {
    let id = id::task(task)?;
    let view: TaskView = client.get(&format!("/api/tasks/{id}")).await?;
    let run = view.task.card.run.ok_or_else(|| CliError::NoAgent { task: id.clone() })?.id;
    let run: Run = client.post(&format!("/api/runs/{run}/message"), &TextBody { content }).await?;
    output::data(&run, |run| output::line(format!("the agent of {id} ({}) reads the message after its current step", run.id)));
    Ok(())
}

fn path(task: &str) -> Result<String, CliError> {
    Ok(format!("/api/tasks/{}", id::task(task)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(depends_on: Option<&str>) -> Edit {
        let depends_on = depends_on.map(str::to_owned);
        Edit { task: "1".to_owned(), title: None, description: None, depends_on, priority: Some(-1), model: None }
    }

    #[test]
    fn omitted_dependencies_stay_and_an_empty_text_removes_them() {
        assert_eq!(edit(None).patch().unwrap().depends_on, None);
        assert_eq!(edit(Some("")).patch().unwrap().depends_on, Some(Vec::new()));
        assert_eq!(edit(Some("2, TASK-004")).patch().unwrap().depends_on, Some(vec![TaskId::new(2), TaskId::new(4)]));
        assert!(edit(Some("2;4")).patch().is_err());
        let nothing = Edit { priority: None, ..edit(None) }.patch().unwrap_err();
        assert!(matches!(nothing, CliError::NothingToChange { .. }), "{nothing}");
    }
}
