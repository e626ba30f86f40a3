//! Parsing: defaults, paths, unknown keys and invalid values; and the example at the top of the repository.

use super::*;
use crate::warroom::model::ModelRole;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, Path::new("/project"), Path::new("/home/ann"))
}

#[test]
fn keys_are_optional_and_paths_become_absolute() {
    let config = parse("{}").unwrap();
    assert_eq!(config.db_path, Path::new("/home/ann/.local/share/vibe-relay/vibe-relay.db"));
    let config = parse(r#"{"db_path": "board.db", "agents": {"coder": {"model": "m", "system_prompt_file": "c.md", "env": {"A": "b"}}}}"#).unwrap();
    assert_eq!(config.db_path, Path::new("/project/board.db"));
    assert_eq!(config.agent(AgentKind::Coder).system_prompt_file.as_deref(), Some(Path::new("/project/c.md")));
}

#[test]
fn example_lists_every_key_with_its_default() {
    let example = include_str!("../../../vibe-relay.config.json");
    let given: Value = serde_json::from_str(example).unwrap();
    assert_eq!(given, serde_json::to_value(Config::default()).unwrap());
    let mut defaults = Config::default();
    defaults.resolve_paths(Path::new("/project"), Path::new("/home/ann"));
    let parsed = Config { origin: Origin::default(), ..parse(example).unwrap() };
    assert_eq!(parsed, defaults);
}

#[test]
fn unknown_keys_are_rejected_with_the_nearest_known_one() {
    assert_eq!(
        parse(r#"{"max_paralel_agents": 2}"#).unwrap_err().to_string(),
        "unknown key \"max_paralel_agents\": did you mean \"max_parallel_agents\"?"
    );
    assert_eq!(
        parse(r#"{"agents": {"coder": {"modle": "x"}}}"#).unwrap_err().to_string(),
        "unknown key \"agents.coder.modle\": did you mean \"agents.coder.model\"?"
    );
    assert_eq!(parse(r#"{"zzz": 1}"#).unwrap_err().to_string(), "unknown key \"zzz\"");
    assert!(parse(r#"{"agents": {"coder": {"system_prompt": "x"}}}"#).is_err(), "the text of a prompt is not a key");
}

#[test]
fn invalid_values_are_rejected() {
    for text in [
        "[",
        r#"{"max_parallel_agents": 0}"#,
        r#"{"max_parallel_agents": "3"}"#,
        r#"{"port_range": [5000, 4000]}"#,
        r#"{"port_range": [80, 90]}"#,
        r#"{"agent_command": []}"#,
        r#"{"durability": "some"}"#,
        r#"{"protected_paths": ["docs/**", "/CLAUDE.md"]}"#,
        r#"{"sandbox": "container"}"#,
        r#"{"webhooks": [{"url": "https://example.org"}]}"#,
        r#"{"webhooks": [{"url": "http://example.org", "secret_env": "S"}]}"#,
        r#"{"webhooks": [{"url": "https://example.org", "secret_env": "S", "event": []}]}"#,
        r#"{"webhooks": [{"url": "https://example.org", "secret_env": "S"}, {"url": "https://example.org", "secret_env": "S"}]}"#,
        r#"{"sandbox": "jail", "sandbox_min": "jail+net"}"#,
        r#"{"model_restrictions": {"coder": []}}"#,
        r#"{"model_restrictions": {"coder": ["opus", " "]}}"#,
        r#"{"model_restrictions": {"boss": ["opus"]}}"#,
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn list_of_models_replaces_that_of_its_role_only() {
    let config = parse(r#"{"model_restrictions": {"builder": ["haiku"], "coder": null}}"#).unwrap();
    let given = &config.model_restrictions;
    assert_eq!((given.of(ModelRole::Builder), given.of(ModelRole::Coder)), (Some(&["haiku".to_owned()][..]), None));
    assert_eq!(given.of(ModelRole::Commander), Config::default().model_restrictions.of(ModelRole::Commander));
}

#[test]
fn webhook_has_defaults_and_an_absolute_path() {
    let config = parse(r#"{"webhooks": [{"url": "https://example.org/hook", "secret_file": "secret"}]}"#).unwrap();
    let [webhook] = config.webhooks.as_slice() else { panic!("{config:?}") };
    assert_eq!(webhook.secret_file.as_deref(), Some(Path::new("/project/secret")));
    assert_eq!((webhook.events.len(), webhook.morning_at.to_string()), (3, "07:00".to_owned()));
}
