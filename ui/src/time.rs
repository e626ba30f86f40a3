//! Times, durations and amounts in readable form, and the clock that updates them.
//!
//! The only file that reads the browser's clock.

use std::time::Duration;

use domain::time::{Timestamp, ago};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;

/// The current time, to the second.
#[derive(Clone, Copy)]
pub(crate) struct Clock(RwSignal<Timestamp>);

impl Clock {
    /// Starts the clock and makes it available below the current owner.
    pub(crate) fn provide() {
        let clock = Self(RwSignal::new(now()));
        provide_context(clock);
        set_interval(move || clock.0.set(now()), Duration::from_secs(1));
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// The current time, which updates what reads it.
    pub(crate) fn now(self) -> Timestamp {
        self.0.get()
    }

    pub(crate) fn elapsed(self, since: Timestamp) -> String {
        span(self.0.get().since(since))
    }

    /// The time left until `then`, or none if it has passed.
    pub(crate) fn until(self, then: Timestamp) -> Option<String> {
        let left = then.since(self.0.get());
        (!left.is_zero()).then(|| format!("retries in {}", span(left)))
    }

    pub(crate) fn ago(self, then: Timestamp) -> String {
        ago(self.0.get().since(then))
    }
}

pub(crate) fn now() -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "current times fit into i64, and the fraction is not needed")]
    Timestamp::from_milliseconds(js_sys::Date::now() as i64)
}

fn local(at: Timestamp) -> js_sys::Date {
    #[expect(clippy::cast_precision_loss, reason = "current times in milliseconds fit into f64")]
    js_sys::Date::new(&JsValue::from_f64(at.milliseconds() as f64))
}

/// The time of day in the zone of the browser, such as `14:05`.
pub(crate) fn local_clock(at: Timestamp) -> String {
    let date = local(at);
    format!("{:02}:{:02}", date.get_hours(), date.get_minutes())
}

/// The date in the zone of the browser, such as `2026-01-31`.
pub(crate) fn local_day(at: Timestamp) -> String {
    let date = local(at);
    format!("{}-{:02}-{:02}", date.get_full_year(), date.get_month() + 1, date.get_date())
}

/// The time of day in the zone of the browser, such as `14:05`, with the date if it is another day.
pub(crate) fn local_time(at: Timestamp) -> String {
    let (clock, day) = (local_clock(at), local_day(at));
    if day == local_day(now()) { clock } else { format!("{} {clock}", &day[5..]) }
}

/// The heading of a day, such as `Today` or `Saturday, 2026-01-31`. Days are dates such as `2026-01-31`.
pub(crate) fn day_heading(day: &str, today: &str) -> String {
    let number = |day: &str| format!("{day}T00:00:00.000Z").parse().map_or(0, |at: Timestamp| at.milliseconds() / 86_400_000);
    const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
    match number(today) - number(day) {
        0 => "Today".to_owned(),
        1 => "Yesterday".to_owned(),
        // 1970 began on a Thursday.
        _ => format!("{}, {day}", WEEKDAYS[usize::try_from(number(day).rem_euclid(7)).unwrap_or_default()]),
    }
}

/// `42s`, `3m 07s`, `2h 05m`, `3d 4h`.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m {:02}s", seconds % 60),
        3600..86400 => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_named_by_their_distance() {
        let headings = ["2026-11-23", "2026-11-22", "2026-11-21", "2026-02-28", "2026-11-24"].map(|day| day_heading(day, "2026-11-23"));
        assert_eq!(headings, ["Today", "Yesterday", "Saturday, 2026-11-21", "Saturday, 2026-02-28", "Tuesday, 2026-11-24"]);
        assert_eq!(day_heading("2025-12-31", "2026-01-01"), "Yesterday");
    }

    #[test]
    fn spans_have_two_units() {
        let spans = [0, 59, 60, 187, 3599, 3600, 7500, 86399, 86400, 273_600];
        let words: Vec<String> = spans.iter().map(|seconds| span(Duration::from_secs(*seconds))).collect();
        assert_eq!(words, ["0s", "59s", "1m 00s", "3m 07s", "59m 59s", "1h 00m", "2h 05m", "23h 59m", "1d 0h", "3d 4h"]);
    }
}
