//! What can keep a command from doing its work. Each says what was attempted and what to do.

use std::path::PathBuf;

use domain::config::BadConfig;
use domain::refusal::TOKEN_COMMAND;
use domain::wire::Problem;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("could not start the event loop")]
    Runtime(#[source] std::io::Error),
    #[error("could not {attempted}")]
    Io { attempted: String, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    Config { path: PathBuf, source: BadConfig },
    #[error("the configuration file {} does not exist; run `vibe-relay init`, or leave --config away", path.display())]
    ConfigMissing { path: PathBuf },
    #[error("{what} is not what a hook of vibe-relay is given; leave this command to the agents' program")]
    NotOurs { what: String, source: serde_json::Error },
    #[error("HOME is not set, so there is no place for the board; set HOME, or \"db_path\" and \"worktrees_path\" in a configuration file")]
    NoHome,
    #[error(transparent)]
    Store(#[from] db::Error),
    #[error("the part that runs agents broke off, which is a defect; agents at work go on, and `vibe-relay serve` takes them over")]
    RunnerBrokeOff(#[source] tokio::task::JoinError),
    #[error("the board is running already: open {url}, or end it first")]
    AlreadyRunning { url: String, source: db::Error },
    #[error("port {port} is taken by another program; name another with --port, or leave it away to get the next free one")]
    PortTaken { port: u16 },
    #[error("no port from {first} to {last} is free; name one with --port")]
    NoPort { first: u16, last: u16 },
    #[error("no board is running for {}; start it with `vibe-relay serve`", db_path.display())]
    NotRunning { db_path: PathBuf },
    #[error("the board at {url} did not answer: {reason}; start it again with `vibe-relay serve`")]
    NoAnswer { url: String, reason: String },
    #[error("{}. {}", problem.detail, problem.hint)]
    Problem { problem: Box<Problem> },
    #[error("there is no project yet; make one with `vibe-relay project new`")]
    NoProject,
    #[error(
        "{variable} is set as for an agent, and no token says which: without one everything would be done in the person's name. Make one on the \
         running board with `{TOKEN_COMMAND}` and set it as VIBE_RELAY_TOKEN; for a client of the person's own, take {variable} away"
    )]
    NoAgentToken { variable: &'static str },
    #[error("which project is meant? Name one with --project: {}", projects.join(", "))]
    WhichProject { projects: Vec<String> },
    #[error(transparent)]
    ServerFile(#[from] ::mcp::server_file::ServerFileError),
    #[error(transparent)]
    Bridge(#[from] ::mcp::BridgeError),
    #[error(transparent)]
    Id(#[from] domain::id::InvalidId),
    #[error(transparent)]
    Process(#[from] runner::process::ProcessError),
    #[error("{0}")]
    Demo(String),
}

impl CliError {
    pub(crate) fn io(attempted: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let attempted = attempted.into();
        move |source| Self::Io { attempted, source }
    }
}
