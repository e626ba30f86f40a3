//! Webhooks: addresses that receive notifications about what needs the human and what is complete, and a report each morning.
//!
//! Must not send anything, and must not put into a notification what agents wrote, beyond titles and reasons.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::board::report::{NeedsYou, Report};
use crate::id::ProjectId;
use crate::runs::parking::{ParkReason, Parking};
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The number of times that a notification is sent before it is dropped.
pub const MAX_TRIES: u32 = 10;

const FIRST_PAUSE: Duration = Duration::from_secs(10);
const MAX_PAUSE: Duration = Duration::from_secs(2 * 3600);
const DAY_MILLISECONDS: i64 = 24 * 3600 * 1000;
/// Shorter secrets could be guessed from one signature.
const MIN_SECRET_LENGTH: usize = 16;

vocabulary! {
    /// The occasion of a notification.
    NotificationKind, "webhook event" {
        /// A task or a plan needs the human, or agents are parked until the human acts.
        NeedsYou = "needs_you",
        Complete = "complete",
        Morning = "morning",
    }
}

/// An address and the notifications that it receives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    pub url: String,
    /// The file that holds the secret for signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// The environment variable that holds it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_env: Option<String>,
    #[serde(default = "all_kinds")]
    pub events: Vec<NotificationKind>,
    /// The time of the morning report in UTC.
    #[serde(default)]
    pub morning_at: TimeOfDay,
    /// The secret, which the server reads with the configuration.
    #[serde(skip)]
    pub secret: Secret,
}

fn all_kinds() -> Vec<NotificationKind> {
    NotificationKind::ALL.to_vec()
}

impl Webhook {
    /// Finds what is wrong with it.
    ///
    /// # Errors
    /// The problem, as the end of a sentence.
    pub fn check(&self) -> Result<(), String> {
        if self.secret_file.is_some() == self.secret_env.is_some() {
            return Err("name either \"secret_file\" or \"secret_env\"".to_owned());
        }
        if self.events.is_empty() {
            return Err("\"events\" is empty".to_owned());
        }
        let (scheme, rest) = self.url.split_once("://").unwrap_or_default();
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit())).map_or(authority, |(host, _)| host);
        match scheme {
            _ if host.is_empty() || authority.contains('@') => Err("\"url\" needs a host and must not contain a user name".to_owned()),
            "https" => Ok(()),
            "http" if matches!(host, "localhost" | "127.0.0.1" | "[::1]") => Ok(()),
            _ => Err("\"url\" must begin with https://, or with http:// for an address on this machine".to_owned()),
        }
    }
}

