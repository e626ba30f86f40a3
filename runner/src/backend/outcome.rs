//! How a run ended, judged from run events, the exit record and stderr. Pure, and the same for every backend.

use domain::runs::failure::FailureClass;
use domain::runs::run_event::{AgentError, ErrorClass, StopReason, ToolServer};
use nix::libc;

use super::{BOARD_SERVER, classify_stderr};
use crate::resource;
use crate::run_dir::{ExitErrorKind, ExitRecord};

/// The facts about a run whose processes are gone.
#[derive(Debug, Clone, Copy)]
pub struct ExitEvidence<'a> {
    pub exit: &'a ExitRecord,
    /// How the last turn ended; `None` when that turn did not end.
    pub turn: Option<StopReason>,
    /// The error of the last turn.
    pub error: Option<&'a AgentError>,
    /// The tool servers that the agent reported last, if it started a session.
    pub tool_servers: Option<&'a [ToolServer]>,
    /// The end of the program's stderr.
    pub stderr: &'a str,
    /// Whether a person stopped the run.
    pub stopped: bool,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// The last turn ended in order. Whether the card moved is not known here.
    Success,
    Stopped,
    MissingProgram,
    /// The agent had no tools of the board.
    BoardUnreachable {
        /// The program's word for the state of the board's tools.
        status: String,
    },
    MaxTurns,
    Budget,
    /// The program reported an error that says more than its exit.
    Failed {
        error: AgentError,
    },
    /// The kernel killed the program because memory ran out.
    OutOfMemory {
        detail: String,
    },
    /// The program could not write its files.
    DiskFull {
        text: String,
    },
    /// The program could not be started, or our side of it failed.
    Spawn {
        detail: String,
    },
    /// The checkout could not be set up, so the agent was not started.
    SetupFailed {
        detail: String,
    },
    /// Bubblewrap could not build the jail.
    NoJail {
        text: String,
    },
    /// The shim was killed, so the end is unknown.
    Lost,
    /// The machine or the server ended before the agent did.
    Interrupted {
        detail: String,
    },
    /// The program left its protocol.
    Protocol {
        text: String,
    },
    /// A signal from outside ended the program.
    Killed {
        signal: i32,
        text: String,
    },
    Crashed {
        code: Option<i32>,
        signal: Option<i32>,
        /// The program's last error text.
        text: String,
    },
}

impl RunOutcome {
    /// The failure to record. A lost session is not one: the next run starts a new session.
    pub fn failure(&self) -> Option<FailureClass> {
        match self {
            Self::Success | Self::Stopped | Self::Interrupted { .. } => None,
            Self::MissingProgram => Some(FailureClass::ProgramMissing),
            Self::BoardUnreachable { .. } => Some(FailureClass::McpNotConnected),
            Self::MaxTurns => Some(FailureClass::MaxTurns),
            Self::Budget => Some(FailureClass::Budget),
            Self::Failed { error } => match error.class {
                ErrorClass::SessionUnavailable | ErrorClass::CancelledByUs => None,
                ErrorClass::Auth => Some(FailureClass::SignedOut),
                ErrorClass::Quota => Some(FailureClass::NoCredit),
                ErrorClass::RateLimit => Some(FailureClass::RateLimited),
                ErrorClass::Overloaded | ErrorClass::Unreachable => Some(FailureClass::ServiceUnreachable),
                // The service refused this request. Another task makes another one.
                ErrorClass::BadRequest => Some(FailureClass::ApiError),
                ErrorClass::ContextFull => Some(FailureClass::ContextFull),
                ErrorClass::RootRefused => Some(FailureClass::RootRefused),
                ErrorClass::Stalled => Some(FailureClass::Unresponsive),
                ErrorClass::Protocol => Some(FailureClass::Protocol),
                ErrorClass::AgentCrash | ErrorClass::Unknown => Some(FailureClass::Crashed),
            },
            Self::DiskFull { .. } => Some(FailureClass::DiskFull),
            Self::OutOfMemory { .. } => Some(FailureClass::SystemLimit),
            Self::Spawn { .. } => Some(FailureClass::Spawn),
            Self::SetupFailed { .. } => Some(FailureClass::Setup),
            Self::NoJail { .. } => Some(FailureClass::Sandbox),
            Self::Lost => Some(FailureClass::Lost),
            Self::Protocol { .. } => Some(FailureClass::Protocol),
            Self::Killed { .. } => Some(FailureClass::Killed),
            Self::Crashed { .. } => Some(FailureClass::Crashed),
        }
    }

