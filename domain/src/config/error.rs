//! The reasons why a configuration is rejected. Each names the key, and says what is expected as the reference does.

use serde_json::Value;

use super::origin::find;
use super::table::{is_hidden, row_of};
use super::values::Form;

/// The reason why a configuration is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration is not valid JSON: {0}")]
    Syntax(String),
    #[error("the configuration must be one JSON object, such as {{\"port\": 9400}}; found {found}")]
    NotObject { found: String },
    #[error("unknown key \"{key}\"{}", nearest.as_ref().map(|nearest| format!(": did you mean \"{nearest}\"?")).unwrap_or_default())]
    UnknownKey { key: String, nearest: Option<String> },
    #[error("\"{key}\": {problem}")]
    Value { key: String, problem: String },
}

impl ConfigError {
    pub(super) fn value(key: &str, problem: impl Into<String>) -> Self {
        Self::Value { key: key.to_owned(), problem: problem.into() }
    }

    /// The error about the value of a key in the file `given` that is not within its limits.
    pub(super) fn unexpected(given: &Value, key: &str) -> Self {
        Self::unexpected_value(key, find(given, key)).unwrap_or_else(|| Self::value(key, "not a valid value"))
    }

    /// The error about `found` at `key`, whose type is wrong. `problem` is that of the parser.
    pub(super) fn wrong_type(key: &str, found: &Value, problem: String) -> Self {
        Self::unexpected_value(key, found).unwrap_or_else(|| Self::value(key, problem))
    }

    /// None if the table does not describe the place.
    fn unexpected_value(key: &str, found: &Value) -> Option<Self> {
        let row = row_of(key);
        let hides = row.is_some_and(|(row, _)| is_hidden(row.key));
        let expected = match row {
            Some((row, false)) => row.values.expected(),
            Some((row, true)) => match row.values.form {
                Form::Strings | Form::Variables => "a string".to_owned(),
                Form::TwoIntegers => row.values.expected(),
                _ => return None,
            },
            None if !found.is_object() => "an object".to_owned(),
            None => return None,
        };
        Some(Self::value(key, format!("expected {expected}, found {}", shown(found, hides))))
    }
}

/// A value in words. A text that could be secret, and what is in lists and objects, is not shown.
pub(super) fn shown(value: &Value, is_hidden: bool) -> String {
    match value {
        Value::String(text) if text.trim().is_empty() => "an empty text".to_owned(),
        Value::String(_) if is_hidden => "a text".to_owned(),
        Value::String(text) => format!("the text \"{}\"", text.chars().take(60).collect::<String>()),
        Value::Array(numbers) if !numbers.is_empty() && numbers.iter().all(Value::is_number) => value.to_string(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