/// A secret for signatures, which is never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Reads the content of a file or a variable. White space around the secret does not count.
    ///
    /// # Errors
    /// When it is too short.
    pub fn parse(given: &str) -> Result<Self, String> {
        let secret = given.trim();
        if secret.len() < MIN_SECRET_LENGTH {
            return Err(format!("the secret of a webhook needs at least {MIN_SECRET_LENGTH} characters"));
        }
        Ok(Self(secret.to_owned()))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A time of the day in UTC, such as `07:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay {
    minutes: u16,
}

impl TimeOfDay {
    /// Returns the last moment with this time of the day that is not after `now`.
    pub fn last_before(self, now: Timestamp) -> Timestamp {
        let offset = i64::from(self.minutes) * 60_000;
        let days = (now.milliseconds() - offset).div_euclid(DAY_MILLISECONDS);
        Timestamp::from_milliseconds(days * DAY_MILLISECONDS + offset)
    }
}

impl Default for TimeOfDay {
    fn default() -> Self {
        Self { minutes: 7 * 60 }
    }
}

impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let is_number = |part: &&str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        let number = |part: &str, end: u16| Some(part).filter(is_number)?.parse::<u16>().ok().filter(|number| *number < end);
        let parsed = given.split_once(':').and_then(|(hours, minutes)| Some(number(hours, 24)? * 60 + number(minutes, 60)?));
        parsed.map(|minutes| Self { minutes }).ok_or_else(|| format!("\"{given}\" is not a time of the day such as 07:00"))
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / 60, self.minutes % 60)
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = String;

    fn try_from(given: String) -> Result<Self, String> {
        given.parse()
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> String {
        time.to_string()
    }
}

/// The content of a notification.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum Notification {
    NeedsYou(NeedsYouNotification),
    Plan(PlanNotification),
    Parked(ParkedNotification),
    Complete(ProjectTitle),
    Morning(Box<Report>),
}

/// A task that needs the human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NeedsYouNotification {
    pub project: ProjectTitle,
    #[serde(flatten)]
    pub needs_you: NeedsYou,
}

/// A plan that awaits approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanNotification {
    pub project: ProjectTitle,
    /// The number of its tasks.
    pub planned_tasks: u32,
}

/// Agent starts are suspended until the human acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParkedNotification {
    pub kind: ParkReason,
    pub since: Timestamp,
    pub reason: String,
    /// The next step of the human.
    pub remedy: String,
}

impl ParkedNotification {
    /// Leaves out the details, because the agent program wrote them.
    pub fn of(parking: &Parking) -> Self {
        let reason = parking.reason;
        Self { kind: reason, since: parking.since, reason: reason.sentence().to_owned(), remedy: reason.remedy().to_owned() }
    }
}

/// A project by its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectTitle {
    pub project_id: ProjectId,
    pub title: String,
}

/// Returns the time before the next try of a notification, after `failures` failed ones in a row; none if it is dropped.
pub fn pause(failures: u32) -> Option<Duration> {
    (failures < MAX_TRIES).then(|| FIRST_PAUSE.saturating_mul(4u32.saturating_pow(failures.saturating_sub(1))).min(MAX_PAUSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(url: &str) -> Webhook {
        let secret_env = Some("SECRET".to_owned());
        Webhook {
            url: url.to_owned(),
            secret_file: None,
            secret_env,
            events: all_kinds(),
            morning_at: TimeOfDay::default(),
            secret: Secret::default(),
        }
    }

    #[test]
    fn notifications_leave_the_machine_encrypted_only() {
        for url in
            ["https://example.org/hook?key=1", "https://example.org:8443", "http://localhost:8080/hook", "http://127.0.0.1", "http://[::1]:80/"]
        {
            assert_eq!(webhook(url).check(), Ok(()), "{url}");
        }
        for url in
            ["", "example.org", "ftp://example.org", "http://example.org", "http://127.0.0.1.example.org", "http://localhost@example.org", "https://"]
        {
            assert!(webhook(url).check().unwrap_err().contains("\"url\""), "{url}");
        }
    }

    #[test]
    fn webhook_needs_one_secret_and_some_events() {
        let good = webhook("https://example.org");
        assert!(Webhook { secret_env: None, ..good.clone() }.check().is_err());
        assert!(Webhook { secret_file: Some("secret".into()), ..good.clone() }.check().is_err());
        assert!(Webhook { events: Vec::new(), ..good }.check().is_err());
        assert!(Secret::parse(" short\n").is_err());
        let secret = Secret::parse("0123456789abcdef\n").unwrap();
        assert_eq!((secret.expose(), format!("{secret:?}")), ("0123456789abcdef", "Secret".to_owned()));
    }

    #[test]
    fn pauses_grow_and_end() {
        let pauses: Vec<u64> = (1..).map_while(pause).map(|pause| pause.as_secs()).collect();
        assert_eq!(pauses, [10, 40, 160, 640, 2_560, 7_200, 7_200, 7_200, 7_200]);
    }

    #[test]
    fn morning_is_the_last_one_that_has_begun() {
        let at = |time: &str| time.parse::<Timestamp>().unwrap();
        let seven = TimeOfDay::default();
        assert_eq!(seven.last_before(at("2026-01-31T07:00:00Z")), at("2026-01-31T07:00:00Z"));
        assert_eq!(seven.last_before(at("2026-01-31T06:59:59Z")), at("2026-01-30T07:00:00Z"));
        assert_eq!("23:59".parse::<TimeOfDay>().unwrap().last_before(at("2026-01-31T12:00:00Z")), at("2026-01-30T23:59:00Z"));
        for wrong in ["7:00", "+7:00", "24:00", "07:60", "0700", "", "07:00 "] {
            assert!(wrong.parse::<TimeOfDay>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn notification_has_a_type_and_data() {
        let notification = Notification::Complete(ProjectTitle { project_id: ProjectId::new(1), title: "Site".to_owned() });
        assert_eq!(
            serde_json::to_value(notification).unwrap(),
            serde_json::json!({"type": "complete", "data": {"project_id": "PROJ-001", "title": "Site"}})
        );
    }
}
