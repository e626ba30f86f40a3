//! The reasons why a command fails. Each says what was attempted and what to do.

use std::path::PathBuf;

use domain::config::ConfigError;
use domain::id::{InvalidId, TaskId};
use domain::team::agent::TOKEN_COMMAND;
use domain::wire::Problem;
use serde::Serialize;

use crate::token_file::TokenProblem;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("could not start the event loop")]
    Runtime(#[source] std::io::Error),
    #[error("could not {attempted}")]
    Io { attempted: String, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    Config { path: PathBuf, source: ConfigError },
    #[error("the configuration file {} does not exist; run `vibe-relay init`, or omit --config", path.display())]
    ConfigMissing { path: PathBuf },
    #[error("the configuration file {} cannot be read; make it a readable file in UTF-8, or name another one with --config", path.display())]
    ConfigUnreadable { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Prompt(#[from] crate::prompt_files::PromptError),
    #[error("{what} is not valid input for a vibe-relay hook; only Claude Code should call this command")]
    InvalidHookInput { what: String, source: serde_json::Error },
    #[error("the path {} is not UTF-8; rename the file", path.display())]
    NotUtf8 { path: PathBuf },
    #[error("HOME is not set, so the board has no folder; set HOME to an absolute path")]
    NoHome,
    #[error("could not start the agent inside its jail")]
    Jail(#[source] std::io::Error),
    #[error("could not make the code map: {0}")]
    CodeMap(repo::RepoError),
    #[error(transparent)]
    Memory(repo::RepoError),
    #[error(transparent)]
    Store(#[from] db::Error),
    #[error("the runner crashed (this is a bug); running agents continue, and `vibe-relay serve` takes them over")]
    RunnerCrashed(#[source] tokio::task::JoinError),
    #[error("the board cannot start: {}", problems.join("\n  "))]
    CannotServe { problems: Vec<String> },
    #[error("the board is already running at {url} ({owner}); `vibe-relay open` signs a browser in, and `vibe-relay stop` stops it")]
    AlreadyRunning { url: String, owner: String },
    #[error("no port from {first} to {last} is free; choose one with --port")]
    NoPort { first: u16, last: u16 },
    #[error("the app of {name} is not running: {failure}")]
    AppFailed { name: String, failure: String },
    #[error("no board is running for {}; start it with `vibe-relay serve`", db_path.display())]
    NotRunning { db_path: PathBuf },
    #[error("the token file {} {problem}; run this command as the user who started the board", path.display())]
    TokenFile { path: PathBuf, problem: TokenProblem },
    #[error("the board (process {process}) has not ended after {seconds} s; the log says what it waits for, and `kill -9 {process}` ends it")]
    StillRunning { process: i32, seconds: u64 },
    #[error("the board at {url} did not answer: {reason}; restart it with `vibe-relay serve`")]
    NoAnswer { url: String, reason: String },
    #[error("{}. {}", problem.detail, next_step(problem))]
    Refused { problem: Box<Problem> },
    #[error("no person on the board is named {name}; `vibe-relay person list` shows the names")]
    NoPerson { name: String },
    #[error("{task} has no running agent; start one with `vibe-relay task start {task}`")]
    NoAgent { task: TaskId },
    #[error("no agent has worked on {task} yet; start one with `vibe-relay task start {task}`")]
    NoRun { task: TaskId },
    #[error("the agent of {task} is not asking for permission; `vibe-relay task show {task}` shows what it is doing")]
    NoPermission { task: TaskId },
    #[error("{} was changed: row {row} of its audit log breaks the chain: {problem}; keep the file, and compare it with a backup", path.display())]
    AuditBroken { path: PathBuf, row: i64, problem: String },
    #[error("the database {} does not exist; start `vibe-relay serve` once, or name the configuration of your board with --config", path.display())]
    NoDatabase { path: PathBuf },
    #[error("the backup {} does not exist; `vibe-relay backup FILE` writes one, and those from before upgrades are in {}", path.display(), kept.display())]
    NoBackup { path: PathBuf, kept: PathBuf },
    #[error("{} already exists; name another file, or remove that one first", path.display())]
    FileExists { path: PathBuf },
    #[error("no project exists yet; create one with `vibe-relay project new`")]
    NoProject,
    #[error(
        "{variable} is set, as for an agent, but VIBE_RELAY_TOKEN is not, so the agent would act as you. Create a token on the running board with \
         `{TOKEN_COMMAND}` and set it as VIBE_RELAY_TOKEN; to connect your own client, unset {variable}"
    )]
    NoAgentToken { variable: &'static str },
    #[error("no companion is attached ({} cannot be read); run `vibe-relay attach` while the board is running", path.display())]
    NoCompanion { path: PathBuf, source: std::io::Error },
    #[error("{reason}; choose one with {how}: {}", projects.join(", "))]
    WhichProject { reason: &'static str, how: &'static str, projects: Vec<String> },
    #[error("{holder} has several tokens; name one by its id:\n{}", tokens.join("\n"))]
    WhichToken { holder: String, tokens: Vec<String> },
    #[error("{holder} has no token; `vibe-relay token list` shows who has one")]
    NoToken { holder: String },
    #[error("there is nothing to change; name an option: `vibe-relay {command} --help` lists them")]
    NothingToChange { command: &'static str },
    #[error("standard input, which `-` stands for, is empty; write the text to it, or pass \"\" for an empty text")]
    EmptyInput,
    #[error(
        "no token is set: create one on the running board with `{TOKEN_COMMAND}` and set it as VIBE_RELAY_TOKEN; your own messages are on the page Messages"
    )]
    NoInbox,
    #[error("{0}")]
    Inbox(#[source] ::mcp::CallError),
    #[error("{} is not a valid settings file; fix or remove it, then run this command again", path.display())]
    InvalidSettings { path: PathBuf },
    #[error(transparent)]
    ServerFile(#[from] ::mcp::server_file::ServerFileError),
    #[error("\"{levels}\" is not a valid list of log levels; set \"log\" in the configuration to one like \"info\" or \"info,runner=debug\"")]
    LogLevels { levels: String, source: Box<dyn std::error::Error + Send + Sync> },
    /// The server's own error.
    #[error("{text}")]
    Detached { text: String },
    #[error("this user has no systemd ({reason}), so the service cannot be installed; start the board with `vibe-relay serve --detach`")]
    NoSystemd { reason: String },
    #[error("`systemctl --user {command}` failed: {reason}")]
    Systemd { command: String, reason: String },
    #[error("a board that is not the service is already running for {}; stop it first, then install the service", db_path.display())]
    RunsByHand { db_path: PathBuf },
    #[error(transparent)]
    ServerSocket(#[from] ::mcp::server_socket::SocketError),
    #[error(transparent)]
    Bridge(#[from] ::mcp::BridgeError),
    #[error("{invalid}, or its number; `vibe-relay {} list` shows them", if invalid.kind == "a project" { "project" } else { "task" })]
    Id { invalid: InvalidId },
    #[error(transparent)]
    Process(#[from] runner::process::ProcessError),
    #[error("{reason}. {hint}")]
    NotRepository { reason: String, hint: String },
    #[error("`vibe-relay init` writes vibe-relay.config.json into the root of a repository, and cannot write {}; omit --config", config.display())]
    InitElsewhere { config: PathBuf },
    #[error("{} is inside the repository {}; run `vibe-relay init {}`", path.display(), root.display(), root.display())]
    NotRoot { path: PathBuf, root: PathBuf },
    #[error("the output could not be written: {reason}")]
    Lost { reason: String },
    #[error("{0}")]
    Demo(String),
}

/// The exit codes of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Failed = 1,
    /// The command line is not valid.
    Usage = 2,
    NotRunning = 3,
    Refused = 4,
}

impl Exit {
    /// The code for programs of an error that has no other.
    const fn code(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotRunning => "not-running",
            Self::Refused => "refused",
        }
    }
}

/// An error for programs: a refusal of the board in the type of the HTTP interface, or one of this program.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ErrorData<'a> {
    Board(&'a Problem),
    Here { code: &'static str, detail: String },
}

impl ErrorData<'_> {
    pub(crate) fn usage(detail: String) -> Self {
        Self::Here { code: Exit::Usage.code(), detail }
    }
}

// Its text is part of the error already, so it is not a cause.
impl From<InvalidId> for CliError {
    fn from(invalid: InvalidId) -> Self {
        Self::Id { invalid }
    }
}

impl CliError {
    /// Returns the exit code of a command that ends with this error.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::NotRunning { .. } | Self::NoAnswer { .. } => Exit::NotRunning,
            Self::Refused { .. }
            | Self::NoPerson { .. }
            | Self::NoToken { .. }
            | Self::NoAgent { .. }
            | Self::NoRun { .. }
            | Self::NoPermission { .. } => Exit::Refused,
            Self::Id { .. } | Self::WhichProject { .. } | Self::WhichToken { .. } | Self::NothingToChange { .. } => Exit::Usage,
            _ => Exit::Failed,
        }
    }

    /// Returns the error for programs.
    pub(crate) fn data(&self) -> ErrorData<'_> {
        match self {
            Self::Refused { problem } => ErrorData::Board(problem),
            error => ErrorData::Here { code: error.exit().code(), detail: full_text(error) },
        }
    }

    /// Builds the error of a failed system call; `attempted` completes "could not …".
    pub(crate) fn io(attempted: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let attempted = attempted.into();
        move |source| Self::Io { attempted, source }
    }
}

/// The next step after a refusal of the board, which words it for every client, as a command or an option where there is one.
fn next_step(problem: &Problem) -> String {
    match problem.missing.as_deref() {
        Some("project") => "`vibe-relay project list` lists the projects.".to_owned(),
        Some("task") => "`vibe-relay task list` lists the tasks; with --all, finished ones too.".to_owned(),
        Some("token") => "`vibe-relay token list` lists the tokens.".to_owned(),
        Some("browser session") => "`vibe-relay session list` lists the sessions.".to_owned(),
        _ if problem.code == "reason-needed" => problem.hint.replace("with the move", "with --reason"),
        _ => problem.hint.clone(),
    }
}

/// An error with its causes in one line. A cause that the error already ends with is not repeated.
pub(crate) fn full_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text += &format!(": {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use domain::board::status::Status;
    use domain::board::transition::refusal::MoveRefusal;
    use domain::refusal::Refusal;

    use super::*;

    fn refused(refusal: Refusal) -> String {
        let mut problem = Problem::new(404, refusal.code(), refusal.to_string(), refusal.hint());
        problem.missing = refusal.missing().map(str::to_owned);
        CliError::Refused { problem: Box::new(problem) }.to_string()
    }

    #[test]
    fn next_step_is_a_command_or_an_option_where_there_is_one() {
        let task = TaskId::new(77);
        assert_eq!(
            refused(Refusal::not_found("task", &task)),
            "task TASK-077 does not exist. `vibe-relay task list` lists the tasks; with --all, finished ones too."
        );
        assert_eq!(
            refused(MoveRefusal::ReasonNeeded { task, to: Status::Cancelled }.into()),
            "moving TASK-077 to cancelled needs a reason. Pass a reason with --reason: failed, abandoned, obsolete or duplicate."
        );
        assert_eq!(
            refused(Refusal::not_found("run", "RUN-009")),
            "run RUN-009 does not exist. Look up the run on the board; ids have the form RUN-001."
        );
    }

    #[test]
    fn exit_code_tells_a_wrong_line_from_an_unknown_name() {
        let wrong = CliError::from("mine".parse::<TaskId>().unwrap_err());
        assert_eq!((wrong.exit(), CliError::NoPerson { name: "ben".to_owned() }.exit()), (Exit::Usage, Exit::Refused));
        assert_eq!(
            wrong.to_string(),
            "\"mine\" is not a task id: expected something like TASK-001, or its number; `vibe-relay task list` shows them"
        );
        assert_eq!(full_text(&wrong), wrong.to_string());
    }
}
