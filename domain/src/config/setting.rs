//! The settings as a person reads them: the value in use of each key, where it comes from, and what to write to change it.
//!
//! Pure. Must not show a secret: values of environment variables, addresses of webhooks and arguments of programs stay hidden.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::config::Config;
use crate::config::origin::{SettingSource, find};
use crate::config::table::{SettingsPage, TABLE, is_hidden};
use crate::id::TaskId;
use crate::runs::agent_kind::AgentKind;
use crate::time::Timestamp;
use crate::warroom::model::ModelRole;

/// A key of the configuration with its value in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Setting {
    /// With dots, such as `agents.coder.model`.
    pub key: String,
    pub page: SettingsPage,
    /// The value as JSON, or in words if it could be secret; missing if it is null.
    pub value: Option<String>,
    /// The default in words, as Markdown.
    pub default: String,
    /// Markdown.
    pub meaning: String,
    pub source: SettingSource,
    /// Whether a change applies at the next start only.
    pub needs_restart: bool,
    /// The line for the configuration file, with the value in use or the default.
    pub snippet: String,
}

/// The prompt of a kind of agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RolePrompt {
    pub phase: AgentKind,
    /// The text that agents of this kind are started with.
    pub text: String,
    /// The file that replaces the built-in text.
    pub file: Option<String>,
}

/// How much of the limits without a page of their own is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitsInUse {
    /// The open task that cost the most; missing before any agent worked.
    pub costliest_task: Option<CostlyTask>,
    /// The number of events in the log.
    pub kept_events: u64,
    /// The time of the oldest event in the log.
    pub kept_since: Option<Timestamp>,
}

/// A task and its cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CostlyTask {
    pub id: TaskId,
    pub title: String,
    /// In millionths of a US dollar.
    pub cost_micro_usd: i64,
}

/// `GET /api/settings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SettingsView {
    /// The configuration file in use.
    pub file: Option<String>,
    /// Whether the command line named it with `--config`.
    pub file_is_named: bool,
    pub settings: Vec<Setting>,
    pub prompts: Vec<RolePrompt>,
    #[serde(default)]
    pub in_use: LimitsInUse,
    /// The limit of the cost of a task in millionths of a US dollar.
    #[serde(default)]
    pub task_limit_micro_usd: Option<i64>,
}

/// All settings of a configuration, in the order of the table.
pub fn settings(config: &Config) -> Vec<Setting> {
    let (values, defaults) = (to_json(config), to_json(&Config::default()));
    let keys = TABLE.iter().flat_map(|row| {
        let of = |word: &str, values: Vec<&str>| values.into_iter().map(|value| row.key.replace(word, value)).collect();
        let keys: Vec<String> = if row.key.contains("PHASE") {
            of("PHASE", AgentKind::ALL.iter().map(|phase| phase.as_str()).collect())
        } else if row.key.contains("ROLE") {
            of("ROLE", ModelRole::ALL.iter().map(|role| role.as_str()).collect())
        } else {
            vec![row.key.to_owned()]
        };
        keys.into_iter().map(move |key| (key, row))
    });
    keys.map(|(key, row)| {
        let value = find(&values, &key);
        Setting {
            value: shown(&key, value),
            page: row.page,
            default: row.default.to_owned(),
            meaning: row.meaning.to_owned(),
            source: source(config, &key),
            needs_restart: row.needs_restart,
            snippet: snippet(&key, if is_hidden(&key) { find(&defaults, &key) } else { value }),
            key,
        }
    })
    .collect()
}

fn to_json(config: &Config) -> Value {
    serde_json::to_value(config).unwrap_or_default()
}

/// The value as JSON, without what could be secret.
fn shown(key: &str, value: &Value) -> Option<String> {
    let more = |count: usize, one: &str, many: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {many}") };
    match value {
        Value::Null => None,
        Value::Object(variables) if key.ends_with(".env") => {
            let names: Vec<&str> = variables.keys().map(String::as_str).collect();
            Some(if names.is_empty() { "{}".to_owned() } else { format!("{} (values hidden)", names.join(", ")) })
        }
        Value::Array(addresses) if key == "webhooks" && !addresses.is_empty() => Some(more(addresses.len(), "address", "addresses")),
        Value::Array(command) if key == "agent_command" && command.len() > 1 => {
            Some(format!("{} and {}", command[0], more(command.len() - 1, "argument", "arguments")))
        }
        value => Some(value.to_string()),
    }
}

