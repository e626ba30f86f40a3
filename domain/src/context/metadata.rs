//! Metadata: a JSON object that agents attach to what they share. Must not know what it is attached to.

use serde_json::{Map, Value};

use crate::refusal::general::GeneralRefusal;

/// A JSON object.
pub type Metadata = Map<String, Value>;

/// The maximum size of metadata as JSON, in bytes.
pub const MAX_METADATA_BYTES: usize = 16 * 1024;
/// The maximum depth of a JSON value. An object of plain values has the depth 1.
pub const MAX_JSON_DEPTH: usize = 32;

/// Returns metadata unchanged.
///
/// # Errors
/// It is too large or nested too deeply, or contains U+0000.
pub fn validate_metadata(given: Metadata) -> Result<Metadata, GeneralRefusal> {
    let value = Value::Object(given);
    validate_json("metadata", &value, MAX_METADATA_BYTES)?;
    match value {
        Value::Object(metadata) => Ok(metadata),
        _ => Ok(Metadata::new()),
    }
}

/// Refuses a JSON value that is too large or nested too deeply, or contains U+0000. Returns it as text.
///
/// # Errors
/// One of these applies.
pub fn validate_json(field: &'static str, value: &Value, max_bytes: usize) -> Result<String, GeneralRefusal> {
    if is_deeper(value, MAX_JSON_DEPTH) {
        let problem = format!("it is nested more than {MAX_JSON_DEPTH} levels deep");
        return Err(GeneralRefusal::invalid(field, problem, "Store a flat object."));
    }
    let text = value.to_string();
    if text.len() > max_bytes {
        let problem = format!("it has {} bytes, more than the {max_bytes} allowed", text.len());
        return Err(GeneralRefusal::invalid(field, problem, "Shorten it, or put the long part into a file of the repository and mention the file."));
    }
    if has_nul(value) {
        return Err(GeneralRefusal::invalid(field, "it contains a NUL character", "Remove the character U+0000."));
    }
    Ok(text)
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let is_too_deep = |inner: &Value| levels == 0 || is_deeper(inner, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(is_too_deep) || levels == 0,
        Value::Object(fields) => fields.values().any(is_too_deep) || levels == 0,
        _ => false,
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!({"a": inner}))
    }

    #[test]
    fn metadata_is_limited_in_depth_and_size() {
        let check = |value: Value| validate_metadata(value.as_object().unwrap().clone());
        assert!(check(json!({})).is_ok() && check(nested(MAX_JSON_DEPTH)).is_ok());
        assert!(check(nested(MAX_JSON_DEPTH + 1)).unwrap_err().to_string().contains("nested more than 32 levels"));
        assert!(check(nested(1_000)).is_err());
        assert!(check(json!({"a": "x".repeat(MAX_METADATA_BYTES)})).unwrap_err().to_string().contains("bytes"));
        for nul in [json!({"a\0": 1}), json!({"a": ["\0"]})] {
            assert!(check(nul).unwrap_err().to_string().contains("NUL"));
        }
        assert!(check(json!({"a": "\\u0000"})).is_ok(), "the text of an escape is ordinary text");
    }
}
