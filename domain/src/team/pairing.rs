//! Pairing: a one-time link that signs in another device of a person, such as a phone, under an allowed host.
//!
//! Must not know how a device reaches that host.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::refusal::category::refusals;
use crate::time::Timestamp;

/// The time in which the link of a pairing can be opened.
pub const PAIRING_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// The name of a device that is given none.
pub const DEFAULT_DEVICE: &str = "Phone";
/// The longest name of a device, in characters.
pub const MAX_DEVICE: usize = 40;

/// `POST /api/pairings`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPairing {
    /// The name of the device, for the list of sessions; the default is `Phone`.
    #[serde(default)]
    pub device: Option<String>,
    /// One of the configured `allowed_hosts`. Optional if there is only one.
    #[serde(default)]
    pub host: Option<String>,
}

/// A link that signs one device in, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pairing {
    pub device: String,
    pub host: String,
    pub link: String,
    /// The link as a QR code: an SVG image.
    pub svg: String,
    /// The link as a QR code of block characters, dark on light.
    pub text: String,
    /// When the link becomes invalid.
    pub ends_at: Timestamp,
}

refusals! {
    /// Why no device can be paired.
    PairingRefusal {
        #[error("no device can be paired: the configuration allows no host but this machine")]
        NoHost => Unprocessable "no-allowed-host",
        #[error("the configuration allows {} hosts: {}", hosts.len(), hosts.join(", "))]
        WhichHost { hosts: Vec<String> } => Unprocessable "which-host",
        #[error("{host} is not among the allowed hosts: {}", hosts.join(", "))]
        OtherHost { host: String, hosts: Vec<String> } => Unprocessable "other-host",
    }
}

impl PairingRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoHost => "Run a proxy with HTTPS on this machine, for example with `tailscale serve --bg PORT`, and add its name to \
                             \"allowed_hosts\" in the configuration file."
                .to_owned(),
            Self::WhichHost { hosts } | Self::OtherHost { hosts, .. } => {
                format!("Choose one with `host`, or `vibe-relay pair --host {}`.", hosts.first().map_or("NAME", String::as_str))
            }
        }
    }
}

/// The host of a new pairing: the requested one, or the only one.
///
/// # Errors
/// When there is none, or the choice is missing or wrong.
pub fn choose_host(allowed: &[String], requested: Option<&str>) -> Result<String, PairingRefusal> {
    match (allowed, requested) {
        ([], _) => Err(PairingRefusal::NoHost),
        ([only], None) => Ok(only.clone()),
        (hosts, None) => Err(PairingRefusal::WhichHost { hosts: hosts.to_vec() }),
        (hosts, Some(requested)) => {
            let found = hosts.iter().find(|host| host.eq_ignore_ascii_case(requested)).cloned();
            found.ok_or_else(|| PairingRefusal::OtherHost { host: requested.chars().take(100).collect(), hosts: hosts.to_vec() })
        }
    }
}

/// The name of a device in one line, or the default if it is empty.
pub fn device_name(given: Option<&str>) -> String {
    let name: String = given.unwrap_or_default().chars().filter(|letter| !letter.is_control()).collect();
    let name: String = name.trim().chars().take(MAX_DEVICE).collect();
    if name.is_empty() { DEFAULT_DEVICE.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_the_only_one_or_the_requested_one() {
        let hosts = ["desk.example.org".to_owned(), "desk.lan".to_owned()];
        assert_eq!(choose_host(&[], None), Err(PairingRefusal::NoHost));
        assert_eq!(choose_host(&[], Some("desk.lan")), Err(PairingRefusal::NoHost));
        assert_eq!(choose_host(&hosts[..1], None).unwrap(), "desk.example.org");
        assert_eq!(choose_host(&hosts, None), Err(PairingRefusal::WhichHost { hosts: hosts.to_vec() }));
        assert_eq!(choose_host(&hosts, Some("Desk.LAN")).unwrap(), "desk.lan");
        assert!(matches!(choose_host(&hosts, Some("evil.example")), Err(PairingRefusal::OtherHost { .. })));
    }

    #[test]
    fn device_name_is_one_short_line() {
        assert_eq!(device_name(None), "Phone");
        assert_eq!(device_name(Some(" \n")), "Phone");
        assert_eq!(device_name(Some(" Ann\u{1b}[31m's phone ")), "Ann[31m's phone");
        assert_eq!(device_name(Some(&"ä".repeat(60))).chars().count(), MAX_DEVICE);
    }
}
