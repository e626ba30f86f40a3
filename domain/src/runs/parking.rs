//! Parking: agent starts are suspended for an outage, which does not count as an attempt of any task.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::runs::backoff::MAX_BACKOFF;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The outage that parks all agents.
    ParkReason, "park reason" {
        RateLimited = "rate_limited",
        SignedOut = "signed_out",
        ProgramMissing = "program_missing",
        RootRefused = "root_refused",
        /// The agent program did not connect to the MCP server of the board.
        McpNotConnected = "mcp_not_connected",
        /// The model service is unreachable or returned a server error.
        ServiceUnreachable = "service_unreachable",
        /// The disk has no space for checkouts or transcripts.
        DiskFull = "disk_full",
        /// No more files can be opened, or processes started.
        SystemLimit = "system_limit",
    }
}

impl ParkReason {
    /// Describes the outage.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::RateLimited => "rate limited",
            Self::SignedOut => "the agent program is not signed in",
            Self::ProgramMissing => "the agent program was not found",
            Self::RootRefused => "the agent program refuses to run as root",
            Self::McpNotConnected => "the agent could not reach the board",
            Self::ServiceUnreachable => "the model service is unreachable",
            Self::DiskFull => "the disk is full",
            Self::SystemLimit => "this machine is out of files, processes or memory",
        }
    }

    /// Whether only a run can show that the outage is over: the runner starts one as a probe, and the others wait for it.
    pub const fn needs_probe(self) -> bool {
        matches!(self, Self::ServiceUnreachable | Self::DiskFull | Self::SystemLimit)
    }

    /// The maximum time that agents are parked before the next check.
    pub const fn max_duration(self) -> Duration {
        match self {
            // Known limits last at most one week.
            Self::RateLimited => Duration::from_secs(8 * 24 * 3600),
            Self::SignedOut | Self::ProgramMissing | Self::RootRefused | Self::McpNotConnected => Duration::from_secs(30),
            Self::ServiceUnreachable | Self::DiskFull | Self::SystemLimit => MAX_BACKOFF,
        }
    }

    /// Says what the human can do. The steps for a specific agent program are in [`Parking::detail`].
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::RateLimited => "Nothing to do: work continues automatically when the limit is lifted.",
            Self::SignedOut => "Sign in to the agent program. Work then continues automatically.",
            Self::ProgramMissing => "Install the agent program, or set its path in \"agent_command\". Work then continues automatically.",
            Self::RootRefused => "Run vibe-relay as an ordinary user, or declare the sandbox that it runs in.",
            Self::McpNotConnected => "Read the bridge's message in the attempt's output, and run `vibe-relay doctor`. Work is retried automatically.",
            Self::ServiceUnreachable => {
                "Check this machine's network. If it works, the service is down and there is nothing to do: one agent retries from time to time, \
                 and no attempt is used."
            }
            Self::DiskFull => {
                "Free disk space where the worktrees and the board's database are. One agent retries from time to time, and no attempt is used."
            }
            Self::SystemLimit => {
                "Raise the limits of this user (`ulimit -n`, `ulimit -u`) or free memory. One agent retries from time to time, and no attempt is used."
            }
        }
    }
}

/// A suspension of agent starts and its end time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Parking {
    pub reason: ParkReason,
    /// The time of the next check.
    pub until: Timestamp,
    pub detail: String,
}

impl Parking {
    /// Whether the end time has passed. An end time beyond the maximum duration means that the clock was set back, and also counts.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.until.is_due(now, self.reason.max_duration())
    }
}

events! {
    /// A change of the parking.
    ParkingEvent {
        Parked "agents_parked" { parking: Parking }
        Resumed "agents_resumed" { reason: ParkReason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parking_expires_on_time_or_when_implausible() {
        let now = Timestamp::from_milliseconds(1_000_000);
        for reason in ParkReason::ALL.iter().copied() {
            let has_expired = |until| Parking { reason, until, detail: String::new() }.has_expired(now);
            assert!(has_expired(now) && has_expired(now.before(Duration::from_secs(1))), "{reason}");
            assert!(!has_expired(now.after(Duration::from_millis(1))) && !has_expired(now.after(reason.max_duration())), "{reason}");
            assert!(has_expired(now.after(reason.max_duration() + Duration::from_millis(1))), "{reason}");
        }
    }
}
