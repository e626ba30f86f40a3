//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// A local-first kanban board on which coding agents do the work.
#[derive(Debug, Parser)]
#[command(name = "vibe-relay", version)]
pub(crate) struct Args {
    /// The configuration file; else vibe-relay.config.json here or in ~/.vibe-relay.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the board and run agents.
    Serve(Serve),
    /// Watch a board play with scripted agents: no model, no account; git, worktrees, reviews and merges are real.
    Demo(Demo),
    /// Write a configuration file and the agents' prompts into a repository, to be changed.
    Init {
        /// The repository.
        #[arg(default_value = ".")]
        path: PathBuf,
    },
    /// Projects on the running board.
    #[command(subcommand)]
    Project(Project),
    /// Tasks on the running board.
    #[command(subcommand)]
    Task(Task),
    /// Bring what a project merged to its base branch.
    Land {
        /// Such as PROJ-001.
        project: String,
    },
    /// Look whether everything that agents need is there.
    Doctor,
    /// The bridge between an agent and the board: an MCP server on standard input and output.
    Mcp {
        /// The task that the agent works on.
        #[arg(long)]
        task_id: Option<String>,
    },
    #[command(hide = true)]
    Shim { run_dir: PathBuf },
    #[command(hide = true, disable_help_flag = true, disable_version_flag = true)]
    ScriptedAgent {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

impl Default for Command {
    fn default() -> Self {
        Self::Serve(Serve { port: None, no_open: false, demo: false })
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// The port; else 9400, or the next one that is free.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Do not open a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Serve the demonstration's page and its button.
    #[arg(long, hide = true)]
    pub(crate) demo: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Do not open a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Answer the agents' question, land, and end when the project is complete.
    #[arg(long)]
    pub(crate) exit: bool,
    /// Use Claude Code instead of scripted agents. It asks before it starts, because that costs money.
    #[arg(long)]
    pub(crate) real: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Project {
    /// List all projects.
    List,
    /// Create a project; with a goal a planner starts at once.
    New {
        title: String,
        /// What is to be reached.
        #[arg(long)]
        goal: Option<String>,
        /// The repository.
        #[arg(long, default_value = ".")]
        repo: PathBuf,
        /// The branch to start from; else the one that is checked out.
        #[arg(long)]
        base: Option<String>,
        /// Wait for your approval of the plan.
        #[arg(long)]
        ask: bool,
    },
    /// Show a project's board.
    Show {
        /// Such as PROJ-001.
        project: String,
    },
    /// Start the tasks of a plan that waits.
    Approve {
        /// Such as PROJ-001.
        project: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Add a task to a project.
    Add {
        /// Such as PROJ-001.
        project: String,
        title: String,
        #[arg(long)]
        description: Option<String>,
        /// Let an agent start on it at once.
        #[arg(long)]
        start: bool,
    },
    /// Show a task with its thread and attempts.
    Show {
        /// Such as TASK-001.
        task: String,
    },
    /// Move a task: backlog, in_progress, in_review, done or cancelled.
    Move {
        /// Such as TASK-001.
        task: String,
        status: String,
        /// Why, where the move needs it.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Add a comment.
    Comment {
        /// Such as TASK-001.
        task: String,
        text: String,
    },
    /// Answer the agent's question.
    Answer {
        /// Such as TASK-001.
        task: String,
        text: String,
    },
    /// Let an agent start.
    Start {
        /// Such as TASK-001.
        task: String,
    },
    /// End the task's agent and hold the task.
    Stop {
        /// Such as TASK-001.
        task: String,
    },
    /// Try a task again that needs you.
    Retry {
        /// Such as TASK-001.
        task: String,
    },
}
