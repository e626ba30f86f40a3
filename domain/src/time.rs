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
        let (year, month, day) = date(self.0.div_euclid(DAY));
        let seconds = self.0.rem_euclid(DAY) / 1_000;
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{:02}.{:03}Z", seconds % 60, self.0.rem_euclid(1_000))
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTime;

    fn from_str(given: &str) -> Result<Self, InvalidTime> {
        fixed_width(given).or_else(|| other_form(given)).map(Self::from_milliseconds).ok_or_else(|| InvalidTime(given.chars().take(60).collect()))
    }
}

const DAY: i64 = 86_400_000;

/// Reads the text of a timestamp, as this type writes it.
fn fixed_width(text: &str) -> Option<i64> {
    let shape = |(index, byte): (usize, u8)| match index {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        19 => byte == b'.',
        23 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    if text.len() != 24 || !text.bytes().enumerate().all(shape) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hours, minutes, seconds) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let days = days(year, month, day);
    // The day of a date that the calendar does not have is another date.
    let exists = date(days) == (year, month, day) && hours < 24 && minutes < 60 && seconds < 60;
    exists.then_some(days * DAY + (hours * 3_600 + minutes * 60 + seconds) * 1_000 + number(20..23)?)
}

/// Reads the other forms of RFC 3339, which people and agents may write.
#[cfg(not(target_family = "wasm"))]
fn other_form(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// The board reads times only from the server, and loads no library for other forms.
#[cfg(target_family = "wasm")]
fn other_form(_text: &str) -> Option<i64> {
    None
}

/// The date of a day since 1970 in the Gregorian calendar: <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>.
fn date(days: i64) -> (i64, i64, i64) {
    // Years are counted from March, so that the leap day ends one.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The days from 1970 to a date, the inverse of [`date`].
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
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
    fn calendar_agrees_with_the_library() {
        let steps = (*Timestamp::RANGE.start()..=*Timestamp::RANGE.end()).step_by(86_399_999 * 11);
        for milliseconds in steps {
            let time = Timestamp::from_milliseconds(milliseconds);
            let known = jiff::Timestamp::from_millisecond(milliseconds).unwrap();
            assert_eq!(time.to_string(), format!("{known:.3}"));
            assert_eq!(fixed_width(&time.to_string()), Some(milliseconds));
        }
    }

    #[test]
    fn other_forms_are_read_and_other_dates_are_refused() {
        let time = Timestamp::from_milliseconds(1_769_850_300_000);
        for text in ["2026-01-31T09:05:00Z", "2026-01-31T10:05:00+01:00", "2026-01-31 09:05:00.0Z"] {
            assert_eq!(text.parse(), Ok(time), "{text}");
        }
        for text in [
            "2026-02-29T09:05:00.000Z",
            "2026-13-01T09:05:00.000Z",
            "2026-00-10T09:05:00.000Z",
            "2026-01-31T24:05:00.000Z",
            "2026-01-31T09:60:00.000Z",
            "2026-01-31",
        ] {
            assert_eq!((text.parse::<Timestamp>().is_err(), fixed_width(text)), (true, None), "{text}");
        }
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
