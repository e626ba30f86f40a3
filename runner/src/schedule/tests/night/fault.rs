//! The faults of a night: outages that last a while, failures of single agents, and restarts. Drawn from a seed, so that a night can be repeated.

use std::time::Duration;

use domain::runs::failure::FailureClass;
use domain::time::Timestamp;

/// A generator of pseudorandom numbers (SplitMix64, Steele et al. 2014).
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// True in so many of 1,000 cases.
    pub(super) fn permille(&mut self, share: u64) -> bool {
        self.next() % 1000 < share
    }

    pub(super) fn seconds(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_secs(from + self.next() % (to - from))
    }

    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.next() % items.len() as u64).unwrap()]
    }
}

/// A time in which no agent can work: every run that is started then fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outage {
    pub(super) failure: FailureClass,
    from: Timestamp,
    until: Timestamp,
    /// How long a run takes to fail.
    pub(super) fails_after: Duration,
}

impl Outage {
    pub(super) fn covers(&self, time: Timestamp) -> bool {
        self.from <= time && time < self.until
    }

    /// When the service says that a rate limit ends, in seconds since the Unix epoch.
    pub(super) fn limited_until(&self) -> Option<i64> {
        (self.failure == FailureClass::RateLimited).then(|| self.until.milliseconds() / 1000)
    }
}

/// One outage for each reason to park, one after the other.
pub(super) fn outages(start: Timestamp) -> Vec<Outage> {
    let failures = FailureClass::ALL.iter().copied().filter(|failure| failure.park_reason().is_some());
    let hours = [(60, 20), (150, 90), (300, 15), (400, 45), (500, 5), (600, 10), (700, 30), (800, 60), (900, 12), (1000, 25)];
    let at = |minutes: u64| start.after(Duration::from_secs(60 * minutes));
    let outage = |(failure, (minute, length)): (FailureClass, (u64, u64))| {
        let fails_after = Duration::from_secs(if failure == FailureClass::ServiceUnreachable { 190 } else { 5 });
        Outage { failure, from: at(minute), until: at(minute + length), fails_after }
    };
    failures.zip(hours).map(outage).collect()
}

/// How a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It does what its kind of agent is for.
    Works,
    /// It asks the human.
    Asks,
    /// A reviewer sends the work back.
    Rejects,
    Fails(FailureClass),
    /// It fails and so does every other one while the outage lasts.
    Outage(usize),
}

/// Failures of single agents.
const FAILURES: [FailureClass; 10] = [
    FailureClass::Crashed,
    FailureClass::Killed,
    FailureClass::Lost,
    FailureClass::ApiError,
    FailureClass::NoOutcome,
    FailureClass::Protocol,
    FailureClass::Unresponsive,
    FailureClass::TimedOut,
    FailureClass::ContextFull,
    FailureClass::Spawn,
];

impl Fate {
    pub(super) fn draw(random: &mut Random, is_reviewer: bool) -> Self {
        match () {
            () if random.permille(120) => Self::Fails(random.pick(&FAILURES)),
            () if random.permille(15) && !is_reviewer => Self::Asks,
            () if random.permille(200) && is_reviewer => Self::Rejects,
            () => Self::Works,
        }
    }
}
