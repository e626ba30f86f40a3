//! Names of zones. Must not know files.

use crate::refusal::general::GeneralRefusal;

/// The longest name of a zone, in bytes.
const MAX_NAME_BYTES: usize = 60;

/// Checks the name of a zone, which is also a word of orders and the end of the names of its agents.
///
/// # Errors
/// When it is empty, too long, or has other characters than lower-case letters, digits, `-` and `_`.
pub fn validate_name(name: &str) -> Result<(), GeneralRefusal> {
    let is_word = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
    if !name.is_empty() && name.len() <= MAX_NAME_BYTES && is_word {
        return Ok(());
    }
    let problem = format!("it is not a word of 1 to {MAX_NAME_BYTES} lower-case letters, digits, - and _");
    Err(GeneralRefusal::invalid("zone", problem, "Give a name such as audio or api-v2."))
}
