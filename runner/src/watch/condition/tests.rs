//! A silent agent is shown, then ended; one that works in any way is neither.

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

struct Bench {
    watch: ConditionWatch,
    start: Instant,
    now: Instant,
    cpu: Duration,
}

impl Bench {
    fn new(stall_timeout: Option<Duration>) -> Self {
        let start = Instant::now();
        Self { watch: ConditionWatch::new(stall_timeout, start), start, now: start, cpu: Duration::ZERO }
    }

    /// Probes until `end`; in each interval the processes use `cpu`. Returns when the card said that it is quiet, and when it was to be ended.
    fn probes(&mut self, cpu: Duration, tool_at_work: bool, end: Duration) -> (Option<Duration>, Option<Duration>) {
        let mut shown = None;
        while self.now < self.start + end {
            self.now = self.watch.probe_at();
            self.watch.probe_started(self.now);
            self.cpu += cpu;
            let ended = self.watch.on_probe(Some(self.cpu), tool_at_work, self.now);
            if let Some(Some(Condition::Quiet { .. })) = self.watch.changed() {
                shown = Some(self.now - self.start);
            }
            if ended.is_some() {
                return (shown, Some(self.now - self.start));
            }
        }
        (shown, None)
    }
}

fn retrying(attempt: u32) -> RunEvent {
    RunEvent::Retrying { status: Some(529), attempt, limit: Some(10), delay_ms: 1, message: "overloaded".to_owned() }
}

#[test]
fn silent_agent_is_shown_and_ended_later() {
    let idle = Duration::from_millis(300);
    // The first probe is the one that others are compared with.
    let rows = [
        (Some(30 * MINUTE), (Some(MINUTE * 11 / 2), Some(MINUTE * 61 / 2))),
        (Some(MINUTE), (None, Some(MINUTE * 3 / 2))),
        (None, (Some(MINUTE * 11 / 2), None)),
    ];
    for (timeout, expected) in rows {
        assert_eq!(Bench::new(timeout).probes(idle, false, 300 * MINUTE), expected, "{timeout:?}");
    }
}

#[test]
fn agent_at_work_is_never_ended() {
    let thousand_hours = 60_000 * MINUTE;
    let none = (None, None);
    assert_eq!(Bench::new(Some(MINUTE)).probes(Duration::from_millis(700), false, thousand_hours), none, "it computes");
    assert_eq!(Bench::new(Some(MINUTE)).probes(Duration::ZERO, true, thousand_hours), none, "a tool is at work");
    let mut prints = Bench::new(Some(10 * MINUTE));
    for minute in (9..60_000).step_by(9) {
        assert_eq!(prints.probes(Duration::ZERO, false, minute * MINUTE).1, None);
        prints.watch.on_output(&[], prints.now);
        assert_eq!(prints.watch.current(), None);
    }
    let mut unreadable = Bench::new(Some(MINUTE));
    for _ in 0..100 {
        unreadable.now = unreadable.watch.probe_at();
        unreadable.watch.probe_started(unreadable.now);
        assert_eq!(unreadable.watch.on_probe(None, false, unreadable.now), None, "nothing is known");
    }
}

#[test]
fn time_in_which_nobody_probed_counts_for_one_probe() {
    let mut bench = Bench::new(Some(30 * MINUTE));
    bench.probes(Duration::ZERO, false, 2 * MINUTE);
    bench.now += 600 * MINUTE;
    assert_eq!(bench.watch.on_probe(Some(bench.cpu), false, bench.now), None, "the server was frozen");
    assert_eq!(bench.watch.current(), None);
}

#[test]
fn process_that_ends_is_a_sign_of_work() {
    let mut bench = Bench::new(Some(MINUTE));
    bench.cpu = 100 * MINUTE;
    bench.probes(Duration::ZERO, false, MINUTE);
    bench.cpu = MINUTE;
    bench.now += PROBE_INTERVAL;
    assert_eq!(bench.watch.on_probe(Some(bench.cpu), false, bench.now), None);
    assert_eq!(bench.watch.quiet_for, Duration::ZERO);
}

#[test]
fn repeated_requests_are_shown_until_one_is_answered() {
    let mut bench = Bench::new(None);
    let detail = || Some(Condition::RetryingService { detail: "529 overloaded".to_owned() });
    let rows = [
        (retrying(1), None),
        (retrying(2), Some(detail())),
        (retrying(3), None),
        (RunEvent::Other { raw: String::new(), plain: true }, None),
        (RunEvent::Text { text: "Hello.".to_owned() }, Some(None)),
    ];
    for (event, expected) in rows {
        bench.watch.on_output(std::slice::from_ref(&event), bench.now);
        assert_eq!(bench.watch.changed(), expected, "{event:?}");
    }
}
