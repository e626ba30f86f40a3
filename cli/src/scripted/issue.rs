//! Reads the `<issue>` block that tells an agent its task. Must not know the block's format beyond `Key: value` lines.

use std::collections::BTreeMap;

/// The `Key: value` lines between `<issue>` and `</issue>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    lines: BTreeMap<String, String>,
}

impl Issue {
    /// Finds the first `<issue>` block of a prompt. Indented lines continue a value; the first line of a key wins.
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

    /// The value of a key such as `Task` or `Worktree`; `None` if the line is missing or empty.
    pub fn line(&self, key: &str) -> Option<&str> {
        self.lines.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuation_lines_are_not_keys() {
        let prompt = "<issue>\nTitle: Add: a footer\nDescription: first\n  Task: TASK-999\nPhase: coder\nTask: TASK-004\nParent:\n</issue>\n<comments>\nTask: TASK-7\n</comments>";
        let issue = Issue::find(prompt).unwrap();
        assert_eq!(issue.line("Title"), Some("Add: a footer"));
        assert_eq!(issue.line("Task"), Some("TASK-004"));
        assert_eq!(issue.line("Parent"), None);
        assert_eq!(Issue::find("no block"), None);
    }
}
