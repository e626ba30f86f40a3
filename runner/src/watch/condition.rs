//! The condition of a watched agent: whether it waits for its model's service, and whether it shows any sign of work. Pure.
//!
//! An agent is quiet while it prints nothing, its processes use no CPU time, and no tool of it is at work. Time is counted from probe to probe,
//! so that a server that was suspended or frozen takes its own absence for nobody's silence. It must not know how processes are read.

use std::time::Duration;

use domain::runs::run_event::RunEvent;
use tokio::time::Instant;

/// How often a silent agent is probed. One probe reads the process table.
const PROBE_INTERVAL: Duration = Duration::from_secs(30);
/// How long an agent is quiet before its card says so.
const SHOW_AFTER: Duration = Duration::from_secs(5 * 60);
/// An idle program still runs its timers: up to this part of an interval counts as no CPU time.
const IDLE_PART: u32 = 50;

/// The reason why an agent does no work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    Quiet { since: Instant },
    RetryingService { detail: String },
}

#[derive(Debug)]
pub(super) struct ConditionWatch {
    /// After which a quiet agent is ended.
    stall_timeout: Option<Duration>,
    probe_at: Instant,
    /// The last probe, and the CPU time of all its processes then.
    probed: Option<(Instant, Duration)>,
    quiet_for: Duration,
    quiet_since: Option<Instant>,
    retrying: Option<String>,
    /// The condition on the card.
    shown: Option<Condition>,
}

impl ConditionWatch {
    pub(super) fn new(stall_timeout: Option<Duration>, now: Instant) -> Self {
        let probe_at = now + PROBE_INTERVAL;
        Self { stall_timeout, probe_at, probed: None, quiet_for: Duration::ZERO, quiet_since: None, retrying: None, shown: None }
    }

    pub(super) fn probe_at(&self) -> Instant {
        self.probe_at
    }

    /// The agent printed a line.
    pub(super) fn on_output(&mut self, events: &[RunEvent], now: Instant) {
        self.probe_at = now + PROBE_INTERVAL;
        self.reset();
        for event in events {
            match event {
                // The first repetition usually succeeds.
                RunEvent::Retrying { status, attempt, message, .. } if *attempt > 1 => {
                    let status = status.map(|status| format!("{status} ")).unwrap_or_default();
                    self.retrying = Some(format!("{status}{message}"));
                }
                RunEvent::Retrying { .. } | RunEvent::RateLimit { .. } | RunEvent::Other { .. } => {}
                _ => self.retrying = None,
            }
        }
    }

    pub(super) fn probe_started(&mut self, now: Instant) {
        self.probe_at = now + PROBE_INTERVAL;
    }

    /// `cpu` is the CPU time of all its processes so far, if that is known. Returns how long the agent was quiet, if it
    /// is to be ended.
    pub(super) fn on_probe(&mut self, cpu: Option<Duration>, tool_at_work: bool, now: Instant) -> Option<Duration> {
        let earlier = self.probed;
        self.probed = cpu.map(|cpu| (now, cpu));
        let (Some((at, before)), Some(cpu)) = (earlier, cpu) else { return None };
        let elapsed = now - at;
        // A process that ended takes its time with it.
        let is_idle = !tool_at_work && cpu >= before && cpu - before < elapsed / IDLE_PART;
        if !is_idle {
            self.reset();
            self.probed = Some((now, cpu));
            return None;
        }
        self.quiet_for += elapsed.min(PROBE_INTERVAL * 2);
        self.quiet_since.get_or_insert(at);
        Some(self.quiet_for).filter(|quiet_for| self.stall_timeout.is_some_and(|timeout| *quiet_for >= timeout))
    }

    /// The condition, if the card says something else.
    #[expect(clippy::option_option, reason = "no change, or a change to no condition")]
    pub(super) fn changed(&mut self) -> Option<Option<Condition>> {
        let condition = self.current();
        (condition != self.shown).then(|| {
            self.shown = condition.clone();
            condition
        })
    }

    pub(super) fn current(&self) -> Option<Condition> {
        let quiet = self.quiet_since.filter(|_| self.quiet_for >= SHOW_AFTER).map(|since| Condition::Quiet { since });
        quiet.or_else(|| self.retrying.clone().map(|detail| Condition::RetryingService { detail }))
    }

    fn reset(&mut self) {
        (self.probed, self.quiet_for, self.quiet_since) = (None, Duration::ZERO, None);
    }
}

#[cfg(test)]
mod tests;
