//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};
use domain::team::role::Role;

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
    /// Let agents of your own take part: make the token that one of them connects with.
    #[command(subcommand)]
    Token(Token),
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
    /// Started by Claude Code about an agent's own helpers.
    #[command(hide = true)]
    Hook { mcp_config: PathBuf },
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

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Make an agent that you vouch for and print its token; an earlier token of the same name is worth nothing from then on.
    New {
        /// Its name.
        #[arg(long, value_name = "NAME")]
        agent: String,
        /// What it does; several with commas, or by repeating it.
        #[arg(long = "role", value_name = "ROLE", required = true, value_delimiter = ',', value_parser = role())]
        roles: Vec<Role>,
        /// Its team, which stands before its name.
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
        /// Such as PROJ-001; else the only project, or the one of this folder's repository.
        #[arg(long)]
        project: Option<String>,
    },
    /// Print a token with which agents join under names of their own; the project's earlier one lets nobody in any more.
    Room {
        /// Such as PROJ-001; else the only project, or the one of this folder's repository.
        #[arg(long)]
        project: Option<String>,
    },
}

fn role() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.iter().map(|role| role.as_str())).try_map(|word| word.parse::<Role>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        Args::try_parse_from(line.split(' ')).map(|args| args.command.unwrap_or_default()).map_err(|error| error.to_string())
    }

    #[test]
    fn roles_are_listed_or_repeated() {
        let Ok(Command::Token(Token::New { agent, roles, team, project })) =
            parse("vibe-relay token new --agent mara --role builder,pen --role shipper --team platform --project PROJ-002")
        else {
            panic!("no token");
        };
        assert_eq!((agent.as_str(), team.as_deref(), project.as_deref()), ("mara", Some("platform"), Some("PROJ-002")));
        assert_eq!(roles, [Role::Builder, Role::Pen, Role::Shipper]);
    }

    #[test]
    fn an_agent_has_a_name_and_a_known_role() {
        assert!(parse("vibe-relay token new --agent mara").unwrap_err().contains("--role <ROLE>"));
        assert!(parse("vibe-relay token new --role builder").unwrap_err().contains("--agent <NAME>"));
        let unknown = parse("vibe-relay token new --agent mara --role bilder").unwrap_err();
        assert!(unknown.contains("'bilder'") && unknown.contains("'builder'"), "{unknown}");
    }

    #[test]
    fn a_room_needs_nothing() {
        assert!(matches!(parse("vibe-relay token room"), Ok(Command::Token(Token::Room { project: None }))));
    }
}