    /// Whether the next run must start a new session.
    pub fn lost_session(&self) -> bool {
        matches!(self, Self::Failed { error } if error.class == ErrorClass::SessionUnavailable)
    }

    /// Whether the run ended for a reason outside of it, so that the next run continues and no attempt is used.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted { .. })
    }

    /// Whether the model's service responded, even with a refusal.
    pub fn service_responded(&self) -> bool {
        match self {
            Self::Success | Self::MaxTurns | Self::Budget => true,
            Self::Failed { .. } => matches!(self.failure(), Some(FailureClass::ApiError | FailureClass::ContextFull | FailureClass::RateLimited)),
            _ => false,
        }
    }

    /// The text that a person reads besides the failure.
    pub fn detail(&self) -> Option<String> {
        let text = match self {
            Self::Failed { error } => match (self.failure(), error.http) {
                (Some(FailureClass::ApiError | FailureClass::ServiceUnreachable), Some(status)) => format!("{status}: {}", error.message),
                (Some(FailureClass::ApiError | FailureClass::ServiceUnreachable | FailureClass::Protocol), _) => error.message.clone(),
                _ => return None,
            },
            Self::Spawn { detail }
            | Self::SetupFailed { detail }
            | Self::OutOfMemory { detail }
            | Self::DiskFull { text: detail }
            | Self::NoJail { text: detail }
            | Self::Interrupted { detail } => detail.clone(),
            Self::Protocol { text } => text.clone(),
            Self::Killed { signal, text } => with_text(format!("ended by signal {signal}"), text),
            Self::BoardUnreachable { status } => format!("the MCP server {BOARD_SERVER} is {status}"),
            Self::Crashed { code, signal, text } => {
                let how = match (code, signal) {
                    (_, Some(signal)) => format!("ended by signal {signal}"),
                    (Some(code), None) => format!("exit code {code}"),
                    (None, None) => "ended".to_owned(),
                };
                with_text(how, text)
            }
            Self::Success | Self::Stopped | Self::MissingProgram | Self::MaxTurns | Self::Budget | Self::Lost => return None,
        };
        Some(domain::text::excerpt(&text, 500))
    }
}

/// Whether the agent has the board's tools. Without them it could report nothing, so the run must end.
pub fn is_connected_to_board(servers: &[ToolServer]) -> bool {
    servers.iter().any(|server| server.name == BOARD_SERVER && server.connected)
}

