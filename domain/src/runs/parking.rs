//! Reasons that keep every agent from being started: nothing about a task, so no task pays an attempt for it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::failure::MAX_BACKOFF;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    ParkReason, "reason to park" {
        RateLimited = "rate_limited",
        SignedOut = "signed_out",
        ProgramMissing = "program_missing",
        RootRefused = "root_refused",
        /// The agent's program did not connect to our MCP server.
        McpNotConnected = "mcp_not_connected",
        /// The model's service could not be reached, or failed by itself.
        ServiceUnreachable = "service_unreachable",
        /// There is no room for checkouts or for what agents print.
        DiskFull = "disk_full",
    }
}

impl ParkReason {
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::RateLimited => "rate limited",
            Self::SignedOut => "the agent program is not signed in",
            Self::ProgramMissing => "the agent program was not found",
            Self::RootRefused => "the agent program refuses to run as root",
            Self::McpNotConnected => "the agent could not reach the board",
            Self::ServiceUnreachable => "the model's service cannot be reached",
            Self::DiskFull => "the disk is full",
        }
    }

    /// Whether only an agent at work can show that the reason is gone: one is started to find out, and the others wait for it.
    pub const fn needs_probe(self) -> bool {
        matches!(self, Self::ServiceUnreachable | Self::DiskFull)
    }

    /// The longest that agents are parked before it is looked at again.
    pub const fn max_duration(self) -> Duration {
        match self {
            // No limit is known to last longer than a week.
            Self::RateLimited => Duration::from_secs(8 * 24 * 3600),
            Self::SignedOut | Self::ProgramMissing | Self::RootRefused | Self::McpNotConnected => Duration::from_secs(30),
            Self::ServiceUnreachable | Self::DiskFull => MAX_BACKOFF,
        }
    }

    /// What a person can do about it. The agent program's own steps are in [`Parking::detail`].
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::RateLimited => "Nothing to do: work goes on by itself when the limit is lifted.",
            Self::SignedOut => "Sign in to the agent program. Work resumes by itself.",
            Self::ProgramMissing => "Install the agent program, or set its path in \"agent_command\". Work resumes by itself.",
            Self::RootRefused => "Run vibe-relay as an ordinary user, or declare the sandbox that it runs in.",
            Self::McpNotConnected => "See the attempt's output for what the bridge said, and run `vibe-relay doctor`. Work is tried again by itself.",
            Self::ServiceUnreachable => {
                "Look at this machine's network; if that is well, the service is down and nothing is to do. One agent tries from time to time: \
                 work goes on by itself, and no attempt is spent."
            }
            Self::DiskFull => {
                "Make room where the worktrees and the board's database are. One agent tries from time to time: work goes on by itself, and no \
                 attempt is spent."
            }
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

impl Parking {
    /// Whether its time is over. One that is further off than is ever decided was reckoned by a clock that has been set back since.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.until.is_due(now, self.reason.max_duration())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parking_is_over_at_its_time_or_when_it_is_too_far_off_to_be_meant() {
        let now = Timestamp::from_milliseconds(1_000_000);
        for reason in ParkReason::ALL.iter().copied() {
            let over = |until| Parking { reason, until, detail: String::new() }.has_expired(now);
            assert!(over(now) && over(now.before(Duration::from_secs(1))), "{reason}");
            assert!(!over(now.after(Duration::from_millis(1))) && !over(now.after(reason.max_duration())), "{reason}");
            assert!(over(now.after(reason.max_duration() + Duration::from_millis(1))), "{reason}");
        }
    }
}
