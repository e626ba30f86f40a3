//! The command line: commands, options and their help texts. Those about a noun are in its file. Must not know what a command does.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use domain::runs::permission::PermissionAnswer;
use runner::jail::forward::ForwardArgument;

use crate::board::report::Since;
use crate::board::{project, task};
use crate::context::import::Import;
use crate::runs::preview::Preview;
use crate::runs::{profile, rescue};
use crate::team::companion::Attach;
use crate::team::{audit, browser_session, inbox, pairing, person, token};
use crate::{config_file, number, service, version, vocabulary};

/// The heading of the options that every command has.
const GENERAL: &str = "General options";

/// A local-first kanban board where coding agents do the work.
#[derive(Debug, Parser)]
#[command(name = "vibe-relay", version, long_version = version::LINE)]
pub(crate) struct Args {
    /// Configuration file; default: vibe-relay.config.json in this folder or in ~/.config/vibe-relay.
    #[arg(long, global = true, value_name = "FILE", help_heading = GENERAL, display_order = 1000)]
    pub(crate) config: Option<PathBuf>,
    /// Print data as one line of JSON, in the types of the HTTP interface.
    #[arg(long, global = true, help_heading = GENERAL, display_order = 1001)]
    pub(crate) json: bool,
    /// Print no hints.
    #[arg(long, short, global = true, help_heading = GENERAL, display_order = 1002)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the board and run agents.
    Serve(Serve),
    /// Stop the running board. Agents continue, and the next board takes them over.
    Stop,
    /// Watch scripted agents work on a sample project. No model and no account; git, worktrees, reviews and merges are real.
    Demo(Demo),
    /// Start the board at login and keep it running, as a systemd service for your user.
    #[command(subcommand)]
    Service(service::Command),
    /// Write a configuration file into the root of a repository, for you to edit.
    Init {
        /// The repository.
        #[arg(default_value = ".")]
        path: PathBuf,
        /// Also copy the agents' prompts. Copies do not follow upgrades.
        #[arg(long)]
        prompts: bool,
    },
    /// Create, show and change projects on the running board.
    #[command(subcommand)]
    Project(project::Command),
    /// Create, show and move tasks on the running board.
    #[command(subcommand)]
    Task(task::Command),
    /// Add, list and remove people who may use the running board.
    #[command(subcommand)]
    Person(person::Command),
    /// Create, list and revoke tokens of external agents and other people, or replace your own.
    #[command(subcommand)]
    Token(token::Command),
    /// Check or show the audit log: who did what, and what was refused.
    #[command(subcommand)]
    Audit(audit::Command),
    /// List the browsers that are signed in to the running board, or sign one out.
    #[command(subcommand)]
    Session(browser_session::Command),
    /// Sign a phone in to the running board: show a QR code and its link.
    Pair(pairing::Pair),
    /// Show what happened while you were away, and what you can do now.
    Report {
        /// Start of the report: 30m, 8h or 2d ago, or a time such as 2026-01-31T09:05:00Z.
        #[arg(long, default_value = "8h", value_name = "SPAN|TIME")]
        since: Since,
    },
    /// Merge a project's work into its base branch.
    Land {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// Bring back exactly the commits that a refusal listed; takes the confirmation that it printed.
        #[arg(long, value_name = "CONFIRMATION")]
        bring_back: Option<String>,
        /// Undo the last landing instead, unless it was pushed.
        #[arg(long, conflicts_with = "bring_back")]
        undo: bool,
    },
    /// Push a project's branch to its remote, with your own git credentials.
    Publish {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// Also open a pull request with gh or glab, unless one is open.
        #[arg(long)]
        pull_request: bool,
    },
    /// Start the app of a task or a project, with the command of its profile, and print its address once it answers.
    Preview(Preview),
    /// List, show, restore or delete unmerged work that was kept when its branch or checkout was removed.
    #[command(subcommand)]
    Rescue(rescue::Command),
    /// Show or change how worktrees of a project are prepared: setup commands, copied files, reused folders, passed variables.
    #[command(subcommand)]
    Profile(profile::Command),
    /// Import an issue, or the sessions, memory, agents, tasks and messages of shared-context-server or dead-drop, into a project of the running board.
    Import(Import),
    /// Keep new agents from starting, in one project or in all, until you resume. Running agents continue.
    Pause {
        /// Project id or number, for example PROJ-001 or 1; default: all projects.
        #[arg(long)]
        project: Option<String>,
    },
    /// Interrupt the agent of a task. It continues with your message, or waits for one.
    Interrupt {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// The agent's next instruction.
        #[arg(long, value_name = "TEXT")]
        message: Option<String>,
    },
    /// Show what the agent of a task asks to do, or answer it.
    Permission {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// The answer; always allows the same until the task is done.
        #[arg(value_parser = vocabulary::one_of(PermissionAnswer::ALL, PermissionAnswer::as_str))]
        answer: Option<PermissionAnswer>,
        /// Why you deny it. The agent reads this.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Stop the agent of a task and continue in its worktree yourself.
    Takeover {
        /// Task id or number, for example TASK-001 or 1.
        task: String,
        /// Give the task back, so that agents continue, and tell them what you changed.
        #[arg(long)]
        give_back: bool,
    },
    /// End a pause.
    Resume {
        /// Project id or number, for example PROJ-001 or 1; default: the pause of all projects.
        #[arg(long)]
        project: Option<String>,
    },
    /// Check everything that agents need, and say how to fix what is missing.
    Doctor,
    /// Open the running board in the browser, with a new link that signs it in.
    Open {
        /// Only print the link.
        #[arg(long)]
        print: bool,
    },
    /// Check the configuration file.
    #[command(subcommand)]
    Config(config_file::Command),
    /// List what vibe-relay has left on this machine, and how to remove it. Removes nothing.
    Uninstall,
    /// Print the version, and the commit that it was built from.
    Version,
    /// Print the script that completes commands in a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command into a folder.
    Man {
        /// The folder, such as ~/.local/share/man/man1.
        folder: PathBuf,
    },
    /// List what is left of finished work (landed project branches, folders of ended runs), or remove it with --yes.
    Clean {
        /// Remove all of it.
        #[arg(long)]
        yes: bool,
    },
    /// Copy the database into a new file and check the copy. The board can keep running.
    Backup {
        /// The new file.
        file: PathBuf,
    },
    /// Replace the database with a copy from a file, and keep the old one. Stop the board first.
    Restore {
        /// The copy.
        file: PathBuf,
    },
    /// Print the unread messages of the agent whose token is in VIBE_RELAY_TOKEN, also as a hook of Claude Code.
    Inbox(inbox::Inbox),
    /// Print events as they happen, one per line, until you stop it.
    Tail(Tail),
    /// Connect your own Claude Code to the board, as a companion that works for you and makes no decisions.
    Attach(Attach),
    /// Connect an agent to the board: an MCP server on standard input and output.
    Mcp {
        /// The task the agent works on.
        #[arg(long)]
        task_id: Option<String>,
        /// Act as your companion, with the token that `vibe-relay attach` made, instead of as you.
        #[arg(long, conflicts_with = "task_id")]
        companion: bool,
        /// Also return the data of results as structured content, for programs. Some clients then show only this to their model.
        #[arg(long)]
        structured: bool,
    },
    #[command(hide = true)]
    Shim { run_dir: PathBuf },
    /// Becomes the agent inside a jail without a network.
    #[command(hide = true)]
    JailExec {
        /// A port that leads to a socket.
        #[arg(long, value_name = "PORT=SOCKET")]
        forward: Vec<ForwardArgument>,
        /// A port of an app inside, and the socket from which it is reached.
        #[arg(long, value_name = "PORT=SOCKET")]
        inbound: Vec<ForwardArgument>,
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Maps the source code of a commit in a process of its own.
    #[command(hide = true)]
    CodeMap { git_dir: PathBuf, commit: String, folder: PathBuf },
    #[command(hide = true)]
    JailForward { socket: PathBuf },
    #[command(hide = true)]
    JailServe { port: u16, socket: PathBuf },
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
        Self::Serve(Serve { port: None, no_open: false, detach: false, detached: false, demo: false })
    }
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Serve {
    /// Port; default: that of the last start, at first 9400, or the next free one.
    #[arg(long, value_parser = number::whole::<u16>)]
    pub(crate) port: Option<u16>,
    /// Do not open a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Return once the board is listening; it continues in the background.
    #[arg(long)]
    pub(crate) detach: bool,
    /// This is the process that `--detach` started.
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
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
    /// Only events of this project; its id or number, for example PROJ-001 or 1.
    pub(crate) project: Option<String>,
}

#[cfg(test)]
mod tests {
    use domain::team::person::PersonRole;
    use domain::team::role::Role;

    use super::*;
    use crate::team::token::CreateToken;

    fn parse(line: &str) -> Result<Command, String> {
        Args::try_parse_from(line.split(' ')).map(|args| args.command.unwrap_or_default()).map_err(|error| error.to_string())
    }

    #[test]
    fn roles_are_separated_by_commas_or_repeated() {
        let Ok(Command::Token(token::Command::Create(CreateToken::New { agent, roles, team, project, person: None, .. }))) =
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
        let Ok(Command::Token(token::Command::Create(CreateToken::New { agent: None, person, .. }))) = parse("vibe-relay token new --person ann")
        else {
            panic!("no token");
        };
        assert_eq!(person.as_deref(), Some("ann"));
        assert!(parse("vibe-relay token new --person ann --agent mara --role builder").unwrap_err().contains("cannot be used with"));
    }

    #[test]
    fn further_person_is_a_member_or_viewer_and_never_an_owner() {
        let role = |line: &str| match parse(line) {
            Ok(Command::Person(person::Command::Add { role, .. } | person::Command::Role { role, .. })) => Ok(role),
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
    fn pairing_needs_no_option_and_takes_a_name_and_a_host() {
        assert!(matches!(parse("vibe-relay pair"), Ok(Command::Pair(_))));
        let Ok(Command::Pair(pair)) = parse("vibe-relay pair --name Tablet --host desk.example.org") else { panic!("no pairing") };
        assert_eq!(format!("{pair:?}"), r#"Pair { name: Some("Tablet"), host: Some("desk.example.org") }"#);
    }

    #[test]
    fn invite_is_also_called_room() {
        for name in ["invite", "room"] {
            assert!(matches!(
                parse(&format!("vibe-relay token {name}")),
                Ok(Command::Token(token::Command::Create(CreateToken::Invite { project: None })))
            ));
        }
    }
}
