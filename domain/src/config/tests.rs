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
fn refusal_names_the_key_what_is_expected_and_what_was_found() {
    for (text, expected) in [
        (r#"{"port": "9400"}"#, r#""port": expected an integer from 1 to 65535, or null, found the text "9400""#),
        (r#"{"port": 70000}"#, r#""port": expected an integer from 1 to 65535, or null, found 70000"#),
        (r#"{"port": 0}"#, r#""port": expected an integer from 1 to 65535, or null, found 0"#),
        (r#"{"max_attempts": 21}"#, r#""max_attempts": expected an integer from 1 to 20, found 21"#),
        (r#"{"max_attempts": 2.5}"#, r#""max_attempts": expected an integer from 1 to 20, found 2.5"#),
        (r#"{"limits": 5}"#, r#""limits": expected an object, found 5"#),
        (r#"{"limits": {"run_cost_usd": -1}}"#, r#""limits.run_cost_usd": expected a number of more than 0, or null, found -1"#),
        (r#"{"agent_command": "claude --key=hush"}"#, r#""agent_command": expected a list of strings (words), found a text"#),
        (r#"{"agents": {"coder": {"env": ["A=hush"]}}}"#, r#""agents.coder.env": expected an object of strings (variables), found a list"#),
        (r#"{"agents": {"coder": {"env": {"PORT": 3000}}}}"#, r#""agents.coder.env.PORT": expected a string, found 3000"#),
        (r#"{"db_path": 3}"#, r#""db_path": expected a string (path), found 3"#),
        (r#"{"base_branch": ""}"#, r#""base_branch": expected a string (name), or null, found an empty text"#),
        (r#"{"worktrees_path": ""}"#, r#""worktrees_path": expected a string (path), found an empty text"#),
        (r#"{"sandbox": "jale"}"#, r#""sandbox": expected one of none, jail, jail+net, or null, found the text "jale""#),
        (r#"{"port_range": [1, 2, 3]}"#, r#""port_range": expected a list of two integers from 1024 to 65535, the lower one first, found [1,2,3]"#),
        (r#"{"protected_paths": ["a", 3]}"#, r#""protected_paths[1]": expected a string, found 3"#),
        (r#"{"protected_paths_need_human": "yes"}"#, r#""protected_paths_need_human": expected true or false, found the text "yes""#),
        (r#"{"webhooks": ["https://example.org"]}"#, r#""webhooks[0]": expected an object, found a text"#),
        (r#"{"webhooks": [{"url": 3}]}"#, r#""webhooks[0].url": expected a string (address), found 3"#),
        (r#"{"webhooks": [{"secret_env": "HUSH"}]}"#, r#""webhooks[0]": the key "url" is missing"#),
        (r#"{"webhooks": [{"event": []}]}"#, r#"unknown key "webhooks[0].event": did you mean "webhooks[0].events"?"#),
        (r#"{"webhooks": [{"events": "morning"}]}"#, r#""webhooks[0].events": expected a list of strings (names), found a text"#),
        (r#"{"webhooks": [{"events": ["complete", 3]}]}"#, r#""webhooks[0].events[1]": expected one of needs_you, complete, morning, found 3"#),
        (
            r#"{"webhooks": [{"events": ["noon"]}]}"#,
            r#""webhooks[0].events[0]": expected one of needs_you, complete, morning, found the text "noon""#,
        ),
        (r#"{"webhooks": [{"morning_at": "7"}]}"#, r#""webhooks[0].morning_at": "7" is not a time of the day such as 07:00"#),
        ("[]", r#"the configuration must be one JSON object, such as {"port": 9400}; found a list"#),
        ("null", r#"the configuration must be one JSON object, such as {"port": 9400}; found null"#),
        (r#"{"port": 1, "port": 2}"#, r#""port": keep one of the two: the key is repeated at line 1 column 20"#),
        (r#"{"limits": {"run_turns": 1, "run_turns": 2}}"#, r#""limits.run_turns": keep one of the two: the key is repeated at line 1 column 41"#),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
    }
    assert!(parse(r#"{"log": "loud"}"#).unwrap_err().to_string().starts_with(r#""log": "loud" is not a level"#));
    assert!(parse("{} x").unwrap_err().to_string().contains("is not valid JSON"));
}

#[test]
fn description_for_editors_is_not_a_setting() {
    let config = parse(r#"{"$schema": "https://example.org/schema.json", "port": 9412}"#).unwrap();
    assert_eq!((config.port, config.origin.keys), (Some(9412), vec!["port".to_owned()]));
    assert!(parse(r#"{"limits": {"$schema": "x"}}"#).is_err(), "only at the top");
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
