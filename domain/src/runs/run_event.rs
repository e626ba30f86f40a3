//! Run events: what an agent program reported, in terms that fit every agent program.
//!
//! A backend of the runner translates a program's own output into these events. This file must not know any program's words. The
//! JSON form is the format of an adapter's output, so it is locked by a snapshot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::runs::usage::{ModelInfo, Tokens};
use crate::vocabulary::vocabulary;

/// One event of a run. One line of output holds none, one or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    SessionStarted(SessionStarted),
    /// The agent begins to work. An event of a turn belongs to the turn that started last.
    TurnStarted {},
    /// The agent took a message that was sent to it.
    MessageAccepted {
        /// The id that the message was sent with.
        id: Option<String>,
        text: String,
    },
    /// A finished block of text. A backend joins the chunks of an agent that streams them.
    Text {
        text: String,
    },
    Thinking {
        text: String,
    },
    ToolStarted(ToolCall),
    ToolEnded {
        /// The id of [`ToolCall`]. An end without a start is legal, because some agents skip the start.
        id: String,
        ok: bool,
        output: String,
    },
    /// The agent's own plan, complete each time.
    Plan {
        entries: Vec<PlanEntry>,
    },
    Usage(TurnUsage),
    /// A part of a model's answer arrived, with what its request consumed so far. Several parts of one answer have the same id.
    Request(RequestUsage),
    /// How full the main conversation is. The latest value of each field counts.
    Context {
        /// In tokens.
        used: Option<u64>,
        size: Option<u64>,
    },
    /// The program repeats a request to the model.
    Retrying {
        /// The HTTP status; `None` without a response.
        status: Option<u16>,
        attempt: u32,
        /// The number of attempts after which the program gives up.
        limit: Option<u32>,
        delay_ms: u64,
        message: String,
    },
    RateLimit {
        state: RateLimitState,
        /// When the limit resets, in seconds since the Unix epoch.
        resets_at_unix: Option<i64>,
        /// The window of the limit, for example `five_hour`.
        window: Option<String>,
        /// The used part of the limit; 1 is all of it.
        utilization: Option<f64>,
    },
    /// The agent waits for a permission.
    PermissionAsked {
        id: String,
        call: ToolCall,
        options: Vec<PermissionOption>,
    },
    /// The agent took the answer to a permission, or no longer waits for it.
    PermissionClosed {
        id: String,
    },
    /// The agent took the interrupt that was sent with this id.
    InterruptTaken {
        id: String,
    },
    TurnEnded {
        reason: StopReason,
    },
    /// An error of the agent or its service. A turn that fails ends with [`StopReason::Failed`] after it.
    Failed(AgentError),
    /// Output without a meaning here. It is kept and never an error, because formats change with every release.
    Other {
        raw: String,
        /// Whether the program wrote it for people, such as a warning, and not as part of its protocol.
        plain: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionStarted {
    pub id: String,
    pub model: String,
    /// The agent program's name.
    pub agent: String,
    pub version: Option<String>,
    /// Whether a later run can continue this session.
    pub resumable: bool,
    pub tool_servers: Vec<ToolServer>,
}

/// An MCP server as the agent sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolServer {
    pub name: String,
    pub connected: bool,
    /// The program's own word for the state, for display.
    pub status: String,
}

/// One use of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub kind: ToolKind,
    /// The tool's name, without a prefix of the program.
    pub name: String,
    /// The target of the tool in one line: a path, a command, a pattern.
    pub title: String,
    /// The files that the tool touches.
    pub locations: Vec<String>,
    pub input: Value,
    /// The texts that it replaces, if it edits a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<TextEdit>,
}

/// A replaced part of a file. A new file replaces nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    pub old: String,
    pub new: String,
}

