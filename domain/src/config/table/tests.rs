//! The words of the table are compared with what the configuration does.

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::config::Config;

/// A key as the configuration of one kind of agent, or of one role, has it.
fn concrete(key: &str) -> String {
    key.replace("PHASE", "coder").replace("ROLE", "coder")
}

fn accepts(key: &str, value: &Value) -> bool {
    let nested = concrete(key).rsplit('.').fold(value.clone(), |inner, part| json!({ part: inner }));
    Config::parse(&nested.to_string(), Path::new("/project"), Path::new("/home/ann")).is_ok()
}

#[test]
fn every_key_has_a_type_a_unit_limits_and_a_default() {
    for row in TABLE {
        let Values { unit, allowed, .. } = row.values;
        for (name, text) in [("unit", unit), ("limits", allowed), ("default", row.default), ("meaning", row.meaning)] {
            assert!(!text.trim().is_empty() && !text.contains('|'), "{}: {name}", row.key);
        }
    }
}

#[test]
fn limits_of_numbers_are_those_that_are_checked() {
    let mut checked = 0;
    for row in TABLE.iter().filter(|row| matches!(row.values.form, Form::Integer | Form::Number)) {
        let numbers: Vec<i64> = row.values.allowed.split([' ', ';']).filter_map(|word| word.parse().ok()).collect();
        let accepts = |number: i64| accepts(row.key, &json!(number));
        let (lowest, highest) = match (row.values.allowed.contains(" to "), row.values.allowed.starts_with("more than 0"), numbers.as_slice()) {
            (true, _, [lowest, highest, ..]) => (*lowest, Some(*highest)),
            (_, true, _) => (1, None),
            (_, _, [lowest, ..]) => (*lowest, None),
            other => panic!("{}: {other:?}", row.key),
        };
        assert!(accepts(lowest) && !accepts(lowest - 1), "{}: {}", row.key, row.values.allowed);
        assert!(highest.is_none_or(|highest| accepts(highest) && !accepts(highest + 1)), "{}: {}", row.key, row.values.allowed);
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn null_is_allowed_where_the_type_says_so() {
    for row in TABLE {
        assert_eq!(accepts(row.key, &Value::Null), row.values.or_null, "{}", row.key);
    }
}

#[test]
fn words_are_the_ones_that_are_accepted() {
    for (row, words) in TABLE.iter().filter_map(|row| Some((row, row.values.choices()?))) {
        let words: Vec<&str> = words.split(", ").collect();
        assert!(words.iter().all(|word| accepts(row.key, &json!(word))), "{}: {words:?}", row.key);
        assert!(!accepts(row.key, &json!("something")), "{}", row.key);
    }
}

#[test]
fn defaults_in_figures_are_the_defaults() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    for row in TABLE {
        let actual = concrete(row.key).split('.').fold(&defaults, |below, part| &below[part]).clone();
        let words = row.default.trim_matches('`');
        match (serde_json::from_str::<Value>(words), &actual) {
            (Ok(figure), actual) if figure.is_f64() || actual.is_f64() => assert_eq!(figure.as_f64(), actual.as_f64(), "{}", row.key),
            (Ok(figure), actual) => assert_eq!(&figure, actual, "{}", row.key),
            (Err(_), Value::String(text)) if !row.key.ends_with("_path") => assert_eq!(text, words, "{}", row.key),
            // In words only where no figure can be given.
            (Err(_), actual) => assert!(actual.is_null() || row.key.ends_with("_path") || row.key == "model_restrictions.ROLE", "{}", row.key),
        }
    }
}

#[test]
fn value_of_another_type_is_refused_in_the_words_of_the_table() {
    let wrong = [Value::Null, json!(true), json!(3), json!(2.5), json!("loud"), json!(""), json!([]), json!([true]), json!({ "x": true })];
    for row in TABLE {
        let mut refused = 0;
        for value in &wrong {
            let nested = concrete(row.key).rsplit('.').fold(value.clone(), |inner, part| json!({ part: inner }));
            let Err(error) = Config::parse(&nested.to_string(), Path::new("/project"), Path::new("/home/ann")) else { continue };
            let error = error.to_string();
            for word in ["invalid", "struct", "variant", "sequence", "map", "u16", "u32", "i64"] {
                assert!(!error.contains(word), "{}: {error}", row.key);
            }
            assert!(error.contains(&concrete(row.key)) || error.starts_with("unknown key"), "{}: {error}", row.key);
            refused += 1;
        }
        assert!(refused >= 4, "{}: {refused}", row.key);
    }
}

#[test]
fn text_is_never_empty() {
    for row in TABLE.iter().filter(|row| row.values.form == Form::String) {
        assert!(!accepts(row.key, &json!("")) && !accepts(row.key, &json!(" ")), "{}", row.key);
    }
}

#[test]
fn key_and_its_parts_have_a_row() {
    for (key, expected) in [
        ("port", Some(("port", false))),
        ("agents.reviewer.env", Some(("agents.PHASE.env", false))),
        ("agents.reviewer.env.PORT", Some(("agents.PHASE.env", true))),
        ("protected_paths[1]", Some(("protected_paths", true))),
        ("model_restrictions.coder[0]", Some(("model_restrictions.ROLE", true))),
        ("limits", None),
        ("agents.coder", None),
    ] {
        assert_eq!(row_of(key).map(|(row, is_part)| (row.key, is_part)), expected, "{key}");
    }
}