/// Judges the end of a run. A stop counts first, then the exit record, the last turn, stderr, and the exit code. The exit code alone
/// says little: programs exit with 0 without their tools, and with 1 for every error.
pub fn classify_end(evidence: &ExitEvidence<'_>) -> RunOutcome {
    if evidence.stopped {
        return RunOutcome::Stopped;
    }
    if let Some(error) = &evidence.exit.error {
        match error.kind {
            ExitErrorKind::MissingProgram => return RunOutcome::MissingProgram,
            ExitErrorKind::StartFailed => return RunOutcome::Spawn { detail: error.detail.clone() },
            ExitErrorKind::SetupFailed => return RunOutcome::SetupFailed { detail: error.detail.clone() },
            ExitErrorKind::OutputLimit => {
                return RunOutcome::Crashed { code: evidence.exit.code, signal: evidence.exit.signal, text: error.detail.clone() };
            }
            ExitErrorKind::NeverStarted | ExitErrorKind::Interrupted => return RunOutcome::Interrupted { detail: error.detail.clone() },
            // The turn may have ended before that.
            // An agent has no limit in its shim.
            ExitErrorKind::Lost | ExitErrorKind::Rebooted | ExitErrorKind::OutOfMemory | ExitErrorKind::TimedOut => {}
        }
    }
    if let Some(servers) = evidence.tool_servers.filter(|servers| !is_connected_to_board(servers)) {
        let status = servers.iter().find(|server| server.name == BOARD_SERVER).map_or("missing", |server| &server.status);
        return RunOutcome::BoardUnreachable { status: status.to_owned() };
    }
    match evidence.turn {
        Some(StopReason::EndTurn | StopReason::MaxTokens | StopReason::Refusal) => RunOutcome::Success,
        Some(StopReason::MaxTurnRequests) => RunOutcome::MaxTurns,
        Some(StopReason::Budget) => RunOutcome::Budget,
        Some(StopReason::Failed | StopReason::Cancelled) => failed_turn(evidence),
        None => without_turn_end(evidence),
    }
}

fn failed_turn(evidence: &ExitEvidence<'_>) -> RunOutcome {
    match evidence.error {
        // The exit tells more than an error without a class.
        Some(error) if matches!(error.class, ErrorClass::Unknown | ErrorClass::AgentCrash) => ended(evidence, &error.message),
        Some(error) => RunOutcome::Failed { error: error.clone() },
        None => ended(evidence, ""),
    }
}

fn without_turn_end(evidence: &ExitEvidence<'_>) -> RunOutcome {
    let stderr = evidence.stderr.trim();
    if let Some(error) = evidence.exit.error.as_ref().filter(|error| error.kind == ExitErrorKind::Rebooted) {
        return RunOutcome::Interrupted { detail: error.detail.clone() };
    }
    if let Some(class) = classify_stderr(stderr) {
        RunOutcome::Failed { error: AgentError::new(class, None, stderr) }
    } else if resource::mentions_full_disk(stderr) {
        RunOutcome::DiskFull { text: stderr.to_owned() }
    } else if let Some(error) = evidence.tool_servers.is_none().then(|| jail_error(stderr)).flatten() {
        RunOutcome::NoJail { text: error.to_owned() }
    } else if evidence.exit.error.as_ref().is_some_and(|error| error.kind == ExitErrorKind::Lost) {
        RunOutcome::Lost
    } else if evidence.exit.code == Some(0) {
        RunOutcome::Protocol { text: with_text("it exited without the result of a turn".to_owned(), stderr) }
    } else {
        ended(evidence, stderr)
    }
}

/// The error of bubblewrap, if it ended before it started the agent.
fn jail_error(stderr: &str) -> Option<&str> {
    stderr.lines().find(|line| line.starts_with("bwrap: "))
}

/// The signals with which people, services and the kernel end a program. Others, such as SIGSEGV, are the program's own fault.
const ENDING: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGKILL];

fn ended(evidence: &ExitEvidence<'_>, text: &str) -> RunOutcome {
    if let Some(error) = evidence.exit.error.as_ref().filter(|error| error.kind == ExitErrorKind::OutOfMemory) {
        return RunOutcome::OutOfMemory { detail: error.detail.clone() };
    }
    let (code, signal) = (evidence.exit.code, evidence.exit.signal);
    // A jail and a shell report the signal of their child in their exit code.
    match signal.or_else(|| code.map(|code| code - 128)).filter(|signal| ENDING.contains(signal)) {
        Some(signal) => RunOutcome::Killed { signal, text: text.to_owned() },
        None => RunOutcome::Crashed { code, signal, text: text.to_owned() },
    }
}

fn with_text(how: String, text: &str) -> String {
    if text.is_empty() { how } else { format!("{how}: {text}") }
}

#[cfg(test)]
mod tests;
