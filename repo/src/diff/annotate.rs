//! Adds to a rendered change what helps its reader: colours, changed words and the length of files. And reads further lines of its files.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use domain::runs::diff::{Diff, DiffLine, FileDiff, FileLines, Span};
use domain::runs::evidence::Sha;

use super::highlight::Highlighter;
use super::{DiffLimits, words};
use crate::branch::contains;
use crate::error::RepoError;
use crate::handle::{Repository, oid};

/// Lines of context that one request reads.
const MAX_CONTEXT: u32 = 500;

impl Repository {
    /// Adds colours, marks and lengths to the files of a diff that has hunks.
    ///
    /// # Errors
    /// A commit is missing, or objects cannot be read.
    pub fn annotate(&self, diff: &mut Diff) -> Result<(), RepoError> {
        let highlighter = Highlighter::new();
        for file in diff.files.iter_mut().filter(|file| !file.hunks.is_empty()) {
            for hunk in &mut file.hunks {
                words::mark(&mut hunk.lines);
            }
            let old_path = file.old_path.clone().unwrap_or_else(|| file.path.clone());
            let old = self.text_at(&diff.base, &old_path)?;
            let new = self.text_at(&diff.head, &file.path)?;
            file.lines = new.as_ref().map(|text| count(text));
            let old = old.map(|text| spans(&highlighter, &old_path, &text, last_line(file, |line| line.old_line)));
            let new = new.map(|text| spans(&highlighter, &file.path, &text, last_line(file, |line| line.new_line)));
            for line in file.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
                let (number, lines) = if line.origin == '-' { (line.old_line, &old) } else { (line.new_line, &new) };
                line.spans = spans_of(number, lines.as_ref(), line.text.len());
            }
        }
        Ok(())
    }

    /// Reads a range of lines of a file, numbered from 1, at most 500 of them; `None` if it is not a text file.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn file_lines(&self, commit: &Sha, path: &str, range: RangeInclusive<u32>) -> Result<Option<FileLines>, RepoError> {
        let Some(text) = self.text_at(commit, path)? else { return Ok(None) };
        let (first, last) = ((*range.start()).max(1), (*range.end()).min(range.start().saturating_add(MAX_CONTEXT - 1)));
        let spans = spans(&Highlighter::new(), path, &text, last);
        let wanted = (1..).zip(text.lines()).skip_while(|(number, _)| *number < first).take_while(|(number, _)| *number <= last);
        let line = |(number, text): (u32, &str)| {
            let text: String = text.chars().take(DiffLimits::REVIEW.line_length).collect();
            let spans = spans_of(Some(number), Some(&spans), text.len());
            DiffLine { spans, ..DiffLine::plain(' ', None, Some(number), text) }
        };
        Ok(Some(FileLines { lines: wanted.map(line).collect(), total: count(&text) }))
    }

    /// Reads one line of a text file, numbered from 1.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn line_at(&self, commit: &Sha, path: &str, line: u32) -> Result<Option<String>, RepoError> {
        let index = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let text = self.text_at(commit, path)?;
        Ok(text.zip(index).and_then(|(text, index)| text.lines().nth(index).map(str::to_owned)))
    }

    /// Reads one line of an earlier commit of the work at `head`. None if the commit is not part of that work.
    ///
    /// # Errors
    /// Objects cannot be read.
    pub fn line_of_work(&self, commit: &Sha, head: &Sha, path: &str, line: u32) -> Result<Option<String>, RepoError> {
        let Ok(earlier) = oid(commit) else { return Ok(None) };
        if !contains(&self.handle()?, oid(head)?, earlier) {
            return Ok(None);
        }
        self.line_at(commit, path, line)
    }

    /// The text of a file, unless it is binary or too large to show.
    fn text_at(&self, commit: &Sha, path: &str) -> Result<Option<String>, RepoError> {
        let bytes = self.file_at(commit, path)?;
        let is_text = |bytes: &Vec<u8>| bytes.len() <= DiffLimits::REVIEW.file_size as usize && !bytes.contains(&0);
        Ok(bytes.filter(is_text).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn count(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}

/// The last line of the file that the hunks show.
fn last_line(file: &FileDiff, number: impl Fn(&DiffLine) -> Option<u32>) -> u32 {
    file.hunks.iter().flat_map(|hunk| &hunk.lines).filter_map(number).max().unwrap_or_default()
}

type NumberedSpans = BTreeMap<u32, Vec<Span>>;

fn spans(highlighter: &Highlighter, path: &str, text: &str, last: u32) -> NumberedSpans {
    (1..).zip(highlighter.spans(path, text, last as usize)).filter(|(_, spans)| !spans.is_empty()).collect()
}

/// The spans of a line whose text may have been cut.
fn spans_of(number: Option<u32>, lines: Option<&NumberedSpans>, length: usize) -> Vec<Span> {
    let found = number.and_then(|number| lines?.get(&number)).cloned().unwrap_or_default();
    found.into_iter().filter(|span| span.end as usize <= length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestRepository;

    #[test]
    fn review_has_colours_marks_and_context() {
        let sample = TestRepository::new();
        let repository = sample.repository();
        let body: String = (1..=40).map(|line| format!("// line {line}\n")).collect();
        let start = sample.commit_on("main", &[("src/a.rs", Some(&format!("{body}let a = 1;\n"))), ("image.png", Some("a\0b"))], "start");
        let end = sample.commit_on("work", &[("src/a.rs", Some(&format!("{body}let a = 2;\n"))), ("image.png", Some("a\0c"))], "change");
        let mut diff = repository.diff_between(&start, &end, &[], DiffLimits::REVIEW).unwrap();
        repository.annotate(&mut diff).unwrap();
        assert_eq!((diff.files[0].binary, diff.files[0].lines), (true, None));
        let file = &diff.files[1];
        let lines = &file.hunks[0].lines;
        assert_eq!((file.lines, lines.len()), (Some(41), 5));
        let [removed, added] = [&lines[3], &lines[4]];
        let part = |line: &DiffLine, start: u32, end: u32| line.text[start as usize..end as usize].to_owned();
        assert_eq!(
            (part(removed, removed.marks[0].start, removed.marks[0].end), part(added, added.spans[0].start, added.spans[0].end)),
            ("1".into(), "let".into())
        );

        let context = repository.file_lines(&end, "src/a.rs", 36..=37).unwrap().unwrap();
        assert_eq!((context.total, context.lines.len()), (41, 2));
        assert_eq!((context.lines[0].new_line, context.lines[0].text.as_str(), context.lines[0].spans.len()), (Some(36), "// line 36", 1));
        assert_eq!(repository.file_lines(&end, "src/a.rs", 40..=9_999).unwrap().unwrap().lines.len(), 2, "as many as there are");
        let line = |number| repository.line_at(&end, "src/a.rs", number).unwrap();
        assert_eq!((line(41).as_deref(), line(42), line(0)), (Some("let a = 2;"), None, None));
        let earlier = |commit: &str| repository.line_of_work(&commit.to_owned(), &end, "src/a.rs", 41).unwrap();
        assert_eq!((earlier(&start).as_deref(), earlier("0123"), earlier(&"0".repeat(40))), (Some("let a = 1;"), None, None));
        let other = sample.commit_on("other", &[("src/a.rs", Some("secret\n"))], "not this work");
        assert_eq!(repository.line_of_work(&other, &end, "src/a.rs", 1).unwrap(), None);
        assert_eq!(repository.file_lines(&end, "image.png", 1..=2).unwrap(), None);
        assert_eq!(repository.file_lines(&end, "../secret", 1..=2).unwrap(), None);
    }

    #[test]
    fn large_file_is_folded_until_it_is_requested() {
        let sample = TestRepository::new();
        let repository = sample.repository();
        let start = repository.ref_sha("main").unwrap().unwrap();
        let large: String = (1..=700).map(|line| format!("{line}\n")).collect();
        let end = sample.commit_on("work", &[("large.txt", Some(&large)), ("small[1].txt", Some("1\n"))], "change");
        let folds = |diff: &Diff| diff.files.iter().map(|file| (file.folded, file.hunks.len(), file.added)).collect::<Vec<_>>();
        let diff = repository.diff_between(&start, &end, &[], DiffLimits::REVIEW).unwrap();
        assert_eq!((folds(&diff), diff.truncated), (vec![(true, 0, 700), (false, 1, 1)], false));
        let one = |path| folds(&repository.diff_between(&start, &end, &[path], DiffLimits::REVIEW_FILE).unwrap());
        assert_eq!(
            (one("large.txt"), one("small[1].txt"), one("*.txt")),
            (vec![(false, 1, 700)], vec![(false, 1, 1)], vec![]),
            "a path is no pattern"
        );
    }
}
