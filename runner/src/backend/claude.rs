//! Claude Code: how it is started, spoken to, and how its end is read. Checked against version 2.1.330.
//!
//! Pure: it builds arguments and judges facts; others start, read and wait.

pub mod hook;

use std::path::Path;

use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::FailureClass;
use serde_json::{Value, json};
use uuid::Uuid;

use super::stream::{McpServer, TurnResult};
use crate::disk;
use crate::run_dir::{ExitErrorKind, ExitRecord};

/// The name of our MCP server in an agent's configuration; its tools are `mcp__vibe-relay__…`.
pub const MCP_SERVER: &str = "vibe-relay";

/// What every agent needs in its environment besides what it inherits.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    // A command in the background would keep the program alive after its last turn.
    ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
    // The repository's CLAUDE.md, which `--setting-sources user` leaves out along with its hooks.
    ("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD", "1"),
    // A build or a test suite takes longer than the program's own two and ten minutes.
    ("BASH_DEFAULT_TIMEOUT_MS", "600000"),
    ("BASH_MAX_TIMEOUT_MS", "3600000"),
];

/// Everything that one start of the program depends on.
#[derive(Debug, Clone, Copy)]
pub struct ClaudeSpec<'a> {
    /// The program's absolute path, then arguments that go before all others.
    pub command: &'a [String],
    pub phase: AgentKind,
    pub session: Session,
    /// The model; the program's own default when missing.
    pub model: Option<&'a str>,
    /// The phase's prompt, which is appended to the program's own. It is frozen with the session's first start.
    pub system_prompt_file: &'a Path,
    /// The file that holds [`mcp_config`].
    pub mcp_config_file: &'a Path,
    /// The file that holds [`hook::settings`].
    pub settings_file: &'a Path,
    /// The agent's folder, and the only one whose CLAUDE.md is read.
    pub checkout: &'a Path,
}

/// Which conversation a run is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    /// A new one, under an id that was stored before the start.
    New(Uuid),
    Resume(Uuid),
}

/// The command line. The prompt is not in it: it goes over stdin, see [`user_line`].
pub fn argv(spec: &ClaudeSpec<'_>) -> Vec<String> {
    let mut argv = spec.command.to_vec();
    let mut add = |arguments: &[&str]| argv.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    add(&["-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--replay-user-messages"]);
    match spec.session {
        Session::New(id) => add(&["--session-id", &id.to_string()]),
        Session::Resume(id) => add(&["--resume", &id.to_string()]),
    }
    if let Some(model) = spec.model {
        add(&["--model", model]);
    }
    add(&["--append-system-prompt-file", &spec.system_prompt_file.to_string_lossy()]);
    // The repository may bring servers and hooks of its own; none of them runs.
    add(&["--mcp-config", &spec.mcp_config_file.to_string_lossy(), "--strict-mcp-config", "--setting-sources", "user"]);
    add(&["--settings", &spec.settings_file.to_string_lossy()]);
    add(&["--add-dir", &spec.checkout.to_string_lossy()]);
    add(&["--tools", tools(spec.phase), "--dangerously-skip-permissions"]);
    argv
}

/// The built-in tools of a phase. What is missing here either goes round the board (scheduled work, other worktrees, messages past
/// us) or is not the phase's business. Helpers of a coder's own are counted, see [`hook`].
fn tools(phase: AgentKind) -> &'static str {
    match phase {
        AgentKind::Coder => "Bash,Read,Edit,Write,Grep,Glob,Agent",
        AgentKind::Reviewer => "Bash,Read,Edit,Write,Grep,Glob",
        AgentKind::Planner | AgentKind::Orchestrator => "Bash,Read,Grep,Glob",
    }
}

/// The MCP configuration of one run. It holds the run's token: mode 0600.
pub fn mcp_config(program: &Path, task: &TaskId, token: &str, database: &Path) -> Value {
    json!({
        "mcpServers": {
            MCP_SERVER: {
                "command": program.to_string_lossy(),
                "args": ["mcp", "--task-id", task.as_str()],
                "env": { "VIBE_RELAY_DB": database.to_string_lossy(), "VIBE_RELAY_TOKEN": token },
                // Otherwise the model sees the tools' names only, and must look for them first.
                "alwaysLoad": true,
            }
        }
    })
}