vocabulary! {
    /// The action of a tool. Only the words of an activity line depend on it.
    ToolKind, "kind of tool" {
        /// A tool of this board; `name` and `input` are the board's own.
        Board = "board",
        Read = "read",
        Write = "write",
        Edit = "edit",
        Delete = "delete",
        Move = "move",
        Search = "search",
        Execute = "execute",
        Think = "think",
        Fetch = "fetch",
        /// Starts a helper of the agent's own.
        Helper = "helper",
        SwitchMode = "switch_mode",
        Other = "other",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    pub content: String,
    pub status: PlanStatus,
}

vocabulary! {
    PlanStatus, "status of a plan entry" {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
    }
}

/// Consumption, of what `scope` says. Tokens of different scopes must not be added up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUsage {
    pub scope: UsageScope,
    /// Tokens that the model read for the first time, neither from nor into its cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The part of `output` that is thinking.
    pub thinking: Option<u64>,
    /// Requests to the model.
    pub requests: u64,
    /// At list price, in millionths of a US dollar.
    pub cost_micro_usd: Option<i64>,
    /// Facts about the models of the turn, by model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelInfo>,
}

impl TurnUsage {
    pub const fn tokens(&self) -> Tokens {
        Tokens { input: self.input, output: self.output, cache_read: self.cache_read, cache_write: self.cache_write }
    }
}

/// The consumption of one request to a model, as far as it is known when a part of the answer arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestUsage {
    pub id: String,
    pub model: String,
    /// Whether the agent itself asked, and not a helper that it started.
    pub is_main: bool,
    #[serde(flatten)]
    pub tokens: Tokens,
    /// The estimated tokens of this part, because `output` may be from before the answer was written.
    pub part: u64,
}

vocabulary! {
    UsageScope, "usage scope" {
        Call = "call",
        Turn = "turn",
        Session = "session",
    }
}

vocabulary! {
    RateLimitState, "rate limit state" {
        Allowed = "allowed",
        Warning = "warning",
        Rejected = "rejected",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionOption {
    pub id: String,
    pub kind: PermissionKind,
}

vocabulary! {
    PermissionKind, "kind of permission" {
        AllowOnce = "allow_once",
        AllowAlways = "allow_always",
        RejectOnce = "reject_once",
        RejectAlways = "reject_always",
    }
}

vocabulary! {
    /// The reason for the end of a turn.
    StopReason, "stop reason" {
        EndTurn = "end_turn",
        MaxTokens = "max_tokens",
        MaxTurnRequests = "max_turn_requests",
        /// The run used up its budget of money.
        Budget = "budget",
        Refusal = "refusal",
        Cancelled = "cancelled",
        /// See the [`RunEvent::Failed`] before it.
        Failed = "failed",
    }
}

impl StopReason {
    /// Whether the turn did not end in order.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::MaxTurnRequests | Self::Budget | Self::Cancelled | Self::Failed)
    }
}

/// An error that the agent program reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentError {
    pub class: ErrorClass,
    /// The HTTP status of the model's service; `None` without a response.
    pub http: Option<u16>,
    /// The program's own text, for people.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
}

impl AgentError {
    pub fn new(class: ErrorClass, http: Option<u16>, message: impl Into<String>) -> Self {
        Self { class, http, message: message.into(), retryable: class.is_retryable() }
    }
}

vocabulary! {
    ErrorClass, "error class" {
        /// The program is not signed in, or its sign-in was refused.
        Auth = "auth",
        /// The account has no money or no allowance left.
        Quota = "quota",
        RateLimit = "rate_limit",
        /// The model's service failed.
        Overloaded = "overloaded",
        /// The model's service did not answer.
        Unreachable = "unreachable",
        BadRequest = "bad_request",
        ContextFull = "context_full",
        /// The session is unknown or in use, so it cannot be continued.
        SessionUnavailable = "session_unavailable",
        /// The program refuses to run as root.
        RootRefused = "root_refused",
        AgentCrash = "agent_crash",
        Protocol = "protocol",
        CancelledByUs = "cancelled_by_us",
        Stalled = "stalled",
        Unknown = "unknown",
    }
}

impl ErrorClass {
    /// Whether the same request may succeed later without a change.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Quota | Self::RateLimit | Self::Overloaded | Self::Unreachable | Self::Stalled)
    }
}

#[cfg(test)]
mod tests;
