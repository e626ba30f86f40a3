//! Limits on texts from the human and from agents, checked in one place for all interfaces.
//!
//! Must not know what a text is for.

pub mod foreign;

use crate::refusal::general::GeneralRefusal;

/// The maximum length of a title, in bytes.
pub const TITLE_BYTES: usize = 500;
/// The maximum length of a description, comment, message or answer, in bytes.
pub const BODY_BYTES: usize = 64 * 1024;
/// The maximum number of tasks that one call creates.
pub const SUBTASKS: usize = 50;

/// Returns a title without surrounding white space.
///
/// # Errors
/// The title is empty, is longer than [`TITLE_BYTES`], or contains a control character.
pub fn validate_title(field: &'static str, given: &str) -> Result<String, GeneralRefusal> {
    let title = given.trim();
    if title.is_empty() {
        return Err(GeneralRefusal::invalid(field, "it is empty", "Describe the work in a few words."));
    }
    if title.len() > TITLE_BYTES {
        return Err(GeneralRefusal::invalid(
            field,
            format!("it has {} bytes, more than the {TITLE_BYTES} allowed", title.len()),
            "Shorten it, and put details into the description.",
        ));
    }
    if title.chars().any(char::is_control) {
        return Err(GeneralRefusal::invalid(field, "it contains a control character", "Write one line of ordinary text."));
    }
    Ok(title.to_owned())
}

/// Returns a required body unchanged.
///
/// # Errors
/// The body is blank, is longer than [`BODY_BYTES`], or contains U+0000.
pub fn validate_body(field: &'static str, given: &str) -> Result<String, GeneralRefusal> {
    validate_optional_body(field, Some(given))?.ok_or_else(|| GeneralRefusal::invalid(field, "it is empty", "Write at least one character."))
}

/// Returns an optional body unchanged, or none if it is blank.
///
/// # Errors
/// The body is longer than [`BODY_BYTES`] or contains U+0000.
pub fn validate_optional_body(field: &'static str, given: Option<&str>) -> Result<Option<String>, GeneralRefusal> {
    let Some(given) = given.filter(|given| !given.trim().is_empty()) else { return Ok(None) };
    if given.len() > BODY_BYTES {
        return Err(GeneralRefusal::invalid(
            field,
            format!("it has {} bytes, more than the {BODY_BYTES} allowed", given.len()),
            "Shorten it, or put the long part into a file of the repository and mention the file.",
        ));
    }
    if given.contains('\0') {
        return Err(GeneralRefusal::invalid(field, "it contains a NUL character", "Remove the character U+0000."));
    }
    Ok(Some(given.to_owned()))
}

/// Returns the first line of `given`, cut to `limit` characters. An ellipsis marks omitted text.
pub fn excerpt(given: &str, limit: usize) -> String {
    let line = given.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= limit && line.len() == given.trim().len() {
        return line.to_owned();
    }
    let kept: String = line.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Returns the end of `given` on one line, cut to `limit` characters. An ellipsis marks omitted text.
pub fn excerpt_end(given: &str, limit: usize) -> String {
    let line = given.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = line.chars().count();
    if count <= limit { line } else { format!("…{}", line.chars().skip(count - limit).collect::<String>().trim_start()) }
}

/// Quotes a word for a POSIX shell, if it has to be quoted.
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:@%+,=".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_a_text_is_one_line() {
        assert_eq!(excerpt_end(" one\n  two ", 10), "one two");
        assert_eq!(excerpt_end("a long\ntext that ends here", 9), "…ends here");
    }

    #[test]
    fn titles_are_trimmed_and_limited() {
        assert_eq!(validate_title("title", "  Add a page \n").unwrap(), "Add a page");
        for bad in ["", "   ", "a\0b", "a\nb", &"x".repeat(501), &"x".repeat(1 << 20)] {
            assert!(validate_title("title", bad).is_err());
        }
        assert!(validate_title("title", &"x".repeat(500)).is_ok());
    }

    #[test]
    fn bodies_are_kept_unchanged() {
        assert_eq!(validate_body("content", " a\r\n\tb ").unwrap(), " a\r\n\tb ");
        assert_eq!(validate_optional_body("description", Some(" \n")).unwrap(), None);
        assert!(validate_body("content", "").is_err());
        assert!(validate_body("content", "a\0").is_err());
        assert!(validate_body("content", &"x".repeat(BODY_BYTES + 1)).is_err());
    }

    #[test]
    fn excerpt_is_one_line() {
        assert_eq!(excerpt("short", 10), "short");
        assert_eq!(excerpt("one\ntwo", 10), "one…");
        assert_eq!(excerpt("abcdefghij", 5), "abcd…");
    }
}
