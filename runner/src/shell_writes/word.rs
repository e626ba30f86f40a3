//! Words of a shell command as the program gets them, as long as nothing in them has to be looked up.

use tree_sitter::Node;

/// Returns the text of a word, or nothing if it contains a variable, a wildcard, a home folder or anything else that only the shell knows.
pub(super) fn literal(node: Node<'_>, script: &str) -> Option<String> {
    let text = script.get(node.byte_range())?;
    match node.kind() {
        "word" => unquoted(text),
        "number" => Some(text.to_owned()),
        "raw_string" => Some(text.strip_prefix('\'')?.strip_suffix('\'')?.to_owned()),
        "string" => {
            let mut cursor = node.walk();
            let is_plain = node.named_children(&mut cursor).all(|part| part.kind() == "string_content");
            is_plain.then(|| quoted(text))?
        }
        "concatenation" => {
            let mut cursor = node.walk();
            // A part between the children, such as a brace, is not a word.
            let parts: Option<Vec<String>> = node.children(&mut cursor).map(|part| literal(part, script)).collect();
            parts.map(|parts| parts.concat())
        }
        _ => None,
    }
}

/// Removes the backslashes of a word without quotes.
fn unquoted(text: &str) -> Option<String> {
    if text.starts_with('~') {
        return None;
    }
    let mut word = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '*' | '?' | '[' | '{' | '$' | '`' | '!' => return None,
            // A backslash at the end of a line continues it.
            '\\' => word.extend(letters.next().filter(|escaped| *escaped != '\n')),
            _ => word.push(letter),
        }
    }
    Some(word)
}

/// Removes the double quotes around a text, and the backslashes that have a meaning between them.
fn quoted(text: &str) -> Option<String> {
    let text = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut word = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '$' | '`' => return None,
            '\\' => match letters.next_if(|next| matches!(next, '"' | '\\' | '$' | '`' | '\n')) {
                Some('\n') => {}
                Some(escaped) => word.push(escaped),
                None => word.push('\\'),
            },
            _ => word.push(letter),
        }
    }
    Some(word)
}