/// A message for the agent's stdin, without its newline. `text` must not begin with a slash, or it is taken for a command of the
/// program; `id` comes back with the echo that says that the agent took it.
pub fn user_line(text: &str, id: Uuid) -> String {
    json!({ "type": "user", "message": { "role": "user", "content": text }, "uuid": id.to_string() }).to_string()
}

/// Whether the agent has our tools. Without them it would work on and be able to tell nobody: the run is to be ended.
pub fn has_board(servers: &[McpServer]) -> bool {
    servers.iter().any(|server| server.name == MCP_SERVER && server.status == "connected")
}

/// What is known about a run when its processes are gone.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    pub exit: &'a ExitRecord,
    /// The result of the turn that began last; `None` when that turn did not come to its end.
    pub result: Option<&'a TurnResult>,
    /// The kind of the last [`super::stream::RunLine::ApiError`] of that turn.
    pub api_error: Option<&'a str>,
    /// The servers of the last init line, if there was one.
    pub servers: Option<&'a [McpServer]>,
    /// When the limit that was rejected last is lifted, in seconds since the Unix epoch.
    pub limited_until: Option<i64>,
    /// The end of the program's stderr.
    pub stderr: &'a str,
    /// Whether we were asked to end it.
    pub stopped: bool,
}

/// How a run of Claude Code ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// The last turn ended in good order. Whether the card moved is not known here.
    Success,
    Stopped,
    RateLimited {
        /// Seconds since the Unix epoch, when it was told.
        until_unix: Option<i64>,
    },
    SignedOut,
    RootRefused,
    MissingProgram,
    McpNotConnected {
        /// What the program said about our server.
        status: String,
    },
    /// The session to resume is not known: to be started again under a new id.
    NoConversation,
    /// The id of the new session is taken: to be started again under a new id.
    SessionInUse,
    MaxTurns,
    Budget,
    /// Whether the service could be reached and worked is told by the status.
    ApiError {
        /// None when there was no answer at all.
        status: Option<u16>,
        text: String,
    },
    /// It could not write what it has to keep.
    DiskFull {
        text: String,
    },
    /// It could not be started, or our side of it failed.
    Spawn {
        detail: String,
    },
    /// Nobody knows how it ended: the shim was killed.
    Lost,
    Crashed {
        code: Option<i32>,
        signal: Option<i32>,
        /// Its own last words.
        text: String,
    },
}

impl RunEnd {
    /// The failure to record, when it is one. The two session mix-ups are none: they are put right within the same attempt.
    pub fn failure(&self) -> Option<FailureClass> {
        match self {
            Self::Success | Self::Stopped | Self::NoConversation | Self::SessionInUse => None,
            Self::RateLimited { .. } => Some(FailureClass::RateLimited),
            Self::SignedOut => Some(FailureClass::SignedOut),
            Self::RootRefused => Some(FailureClass::RootRefused),
            Self::MissingProgram => Some(FailureClass::ProgramMissing),
            Self::McpNotConnected { .. } => Some(FailureClass::McpNotConnected),
            Self::MaxTurns => Some(FailureClass::MaxTurns),
            Self::Budget => Some(FailureClass::Budget),
            // It refused what it was asked, which another task need not ask.
            Self::ApiError { status: Some(..500), .. } => Some(FailureClass::ApiError),
            Self::ApiError { .. } => Some(FailureClass::ServiceUnreachable),
            Self::DiskFull { .. } => Some(FailureClass::DiskFull),
            Self::Spawn { .. } => Some(FailureClass::Spawn),
            Self::Lost => Some(FailureClass::Lost),
            Self::Crashed { .. } => Some(FailureClass::Crashed),
        }
    }

