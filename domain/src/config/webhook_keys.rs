//! The keys of a webhook, which the page of the configuration repeats, and the errors about their types. Must not know a value.

use serde_json::Value;

use super::error::{ConfigError, shown};
use super::keys::nearest;
use super::values::{Form, Values, or_null, values};

/// A key of each object in `webhooks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookKey {
    pub key: &'static str,
    pub values: Values,
    /// The default in words, as Markdown.
    pub default: &'static str,
    /// Markdown.
    pub meaning: &'static str,
}

impl WebhookKey {
    /// The row in the table of the page.
    pub fn to_markdown(self) -> String {
        let Self { key, values, default, meaning } = self;
        format!("| `{key}` | {} | {} | {default} | {meaning} |", values.to_markdown(), values.allowed)
    }
}

const REQUIRED: &str = "required";

const fn webhook_key(key: &'static str, values: Values, default: &'static str, meaning: &'static str) -> WebhookKey {
    WebhookKey { key, values, default, meaning }
}

/// All keys of a webhook.
pub const WEBHOOK_KEYS: &[WebhookKey] = &[
    webhook_key(
        "url",
        values(Form::String, "address", "begins with `https://`, or with `http://` if the address is on this machine"),
        REQUIRED,
        "the address that receives the notifications",
    ),
    webhook_key("secret_file", or_null(Form::String, "path", "a file"), "none", "the file that holds the secret, at least 16 characters"),
    webhook_key(
        "secret_env",
        or_null(Form::String, "name", "a variable of the server's environment"),
        "none",
        "the environment variable that holds the secret; each webhook has either this or `secret_file`",
    ),
    webhook_key("events", values(Form::Strings, "names", "`needs_you`, `complete`, `morning`; one or more"), "all three", "the events that are sent"),
    webhook_key("morning_at", values(Form::String, "time", "`00:00` to `23:59`"), "`07:00`", "the time of the morning report in UTC"),
];

/// The error about `found` at `key`, such as `webhooks[0].url`, whose type is wrong. None for the key of something else, and for a text that
/// is not valid.
pub(super) fn unexpected(key: &str, found: &Value) -> Option<ConfigError> {
    let (webhook, place) = key.split_at(key.strip_prefix("webhooks[")?.find(']')? + "webhooks[]".len());
    let Some(place) = place.strip_prefix('.') else {
        return match found {
            Value::Object(given) => {
                let missing = WEBHOOK_KEYS.iter().find(|known| known.default == REQUIRED && !given.contains_key(known.key))?;
                Some(ConfigError::value(webhook, format!("the key \"{}\" is missing", missing.key)))
            }
            found => Some(ConfigError::value(webhook, format!("expected an object, found {}", shown(found, true)))),
        };
    };
    let (name, element) = place.split_once('[').map_or((place, false), |(name, _)| (name, true));
    let Some(known) = WEBHOOK_KEYS.iter().find(|known| known.key == name) else {
        let nearest = nearest(name, WEBHOOK_KEYS.iter().map(|known| known.key));
        return Some(ConfigError::UnknownKey { key: key.to_owned(), nearest: nearest.map(|nearest| format!("{webhook}.{nearest}")) });
    };
    if element {
        return Some(ConfigError::value(key, format!("expected one of {}, found {}", known.values.limits().replace('`', ""), shown(found, false))));
    }
    let is_type_wrong = known.values.form != Form::String || !found.is_string();
    is_type_wrong.then(|| ConfigError::value(key, format!("expected {}, found {}", known.values.expected(), shown(found, true))))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::team::webhook::{NotificationKind, Webhook};

    #[test]
    fn table_names_the_keys_of_a_webhook() {
        let webhook = Webhook {
            url: "https://example.org/hook".to_owned(),
            secret_file: Some(PathBuf::from("secret")),
            secret_env: Some("SECRET".to_owned()),
            events: NotificationKind::ALL.to_vec(),
            morning_at: "07:00".parse().unwrap(),
            secret: Default::default(),
        };
        let Value::Object(written) = serde_json::to_value(webhook).unwrap() else { panic!("an object") };
        let mut known: Vec<&str> = WEBHOOK_KEYS.iter().map(|known| known.key).collect();
        known.sort_unstable();
        assert_eq!(written.keys().map(String::as_str).collect::<Vec<_>>(), known, "serde_json sorts keys");
        let events = WEBHOOK_KEYS.iter().find(|known| known.key == "events").unwrap();
        for kind in NotificationKind::ALL {
            assert!(events.values.allowed.contains(&format!("`{kind}`")), "{kind}");
        }
    }
}
