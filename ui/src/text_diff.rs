//! A line diff between two texts, in the form that the diff view draws. Pure.

use domain::runs::diff::{DiffLine, Hunk};
use similar::{ChangeTag, TextDiff};

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;

pub(crate) fn diff(old: &str, new: &str) -> Vec<Hunk> {
    let lines = TextDiff::from_lines(old, new);
    let number = |index: Option<usize>| index.and_then(|index| u32::try_from(index + 1).ok());
    let mut unified = lines.unified_diff();
    let hunks = unified.context_radius(CONTEXT_LINES).iter_hunks().map(|hunk| Hunk {
        header: hunk.header().to_string(),
        lines: hunk
            .iter_changes()
            .map(|change| {
                let origin = match change.tag() {
                    ChangeTag::Insert => '+',
                    ChangeTag::Delete => '-',
                    ChangeTag::Equal => ' ',
                };
                DiffLine::plain(origin, number(change.old_index()), number(change.new_index()), change.value().to_owned())
            })
            .collect(),
    });
    hunks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(old: &str, new: &str) -> Vec<String> {
        let line = |line: &DiffLine| format!("{}{}", line.origin, line.text.trim_end());
        diff(old, new).iter().flat_map(|hunk| std::iter::once(hunk.header.clone()).chain(hunk.lines.iter().map(line))).collect()
    }

    #[test]
    fn changed_line_is_removed_and_added() {
        assert_eq!(drawn("a\nb\nc\n", "a\nx\nc\n"), ["@@ -1,3 +1,3 @@", " a", "-b", "+x", " c"]);
    }

    #[test]
    fn equal_texts_have_no_hunks() {
        assert_eq!(diff("a\nb", "a\nb"), []);
    }

    #[test]
    fn distant_changes_are_separate_hunks() {
        let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("2\n3\n", "2\nthree\n").replace("19\n", "");
        let hunks = diff(&old, &new);
        assert_eq!(hunks.len(), 2);
        let removed = hunks[1].lines.iter().find(|line| line.origin == '-').unwrap();
        assert_eq!((removed.old_line, removed.new_line, removed.text.as_str()), (Some(19), None, "19\n"));
    }
}