    /// Whether the model's service was there to the end, if only to say no.
    pub fn reached_service(&self) -> bool {
        match self {
            Self::Success | Self::RateLimited { .. } | Self::MaxTurns | Self::Budget => true,
            Self::ApiError { .. } => self.failure() == Some(FailureClass::ApiError),
            _ => false,
        }
    }
}

/// Judges how a run ended. Our own doing counts first, then what the program said of its last turn, then its stderr, then its exit
/// code, which alone says little: it is 0 for an agent without tools and 1 for all failures alike.
pub fn end(evidence: &Evidence<'_>) -> RunEnd {
    if evidence.stopped {
        return RunEnd::Stopped;
    }
    if let Some(error) = &evidence.exit.error {
        match error.kind {
            ExitErrorKind::MissingProgram => return RunEnd::MissingProgram,
            ExitErrorKind::StartFailed => return RunEnd::Spawn { detail: error.detail.clone() },
            ExitErrorKind::OutputLimit => {
                return RunEnd::Crashed { code: evidence.exit.code, signal: evidence.exit.signal, text: error.detail.clone() };
            }
            // It may have finished its turn before that.
            ExitErrorKind::Lost => {}
        }
    }
    if let Some(servers) = evidence.servers.filter(|servers| !has_board(servers)) {
        let status = servers.iter().find(|server| server.name == MCP_SERVER).map_or("missing", |server| &server.status);
        return RunEnd::McpNotConnected { status: status.to_owned() };
    }
    match evidence.result {
        Some(result) if !result.is_error => RunEnd::Success,
        Some(result) => failed_turn(result, evidence),
        None => without_result(evidence),
    }
}

fn failed_turn(result: &TurnResult, evidence: &Evidence<'_>) -> RunEnd {
    let errors = result.errors.join("; ");
    let text = result.text.as_deref().unwrap_or(&errors);
    match (result.subtype.as_str(), result.api_error_status) {
        ("error_max_turns", _) => RunEnd::MaxTurns,
        ("error_max_budget_usd", _) => RunEnd::Budget,
        _ if errors.contains(NO_CONVERSATION) => RunEnd::NoConversation,
        (_, Some(429)) => RunEnd::RateLimited { until_unix: evidence.limited_until },
        (_, Some(401)) => RunEnd::SignedOut,
        _ if evidence.api_error == Some("authentication_failed") || text.contains(NOT_LOGGED_IN) => RunEnd::SignedOut,
        (_, Some(status)) => RunEnd::ApiError { status: Some(status), text: text.to_owned() },
        _ if result.terminal_reason.as_deref() == Some("api_error") || text.contains(CONNECTION_ERROR) => {
            RunEnd::ApiError { status: None, text: text.to_owned() }
        }
        _ => RunEnd::Crashed { code: evidence.exit.code, signal: evidence.exit.signal, text: text.to_owned() },
    }
}

fn without_result(evidence: &Evidence<'_>) -> RunEnd {
    let said = |words: &str| evidence.stderr.contains(words);
    if said(ROOT_REFUSED) {
        RunEnd::RootRefused
    } else if said(NO_CONVERSATION) {
        RunEnd::NoConversation
    } else if said("Session ID") && said("already in use") {
        RunEnd::SessionInUse
    } else if said(NOT_LOGGED_IN) {
        RunEnd::SignedOut
    } else if disk::mentions_full_disk(evidence.stderr) {
        RunEnd::DiskFull { text: evidence.stderr.trim().to_owned() }
    } else if evidence.exit.error.as_ref().is_some_and(|error| error.kind == ExitErrorKind::Lost) {
        RunEnd::Lost
    } else {
        RunEnd::Crashed { code: evidence.exit.code, signal: evidence.exit.signal, text: evidence.stderr.trim().to_owned() }
    }
}

const ROOT_REFUSED: &str = "cannot be used with root";
const NO_CONVERSATION: &str = "No conversation found";
const NOT_LOGGED_IN: &str = "Not logged in";
const CONNECTION_ERROR: &str = "Connection error";

#[cfg(test)]
mod tests;
