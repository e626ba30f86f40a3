//! The command line: commands, options and their help texts. Must not know what a command does.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};
use domain::team::person::PersonRole;
use domain::team::role::Role;

/// A local-first kanban board where coding agents do the work.
#[derive(Debug, Parser)]
#[command(name = "vibe-relay", version)]
pub(crate) struct Args {
    /// Configuration file; default: vibe-relay.config.json in this folder or in ~/.vibe-relay.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the board and run agents.
    Serve(Serve),
    /// Watch scripted agents work on a sample project. No model and no account; git, worktrees, reviews and merges are real.
    Demo(Demo),
    /// Write a configuration file and the agents' prompts into a repository, for you to edit.
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
    /// People who may use the running board.
    #[command(subcommand)]
    Person(Person),
    /// Create tokens for external agents and other people, or replace your own.
    #[command(subcommand)]
    Token(Token),
    /// Browsers that are signed in to the running board.
    #[command(subcommand)]
    Session(Session),
    /// Merge a project's work into its base branch.
    Land {
        /// Project id, for example PROJ-001.
        project: String,
    },
    /// Check that everything agents need is installed.
    Doctor,
    /// Print events as they happen, one per line, until you stop it.
    Tail(Tail),
    /// Connect an agent to the board: an MCP server on standard input and output.
    Mcp {
        /// The task the agent works on.
        #[arg(long)]
        task_id: Option<String>,
    },
    #[command(hide = true)]
    Shim { run_dir: PathBuf },
    /// Called by Claude Code when an agent starts or ends a helper.
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
    /// Port; default: 9400, or the next free one.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Do not open a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Also serve the page and the button of the demo.
    #[arg(long, hide = true)]
    pub(crate) demo: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Do not open a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Answer the agents' question, land the result and end when the project is complete.
    #[arg(long)]
    pub(crate) exit: bool,
    /// Use Claude Code instead of scripted agents. Asks before it starts, because that costs money.
    #[arg(long)]
    pub(crate) real: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Tail {
    /// Only events of this project, for example PROJ-001.
    pub(crate) project: Option<String>,
    /// Print the frames of the WebSocket as they are.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Project {
    /// List all projects.
    List,
    /// Create a project. With a goal, a planner starts at once.
    New {
        title: String,
        /// Goal of the project.
        #[arg(long)]
        goal: Option<String>,
        /// The repository.
        #[arg(long, default_value = ".")]
        repo: PathBuf,
        /// Base branch; default: the configured one, or the one that is checked out.
        #[arg(long)]
        base: Option<String>,
        /// Start tasks only after you approve the plan.
        #[arg(long)]
        ask: bool,
    },
    /// Show a project's board.
    Show {
        /// Project id, for example PROJ-001.
        project: String,
    },
    /// Approve a plan, which starts its tasks.
    Approve {
        /// Project id, for example PROJ-001.
        project: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
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
    /// Retry a task that needs attention.
    Retry {
        /// Task id, for example TASK-001.
        task: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    #[command(flatten)]
    Create(CreateToken),
    /// Replace your permanent token, the one in the file `token`, and sign your browsers out. Tokens of agents stay valid.
    Rotate,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CreateToken {
    /// Create a trusted agent and print its token, or print the token of another person; any earlier token for that name is revoked.
    New {
        /// Name of the agent.
        #[arg(long, value_name = "NAME", required_unless_present = "person")]
        agent: Option<String>,
        /// Role of the agent; separate several with commas, or repeat the option.
        #[arg(long = "role", value_name = "ROLE", required_unless_present = "person", value_delimiter = ',', value_parser = role())]
        roles: Vec<Role>,
        /// Team, which becomes the first part of the name.
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
        /// Project id, for example PROJ-001; default: the only project, or the one on this folder's repository.
        #[arg(long)]
        project: Option<String>,
        /// Name of the person, instead of an agent's.
        #[arg(long, value_name = "NAME", conflicts_with_all = ["agent", "roles", "team", "project"])]
        person: Option<String>,
    },
    /// Print a token that lets agents register under names they choose; the project's previous invite token is revoked.
    #[command(alias = "room")]
    Invite {
        /// Project id, for example PROJ-001; default: the only project, or the one on this folder's repository.
        #[arg(long)]
        project: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Person {
    /// Add a person, or a removed one again. `vibe-relay token new --person` gives them access.
    Add {
        /// Name of the person: letters, digits, `-`, `_` and `.`.
        name: String,
        /// A member works on boards; a viewer only reads.
        #[arg(long, default_value = "member", value_parser = further_role())]
        role: PersonRole,
    },
    /// List the persons: name and role.
    List,
    /// Change what a person may do, at once.
    Role {
        /// Name of the person, in any case.
        name: String,
        /// A member works on boards; a viewer only reads.
        #[arg(value_parser = further_role())]
        role: PersonRole,
    },
    /// Remove a person, and revoke their token and browser sessions. The history keeps their name.
    Remove {
        /// Name of the person, in any case.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// List the sessions: number, last request, sign-in and browser.
    List,
    /// Sign a browser out.
    Revoke {
        /// Number of the session, from the list.
        id: i64,
    },
}

fn further_role() -> impl TypedValueParser<Value = PersonRole> {
    let roles = PersonRole::ALL.iter().filter(|role| **role != PersonRole::Owner).map(|role| role.as_str());
    PossibleValuesParser::new(roles).try_map(|word| word.parse::<PersonRole>())
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
    fn roles_are_separated_by_commas_or_repeated() {
        let Ok(Command::Token(Token::Create(CreateToken::New { agent, roles, team, project, person: None }))) =
            parse("vibe-relay token new --agent mara --role builder,pen --role shipper --team platform --project PROJ-002")
        else {
            panic!("no token");
        };
        assert_eq!((agent.as_deref(), team.as_deref(), project.as_deref()), (Some("mara"), Some("platform"), Some("PROJ-002")));
        assert_eq!(roles, [Role::Builder, Role::Pen, Role::Shipper]);
    }

    #[test]
    fn agent_needs_a_name_and_a_known_role() {
        assert!(parse("vibe-relay token new --agent mara").unwrap_err().contains("--role <ROLE>"));
        assert!(parse("vibe-relay token new --role builder").unwrap_err().contains("--agent <NAME>"));
        let unknown = parse("vibe-relay token new --agent mara --role bilder").unwrap_err();
        assert!(unknown.contains("'bilder'") && unknown.contains("'builder'"), "{unknown}");
    }

    #[test]
    fn token_is_for_an_agent_or_a_person() {
        let Ok(Command::Token(Token::Create(CreateToken::New { agent: None, person, .. }))) = parse("vibe-relay token new --person ann") else {
            panic!("no token");
        };
        assert_eq!(person.as_deref(), Some("ann"));
        assert!(parse("vibe-relay token new --person ann --agent mara --role builder").unwrap_err().contains("cannot be used with"));
    }

    #[test]
    fn further_person_is_a_member_or_viewer_and_never_an_owner() {
        let role = |line: &str| match parse(line) {
            Ok(Command::Person(Person::Add { role, .. } | Person::Role { role, .. })) => Ok(role),
            other => Err(format!("{other:?}")),
        };
        assert_eq!(role("vibe-relay person add ann"), Ok(PersonRole::Member));
        assert_eq!(role("vibe-relay person add ann --role viewer"), Ok(PersonRole::Viewer));
        assert_eq!(role("vibe-relay person role ann viewer"), Ok(PersonRole::Viewer));
        for line in ["vibe-relay person add ann --role owner", "vibe-relay person role ann owner"] {
            assert!(role(line).unwrap_err().contains("possible values: member, viewer"), "{line}");
        }
    }

    #[test]
    fn invite_is_also_called_room() {
        for name in ["invite", "room"] {
            assert!(matches!(parse(&format!("vibe-relay token {name}")), Ok(Command::Token(Token::Create(CreateToken::Invite { project: None })))));
        }
    }
}
