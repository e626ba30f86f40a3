//! Parking: agent starts are suspended for an outage, which does not count as an attempt of any task.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::runs::backoff::{MAX_BACKOFF, backoff};
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The longest pause between two probes.
const MAX_PAUSE: Duration = Duration::from_secs(30 * 60);

vocabulary! {
    /// The outage that parks all agents.
    ParkReason, "park reason" {
        RateLimited = "rate_limited",
        SignedOut = "signed_out",
        NoCredit = "no_credit",
        ProgramMissing = "program_missing",
        /// Its version must not run agents.
        ProgramTooOld = "program_too_old",
        RootRefused = "root_refused",
        /// The sandbox that agents should run in does not work here, or nobody has chosen one.
        Sandbox = "sandbox",
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
            Self::NoCredit => "the account of the agent program has no credit",
            Self::ProgramMissing => "the agent program was not found",
            Self::ProgramTooOld => "the agent program is too old",
            Self::RootRefused => "the agent program refuses to run as root",
            Self::Sandbox => "the sandbox of agents is not chosen yet",
            Self::McpNotConnected => "the agent could not reach the board",
            Self::ServiceUnreachable => "the model service is unreachable",
            Self::DiskFull => "the disk is full",
            Self::SystemLimit => "this machine is out of files, processes or memory",
        }
    }

    /// How long agents are parked after `failed_probes` runs in a row ended for this reason, unless the service named an end. The pauses grow,
    /// so that an outage that nobody resolves costs a bounded number of runs.
    pub fn pause(self, failed_probes: u32) -> Duration {
        if self.passes_quickly() {
            return backoff(failed_probes, 0);
        }
        let minutes = 4u64.saturating_pow(failed_probes.saturating_sub(1).min(10));
        Duration::from_secs(minutes * 60).min(MAX_PAUSE)
    }

    /// The maximum time that agents are parked before the next check.
    pub const fn max_duration(self) -> Duration {
        match self {
            // Known limits last at most one week.
            Self::RateLimited => Duration::from_secs(8 * 24 * 3600),
            _ if self.passes_quickly() => MAX_BACKOFF,
            _ => MAX_PAUSE,
        }
    }

    /// Whether the outage lasts until the human acts.
    const fn needs_human(self) -> bool {
        matches!(
            self,
            Self::SignedOut | Self::NoCredit | Self::ProgramMissing | Self::ProgramTooOld | Self::RootRefused | Self::Sandbox | Self::DiskFull
        )
    }

    /// Whether a failed run costs nothing and the cause often passes by itself.
    const fn passes_quickly(self) -> bool {
        matches!(self, Self::ServiceUnreachable | Self::DiskFull | Self::SystemLimit)
    }

    /// Says what the human can do. The steps for a specific agent program are in [`Parking::detail`].
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::RateLimited => "Nothing to do: work continues automatically when the limit is lifted.",
            Self::SignedOut => "Sign in to the agent program. Work then continues automatically.",
            Self::NoCredit => "Add credit to the account, or sign in with another one. Work then continues automatically.",
            Self::ProgramMissing => "Install the agent program, or set its path in \"agent_command\". Work then continues automatically.",
            Self::ProgramTooOld => "Update the agent program. Work then continues automatically.",
            Self::RootRefused => "Run vibe-relay as an ordinary user, or declare the sandbox that it runs in.",
            Self::Sandbox => {
                "Choose one that works here, in the dialog *New project* of the board or with \"sandbox\" in the configuration. Work then continues \
                 automatically."
            }
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
    /// When the outage was noticed.
    pub since: Timestamp,
    /// The time of the next check.
    pub until: Timestamp,
    pub detail: String,
    /// How many runs in a row ended for this reason. If it is 0, a check found it before any run.
    pub failed_probes: u32,
}

impl Parking {
    /// After so many failed runs in a row, the human has to look at it.
    const PROBES_BEFORE_ATTENTION: u32 = 3;

    /// Whether only a run can show that the outage is over: the runner starts one as a probe, and the others wait for it.
    pub fn needs_probe(&self) -> bool {
        self.failed_probes > 0
    }

    /// Whether the outage is unlikely to pass by itself.
    pub fn needs_attention(&self) -> bool {
        self.failed_probes >= Self::PROBES_BEFORE_ATTENTION
    }

    /// Whether agents stay parked until the human acts, as far as one can tell.
    pub fn needs_human(&self) -> bool {
        self.reason.needs_human() || self.needs_attention()
    }

    /// Whether the human is needed since the change at `at`. Later changes only prolong the parking.
    pub fn needs_human_since(&self, at: Timestamp) -> bool {
        if self.reason.needs_human() { self.since == at } else { self.failed_probes == Self::PROBES_BEFORE_ATTENTION }
    }

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
            let has_expired = |until| Parking { reason, since: now, until, detail: String::new(), failed_probes: 0 }.has_expired(now);
            assert!(has_expired(now) && has_expired(now.before(Duration::from_secs(1))), "{reason}");
            assert!(!has_expired(now.after(Duration::from_millis(1))) && !has_expired(now.after(reason.max_duration())), "{reason}");
            assert!(has_expired(now.after(reason.max_duration() + Duration::from_millis(1))), "{reason}");
        }
    }

    #[test]
    fn human_is_needed_at_once_or_after_three_probes() {
        let (start, later) = (Timestamp::from_milliseconds(1_000_000), Timestamp::from_milliseconds(2_000_000));
        let parking = |reason, failed_probes| Parking { reason, since: start, until: later, detail: String::new(), failed_probes };
        let signed_out = parking(ParkReason::SignedOut, 1);
        assert!(signed_out.needs_human() && signed_out.needs_human_since(start) && !signed_out.needs_human_since(later));
        let probes: Vec<u32> = (1..6).filter(|probes| parking(ParkReason::ServiceUnreachable, *probes).needs_human_since(later)).collect();
        assert_eq!(probes, [3]);
        assert!(parking(ParkReason::ServiceUnreachable, 4).needs_human() && !parking(ParkReason::RateLimited, 1).needs_human());
    }

    /// Eight hours of an outage that nobody resolves, with runs that fail after a second.
    #[test]
    fn probes_of_a_lasting_outage_are_bounded() {
        let mut table = String::new();
        for reason in ParkReason::ALL.iter().copied() {
            let (mut second, mut pauses, mut runs_in_ten_minutes) = (1, Vec::new(), 1);
            while second < 8 * 3600 {
                let pause = reason.pause(u32::try_from(pauses.len()).unwrap() + 1).as_secs();
                assert!(pauses.last().is_none_or(|last| pause >= *last) && Duration::from_secs(pause) <= reason.max_duration(), "{reason}");
                pauses.push(pause);
                second += pause + 1;
                runs_in_ten_minutes += u32::from(second <= 600);
            }
            let first: Vec<String> = pauses.iter().take(6).map(u64::to_string).collect();
            table.push_str(&format!("{reason}: {} runs, {runs_in_ten_minutes} in 10 minutes; pauses {} …\n", pauses.len() + 1, first.join(", ")));
        }
        insta::assert_snapshot!(table);
    }
}
