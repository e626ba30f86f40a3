//! Text that a terminal and a reader see as it is: what would be obeyed instead of shown is replaced.

use std::borrow::Cow;
use std::fmt::Write;

/// Replaces what a terminal obeys instead of showing it: control characters, which begin escape sequences, and marks that reverse the
/// direction of text. Line breaks and tabs stay. The replacement is that of JSON, so that JSON stays JSON with the same meaning.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\r' if rest.peek() == Some(&'\n') => {}
            letter if is_obeyed(letter) => drop(write!(shown, "\\u{:04x}", u32::from(letter))),
            letter => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        // Marks and overrides of the direction, and separators of lines.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        letter => letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_printed_as_it_is() {
        for text in ["", "one\n\ttwo", "Ä 漢字 🦀 e\u{301}", "\\u001b"] {
            assert!(matches!(printable(text), Cow::Borrowed(shown) if shown == text), "{text}");
        }
        assert_eq!(printable("one\r\ntwo\r\n"), "one\ntwo\n", "a line break of Windows");
    }

    #[test]
    fn every_character_that_a_terminal_obeys_is_replaced() {
        let hostile = "\x1b]0;title\x07\x1b[2J\u{9b}31m\rfake\x08\x7f\u{202e}gnp.exe\u{2066}";
        assert_eq!(printable(hostile), r"\u001b]0;title\u0007\u001b[2J\u009b31m\u000dfake\u0008\u007f\u202egnp.exe\u2066");
        for code in (0..0x20).chain(0x7f..0xa0) {
            let letter = char::from_u32(code).unwrap();
            let kept = matches!(letter, '\n' | '\t');
            assert_eq!(printable(&letter.to_string()).contains(letter), kept, "{code:x}");
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({"text": "a\u{9b}b\u{202e}\u{7f}c"});
        let line = value.to_string();
        assert_ne!(printable(&line), line);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printable(&line)).unwrap(), value);
    }
}
