//! Spellings that models use for the same value.

use domain::team::role::Role;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Arguments {
    #[serde(deserialize_with = "super::given")]
    role: Option<Role>,
    #[serde(deserialize_with = "super::list")]
    roles: Vec<Role>,
    #[serde(deserialize_with = "super::number")]
    most: Option<u32>,
    #[serde(deserialize_with = "super::number_from_one")]
    reply_to: Option<i64>,
    #[serde(deserialize_with = "super::flag")]
    enabled: Option<bool>,
}

fn taken(arguments: Value) -> Arguments {
    serde_json::from_value(arguments).unwrap()
}

fn refused(arguments: Value) -> String {
    serde_json::from_value::<Arguments>(arguments).unwrap_err().to_string()
}

#[test]
fn missing_values_have_many_spellings() {
    let nothing = Arguments::default();
    for arguments in [
        json!({}),
        json!({"role": "", "roles": "", "most": "", "reply_to": 0, "enabled": ""}),
        json!({"role": " ", "roles": " , ", "most": " ", "reply_to": "0", "enabled": " "}),
        json!({"role": null, "roles": null, "most": null, "reply_to": null, "enabled": null}),
        json!({"roles": []}),
    ] {
        assert_eq!(taken(arguments), nothing);
    }
    assert_eq!(taken(json!({"most": 0})).most, Some(0));
}

#[test]
fn numbers_lists_and_flags_are_read_from_text() {
    let both = |one: Value, other: Value| assert_eq!(taken(one), taken(other));
    both(json!({"most": 3, "reply_to": 12}), json!({"most": "3", "reply_to": "#12"}));
    both(json!({"roles": ["tester", "coder"]}), json!({"roles": "tester, coder,"}));
    both(json!({"enabled": false}), json!({"enabled": "False"}));
    assert_eq!(taken(json!({"role": "lead"})).role, Some(Role::Lead));
}

#[test]
fn impossible_values_are_refused() {
    assert!(refused(json!({"role": "boss"})).starts_with("\"boss\" is not a valid role; expected one of lead, builder"));
    assert!(refused(json!({"roles": ["tester", "boss"]})).starts_with("\"boss\" is not a valid role"));
    assert_eq!(refused(json!({"most": -1})), "-1 is out of range");
    assert_eq!(refused(json!({"most": "three"})), "\"three\" is not an integer");
    assert_eq!(refused(json!({"reply_to": u64::MAX})), format!("{} is out of range", u64::MAX));
    assert!(refused(json!({"reply_to": 1.5})).contains("expected an integer"));
    assert!(refused(json!({"enabled": "maybe"})).contains("neither true nor false"));
    assert!(refused(json!({"roles": 7})).contains("a list of strings, or one string with commas"));
}
