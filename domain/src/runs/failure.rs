//! How a run ended, what is to be done about it, and who pays for it.

use std::time::Duration;

use crate::runs::parking::ParkReason;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// How a run ended.
    EndClass, "end of a run" {
        /// It moved its card.
        Finished = "finished",
        /// It asked the person; the session goes on with the answer.
        AwaitingAnswer = "asked",
        /// A person stopped it, or moved its card.
        Stopped = "stopped",
        Failed = "failed",
        /// Nothing is wrong with the task: agents cannot work at all for now.
        Parked = "parked",
    }
}

vocabulary! {
    /// What went wrong.
    FailureClass, "failure" {
        /// The process ended by a signal or with an error code and no result.
        Crashed = "crashed",
        /// The process and its supervisor are gone without a trace of how.
        Lost = "lost",
        ApiError = "api_error",
        MaxTurns = "max_turns",
        Budget = "budget",
        /// It ended in good order, was reminded once, and still left its card where it was.
        NoOutcome = "no_move",
        /// Nothing was heard of it for too long.
        Unresponsive = "silent",
        /// Its checkout could not be made.
        Checkout = "checkout",
        Spawn = "spawn",
        RateLimited = "rate_limited",
        SignedOut = "signed_out",
        ProgramMissing = "program_missing",
        RootRefused = "root_refused",
        McpNotConnected = "mcp_not_connected",
        /// The model's service could not be reached, or failed by itself.
        ServiceUnreachable = "service_unreachable",
        DiskFull = "disk_full",
    }
}

impl FailureClass {
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Crashed => "the agent's process crashed",
            Self::Lost => "the agent's process vanished",
            Self::ApiError => "the model's service answered with an error",
            Self::MaxTurns => "the agent used all its turns",
            Self::Budget => "the agent used up its budget",
            Self::NoOutcome => "the agent ended without moving its card",
            Self::Unresponsive => "the agent fell silent",
            Self::Checkout => "its checkout could not be made",
            Self::Spawn => "its process could not be started",
            Self::RateLimited => ParkReason::RateLimited.sentence(),
            Self::SignedOut => ParkReason::SignedOut.sentence(),
            Self::ProgramMissing => ParkReason::ProgramMissing.sentence(),
            Self::RootRefused => ParkReason::RootRefused.sentence(),
            Self::McpNotConnected => ParkReason::McpNotConnected.sentence(),
            Self::ServiceUnreachable => ParkReason::ServiceUnreachable.sentence(),
            Self::DiskFull => ParkReason::DiskFull.sentence(),
        }
    }

    /// The reason to park every agent, when the failure says nothing about the task. Such a run pays no attempt.
    pub const fn park_reason(self) -> Option<ParkReason> {
        match self {
            Self::RateLimited => Some(ParkReason::RateLimited),
            Self::SignedOut => Some(ParkReason::SignedOut),
            Self::ProgramMissing => Some(ParkReason::ProgramMissing),
            Self::RootRefused => Some(ParkReason::RootRefused),
            Self::McpNotConnected => Some(ParkReason::McpNotConnected),
            Self::ServiceUnreachable => Some(ParkReason::ServiceUnreachable),
            Self::DiskFull => Some(ParkReason::DiskFull),
            _ => None,
        }
    }
}

/// More than [`backoff`] ever answers.
pub const MAX_BACKOFF: Duration = Duration::from_secs(330);

/// How long to wait after the `failed`-th failure in a row (from 1): 10 s, doubled each time, at most 5 minutes, plus up to a tenth
/// taken from `salt` so that tasks that failed together do not come back together.
pub fn backoff(failed: u32, salt: u64) -> Duration {
    let base = 10_000u64.saturating_mul(1 << failed.saturating_sub(1).min(10)).min(300_000);
    Duration::from_millis(base + salt.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (base / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_five_minutes_with_a_little_jitter() {
        let bounds: Vec<(u64, u64)> = (1..=7)
            .map(|failed| {
                let waits = (0..200).map(|salt| backoff(failed, salt).as_secs());
                (waits.clone().min().unwrap(), waits.max().unwrap())
            })
            .collect();
        assert_eq!(bounds, [(10, 10), (20, 21), (40, 43), (80, 87), (160, 175), (300, 329), (300, 329)]);
        assert_eq!(backoff(u32::MAX, 0).as_secs(), 300);
        assert!((0..10_000).all(|salt| backoff(9, salt) < MAX_BACKOFF));
    }

    #[test]
    fn only_what_says_nothing_about_the_task_parks() {
        let parking: Vec<&str> = FailureClass::ALL.iter().filter(|class| class.park_reason().is_some()).map(|class| class.as_str()).collect();
        let known = ["rate_limited", "signed_out", "program_missing", "root_refused", "mcp_not_connected", "service_unreachable", "disk_full"];
        assert_eq!(parking, known);
    }
}
