//! Splits Rust source text into prose (comments and string literals) and code. Must not know which words are refused.

/// The parts of one file.
pub(super) struct Parts {
    /// Comments and string literals with the number of their first line. Consecutive line comments are one part, because
    /// they are wrapped sentences. Line breaks are preserved.
    pub(super) prose: Vec<(usize, String)>,
    /// The file with all prose replaced by spaces. Line breaks are preserved.
    pub(super) code: String,
}

pub(super) fn split(text: &str) -> Parts {
    let mut parts = Parts { prose: Vec::new(), code: String::with_capacity(text.len()) };
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let next = rest.chars().next().unwrap_or_default();
        if rest.starts_with("//") {
            let length = comment_length(rest);
            at += parts.take(&rest[..length], without_markers(&rest[..length]));
        } else if rest.starts_with("/*") {
            let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
            at += parts.take(&rest[..length], rest[..length].to_owned());
        } else if let Some((start, end, length)) = string(rest).filter(|_| !is_in_name(&text[..at])) {
            at += parts.take(&rest[..length], rest[start..end].to_owned());
        } else if let Some(length) = char_literal(rest) {
            at += parts.blank(&rest[..length]);
        } else {
            parts.code.push(next);
            at += next.len_utf8();
        }
    }
    parts
}

impl Parts {
    /// Adds `prose` and replaces its `source` by spaces. Returns the length of the source.
    fn take(&mut self, source: &str, prose: String) -> usize {
        self.prose.push((self.code.matches('\n').count() + 1, prose));
        self.blank(source)
    }

    fn blank(&mut self, source: &str) -> usize {
        self.code.extend(source.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        source.len()
    }
}

/// Returns the length of a comment and of the line comments directly below it.
fn comment_length(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with("//") {
            break;
        }
        length += line.len();
    }
    length
}

/// Removes the markers and the indentation of line comments.
fn without_markers(comment: &str) -> String {
    let lines = comment.lines().map(|line| line.trim_start().trim_start_matches(['/', '!']).trim());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns start and end of the content of a string literal at the beginning of `text`, and the literal's length.
fn string(text: &str) -> Option<(usize, usize, usize)> {
    let prefix = text.find(|letter| !matches!(letter, 'b' | 'c' | 'r'))?;
    let hashes = text[prefix..].bytes().take_while(|byte| *byte == b'#').count();
    let is_raw = text[..prefix].ends_with('r');
    let start = prefix + hashes + 1;
    if prefix > 2 || !text[prefix + hashes..].starts_with('"') || (hashes > 0 && !is_raw) {
        return None;
    }
    let content = &text[start..];
    let length = if is_raw { content.find(&format!("\"{}", "#".repeat(hashes)))? } else { closing_quote(content)? };
    Some((start, start + length, start + length + 1 + hashes))
}

fn closing_quote(content: &str) -> Option<usize> {
    let mut is_escaped = false;
    content.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

/// Returns the length of a character literal. A lifetime has no closing quote.
fn char_literal(text: &str) -> Option<usize> {
    let content = text.strip_prefix('\'')?;
    if content.starts_with('\\') {
        // The escaped character may itself be a quote.
        return content.get(2..)?.find('\'').map(|end| end + 4);
    }
    let letter = content.chars().next()?;
    content[letter.len_utf8()..].starts_with('\'').then(|| letter.len_utf8() + 2)
}

/// Returns whether `before` ends in a name, so the letters of a following prefix belong to it.
fn is_in_name(before: &str) -> bool {
    before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
}
