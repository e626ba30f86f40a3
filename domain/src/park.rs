//! Reasons that keep every agent from being started: nothing about a task, so no task pays an attempt for it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::Timestamp;
use crate::word::words;

words! {
    ParkReason, "reason to park" {
        RateLimited = "rate_limited",
        SignedOut = "signed_out",
        ProgramMissing = "program_missing",
        RootRefused = "root_refused",
        /// The agent's program did not connect to our MCP server.
        McpNotConnected = "mcp_not_connected",
    }
}

impl ParkReason {
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::RateLimited => "rate limited",
            Self::SignedOut => "Claude Code is not signed in",
            Self::ProgramMissing => "Claude Code was not found",
            Self::RootRefused => "Claude Code refuses to work as root",
            Self::McpNotConnected => "the agent could not reach the board",
        }
    }

    /// What a person can do about it.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::RateLimited => "Nothing to do: work goes on by itself when the limit is lifted.",
            Self::SignedOut => "Run `claude` in a terminal and sign in, or set ANTHROPIC_API_KEY before `vibe-relay serve`. Work goes on by itself.",
            Self::ProgramMissing => {
                "Install it with `npm install -g @anthropic-ai/claude-code`, or name it in \"agent_command\". Work goes on by itself."
            }
            Self::RootRefused => {
                "Run vibe-relay as an ordinary user; inside a container or another sandbox set IS_SANDBOX=1 before `vibe-relay serve`."
            }
            Self::McpNotConnected => "See the attempt's output for what the bridge said, and run `vibe-relay doctor`. Work is tried again by itself.",
        }
    }
}

/// That agents are parked, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Parking {
    pub reason: ParkReason,
    /// When it is tried again.
    pub until: Timestamp,
    pub detail: String,
}
