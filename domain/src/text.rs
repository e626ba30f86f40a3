//! Limits of what people and agents may write, checked in one place for every door.

use crate::refusal::Refusal;

/// The longest title, in bytes.
pub const TITLE_BYTES: usize = 500;
/// The longest description, comment, message or answer, in bytes.
pub const BODY_BYTES: usize = 64 * 1024;
/// The most tasks that one call may create.
pub const SUBTASKS: usize = 50;

/// A title without surrounding white space.
///
/// # Errors
/// When it is empty, longer than [`TITLE_BYTES`], or holds a control character.
pub fn validate_title(field: &'static str, given: &str) -> Result<String, Refusal> {
    let title = given.trim();
    if title.is_empty() {
        return Err(Refusal::invalid(field, "it is empty", "Say in a few words what is to be done."));
    }
    if title.len() > TITLE_BYTES {
        return Err(Refusal::invalid(
            field,
            format!("it has {} bytes and at most {TITLE_BYTES} are taken", title.len()),
            "Shorten it; details belong in the description.",
        ));
    }
    if title.chars().any(char::is_control) {
        return Err(Refusal::invalid(field, "it holds a control character", "Write it in one line of ordinary text."));
    }
    Ok(title.to_owned())
}

/// A body that must say something.
///
/// # Errors
/// When it is blank, longer than [`BODY_BYTES`], or holds U+0000.
pub fn validate_body(field: &'static str, given: &str) -> Result<String, Refusal> {
    validate_optional_body(field, Some(given))?.ok_or_else(|| Refusal::invalid(field, "it is empty", "Write something, or leave it."))
}

/// A body that may be missing; a blank one counts as missing. What is kept is kept to the byte.
///
/// # Errors
/// When it is longer than [`BODY_BYTES`] or holds U+0000.
pub fn validate_optional_body(field: &'static str, given: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(given) = given.filter(|given| !given.trim().is_empty()) else { return Ok(None) };
    if given.len() > BODY_BYTES {
        return Err(Refusal::invalid(
            field,
            format!("it has {} bytes and at most {BODY_BYTES} are taken", given.len()),
            "Shorten it, or put the long part into a file of the repository and name the file.",
        ));
    }
    if given.contains('\0') {
        return Err(Refusal::invalid(field, "it holds a NUL character", "Remove the character U+0000."));
    }
    Ok(Some(given.to_owned()))
}

/// The first line of `given`, at most `most` characters, with an ellipsis where something was left out.
pub fn excerpt(given: &str, most: usize) -> String {
    let line = given.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= most && line.len() == given.trim().len() {
        return line.to_owned();
    }
    let kept: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_trimmed_and_bounded() {
        assert_eq!(validate_title("title", "  Add a page \n").unwrap(), "Add a page");
        for bad in ["", "   ", "a\0b", "a\nb", &"x".repeat(501), &"x".repeat(1 << 20)] {
            assert!(validate_title("title", bad).is_err());
        }
        assert!(validate_title("title", &"x".repeat(500)).is_ok());
    }

    #[test]
    fn bodies_keep_their_bytes() {
        assert_eq!(validate_body("content", " a\r\n\tb ").unwrap(), " a\r\n\tb ");
        assert_eq!(validate_optional_body("description", Some(" \n")).unwrap(), None);
        assert!(validate_body("content", "").is_err());
        assert!(validate_body("content", "a\0").is_err());
        assert!(validate_body("content", &"x".repeat(BODY_BYTES + 1)).is_err());
    }

    #[test]
    fn excerpts_are_one_line() {
        assert_eq!(excerpt("short", 10), "short");
        assert_eq!(excerpt("one\ntwo", 10), "one…");
        assert_eq!(excerpt("abcdefghij", 5), "abcd…");
    }
}
