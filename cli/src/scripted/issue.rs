//! Reads the `<issue>` block by which an agent knows its task. It must not know how the block is written, beyond `Key: value` lines.

use std::collections::BTreeMap;

/// The `Key: value` lines between `<issue>` and `</issue>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    lines: BTreeMap<String, String>,
}

impl Issue {
    /// The first `<issue>` block of a prompt, or nothing when there is none. Continuation lines are indented and therefore no keys;
    /// the first line of a key wins.
    pub fn find(prompt: &str) -> Option<Self> {
        let (_, rest) = prompt.split_once("<issue>")?;
        let (block, _) = rest.split_once("</issue>")?;
        let mut lines = BTreeMap::new();
        for line in block.lines().filter(|line| !line.starts_with(' ')) {
            if let Some((key, value)) = line.split_once(':') {
                lines.entry(key.to_owned()).or_insert_with(|| value.trim().to_owned());
            }
        }
        Some(Self { lines })
    }

    /// The value of one line, by its key as written (`Task`, `Worktree`); nothing when the line is missing or empty.
    pub fn line(&self, key: &str) -> Option<&str> {
        self.lines.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_continuation_lines_are_not() {
        let prompt = "<issue>\nTitle: Add: a footer\nDescription: first\n  Task: TASK-999\nPhase: coder\nTask: TASK-004\nParent:\n</issue>\n<comments>\nTask: TASK-7\n</comments>";
        let issue = Issue::find(prompt).unwrap();
        assert_eq!(issue.line("Title"), Some("Add: a footer"));
        assert_eq!(issue.line("Task"), Some("TASK-004"));
        assert_eq!(issue.line("Parent"), None);
        assert_eq!(Issue::find("no block"), None);
    }
}
