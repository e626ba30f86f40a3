//! Timestamps: UTC in milliseconds, written as RFC 3339 with a `Z`. The fixed width makes text order equal to time order, also in SQL.
//!
//! Must not read a clock.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::schema::string_schema;

/// Milliseconds since the Unix epoch; as text `2026-01-31T09:05:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

/// A text that is not an RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a time: expected something like 2026-01-31T09:05:00.000Z")]
pub struct InvalidTime(String);

string_schema!(
    Timestamp,
    "Timestamp",
    "UTC time in RFC 3339 with milliseconds.",
    "2026-01-31T09:05:00.000Z",
    pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
    format = utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::DateTime)
);

impl Timestamp {
    /// The milliseconds from 1970 on that have a four-digit year.
    const RANGE: std::ops::RangeInclusive<i64> = 0..=253_370_764_799_999;

    /// Creates the time `milliseconds` after the Unix epoch, clamped to the years 1970 to 9998.
    pub fn from_milliseconds(milliseconds: i64) -> Self {
        Self(milliseconds.clamp(*Self::RANGE.start(), *Self::RANGE.end()))
    }

    pub fn milliseconds(self) -> i64 {
        self.0
    }

    /// Returns the time `span` later.
    pub fn after(self, span: Duration) -> Self {
        Self::from_milliseconds(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns the time `span` earlier.
    pub fn before(self, span: Duration) -> Self {
        Self::from_milliseconds(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Whether this deadline has passed at `now`. The deadline was set at most `max_wait` ahead, so a later one means that the clock was set
    /// back, and it also counts as passed.
    pub fn is_due(self, now: Self, max_wait: Duration) -> bool {
        self <= now || self > now.after(max_wait)
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or_default())
    }

    /// Returns the date in UTC: `2026-01-31`.
    pub fn day(self) -> String {
        self.to_string().chars().take(10).collect()
    }

    /// Returns hours and minutes in UTC for display: `14:05 UTC`.
    pub fn clock(self) -> String {
        let minutes = self.0 / 60_000;
        format!("{:02}:{:02} UTC", minutes / 60 % 24, minutes % 60)
    }
}

/// Describes how long ago something was: `just now`, `5 min ago`, `3 h ago`, `2 days ago`.
pub fn ago(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0..45 => "just now".to_owned(),
        45..3600 => format!("{} min ago", (seconds / 60).max(1)),
        3600..86400 => format!("{} h ago", seconds / 3600),
        86400..172_800 => "yesterday".to_owned(),
        _ => format!("{} days ago", seconds / 86400),
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => f.write_str("1970-01-01T00:00:00.000Z"),
        }
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTime;

    fn from_str(given: &str) -> Result<Self, InvalidTime> {
        let time: jiff::Timestamp = given.parse().map_err(|_| InvalidTime(given.chars().take(60).collect()))?;
        Ok(Self::from_milliseconds(time.as_millisecond()))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTime;

    fn try_from(given: String) -> Result<Self, InvalidTime> {
        given.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> String {
        time.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_a_fixed_width_and_parses_back() {
        for milliseconds in [0, 1, 999, 1_769_850_300_000, 253_370_764_799_999] {
            let time = Timestamp::from_milliseconds(milliseconds);
            assert_eq!(time.to_string().len(), 24, "{time}");
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        assert_eq!(Timestamp::from_milliseconds(1_769_850_300_000).to_string(), "2026-01-31T09:05:00.000Z");
    }

    #[test]
    fn spans_saturate() {
        let time = Timestamp::from_milliseconds(1_000);
        assert_eq!(time.after(Duration::from_secs(1)).since(time), Duration::from_secs(1));
        assert_eq!(time.since(time.after(Duration::from_secs(1))), Duration::ZERO);
        assert_eq!(time.before(Duration::from_millis(999)).milliseconds(), 1);
        assert_eq!(time.before(Duration::MAX).milliseconds(), 0);
        assert_eq!(Timestamp::from_milliseconds(i64::MAX).after(Duration::MAX).to_string(), "9998-12-31T23:59:59.999Z");
    }

    #[test]
    fn past_times_are_rounded() {
        let words: Vec<String> = [3, 50, 3599, 3600, 86400, 200_000].iter().map(|s| ago(Duration::from_secs(*s))).collect();
        assert_eq!(words, ["just now", "1 min ago", "59 min ago", "1 h ago", "yesterday", "2 days ago"]);
    }
}