fn source(config: &Config, key: &str) -> SettingSource {
    let origin = &config.origin;
    if let Some((_, source)) = origin.elsewhere.iter().find(|(known, _)| *known == key) {
        return *source;
    }
    if origin.keys.iter().any(|known| known == key) { SettingSource::File } else { SettingSource::Default }
}

/// The lines of a configuration file that give `key` a value.
fn snippet(key: &str, value: &Value) -> String {
    let mut parts = key.rsplit('.');
    let last = parts.next().unwrap_or_default();
    let inner = format!("{}: {value}", Value::from(last));
    parts.fold(inner, |inner, part| format!("{}: {{ {inner} }}", Value::from(part)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::origin::given_keys;

    fn parsed(text: &str) -> Vec<Setting> {
        settings(&Config::parse(text, Path::new("/project"), Path::new("/home/ann")).unwrap())
    }

    fn named<'a>(settings: &'a [Setting], key: &str) -> &'a Setting {
        settings.iter().find(|setting| setting.key == key).unwrap()
    }

    #[test]
    fn table_lists_every_key_once() {
        let mut keys = given_keys(&to_json(&Config::default()));
        keys.sort_unstable();
        let mut listed: Vec<String> = parsed("{}").into_iter().map(|setting| setting.key).collect();
        listed.sort_unstable();
        assert_eq!(listed, keys);
    }

    #[test]
    fn value_says_where_it_comes_from_and_how_to_change_it() {
        let all = parsed(r#"{"max_attempts": 7, "agents": {"coder": {"model": "m"}}, "limits": {"day_cost_usd": null}}"#);
        let facts = |key: &str| {
            let setting = named(&all, key);
            (setting.value.as_deref(), setting.source, setting.snippet.as_str())
        };
        assert_eq!(facts("max_attempts"), (Some("7"), SettingSource::File, r#""max_attempts": 7"#));
        assert_eq!(facts("max_parallel_agents"), (Some("3"), SettingSource::Default, r#""max_parallel_agents": 3"#));
        assert_eq!(facts("agents.coder.model"), (Some("\"m\""), SettingSource::File, r#""agents": { "coder": { "model": "m" } }"#));
        assert_eq!(facts("agents.planner.model"), (None, SettingSource::Default, r#""agents": { "planner": { "model": null } }"#));
        assert_eq!(facts("limits.day_cost_usd"), (None, SettingSource::File, r#""limits": { "day_cost_usd": null }"#));
    }

    #[test]
    fn secrets_are_not_shown() {
        let all = parsed(
            r#"{"agents": {"coder": {"env": {"API_KEY": "hush"}}}, "agent_command": ["claude", "--key=hush"],
                "webhooks": [{"url": "https://example.org/hush", "secret_env": "HUSH"}]}"#,
        );
        assert_eq!(named(&all, "agents.coder.env").value.as_deref(), Some("API_KEY (values hidden)"));
        assert_eq!(named(&all, "agent_command").value.as_deref(), Some("\"claude\" and 1 argument"));
        assert_eq!(named(&all, "webhooks").value.as_deref(), Some("1 address"));
        assert!(!serde_json::to_string(&all).unwrap().contains("hush"));
    }

    /// [`crate::config::live`] decides which keys a running server does not change.
    #[test]
    fn keys_that_need_a_restart_are_marked() {
        let marked: Vec<&str> = TABLE.iter().filter(|row| row.needs_restart).map(|row| row.key).collect();
        let [writes, searches, bytes] = ["rate_limits.writes_per_minute", "rate_limits.searches_per_minute", "rate_limits.bytes_per_minute"];
        let models = "model_restrictions.ROLE";
        let expected =
            ["worktrees_path", "db_path", "port", "max_orchestrator_rounds", "protected_paths", "durability", writes, searches, bytes, "log", models];
        assert_eq!(marked, expected);
    }
}
