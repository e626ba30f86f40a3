//! The comment for a coder whose work conflicts with what was merged before: the files, and both sides of the lines that conflict.
//!
//! Pure. The lines come from files that anyone may have written, so they are cleaned, fenced and limited.

use domain::prompt::Prompts;
use domain::runs::diff::{Conflict, DiffLine, Hunk};
use domain::runs::evidence::short;

use crate::prompt;

/// How many conflicting files the comment lists.
const MAX_LISTED_PATHS: usize = 50;
/// The most bytes of the conflicting lines of one file, and of all files.
const MAX_FILE_BYTES: usize = 4_000;
const MAX_BYTES: usize = 16_000;
const MIN_FENCE: usize = 3;
const REPLACEMENT: char = '\u{fffd}';

/// The files that a merge would leave in conflict.
#[derive(Debug)]
pub(crate) struct Conflicts {
    /// Every path of a conflict. A renamed file has several.
    pub(crate) paths: Vec<String>,
    pub(crate) files: Vec<Conflict>,
}

impl Conflicts {
    /// The files, and the lines with the markers that `git merge BRANCH` writes, as Markdown. `sha` is the work that conflicts with `branch`.
    pub(crate) fn to_markdown(&self, sha: &str, branch: &str) -> String {
        let mut listed: Vec<String> = self.paths.iter().take(MAX_LISTED_PATHS).map(|path| format!("- {}", clean(path))).collect();
        if self.paths.len() > MAX_LISTED_PATHS {
            listed.push(format!("- and {} more", self.paths.len() - MAX_LISTED_PATHS));
        }
        let mut parts = vec![listed.join("\n")];
        let mut left = MAX_BYTES;
        for (place, file) in self.files.iter().enumerate() {
            if left == 0 {
                parts.push(format!("The conflicts of {} are not shown.", more_files(self.files.len() - place)));
                break;
            }
            let (shown, used) = file_to_markdown(file, sha, branch, left.min(MAX_FILE_BYTES));
            left -= used;
            parts.push(shown);
        }
        parts.join("\n\n")
    }
}

/// The comment for the coder.
pub(super) fn text(prompts: &Prompts, sha: &str, branch: &str, conflicts: &Conflicts) -> String {
    prompt::conflict(prompts, sha, branch, &conflicts.to_markdown(sha, branch))
}

/// Shows at most `limit` bytes of lines. Returns also how many it used.
fn file_to_markdown(file: &Conflict, sha: &str, branch: &str, limit: usize) -> (String, usize) {
    let mut text = format!("{}:", clean(&file.path));
    if let Some(why) = &file.why {
        text += &format!(" {why}");
    }
    let (mut lines, mut is_cut) = (Vec::new(), false);
    let mut used = 0;
    for line in file.hunks.iter().flat_map(|hunk| with_markers(hunk, sha, branch)) {
        if used + line.len() + 1 > limit {
            is_cut = true;
            break;
        }
        used += line.len() + 1;
        lines.push(line);
    }
    if !lines.is_empty() {
        let fence = "`".repeat(fence_length(&lines));
        text += &format!("\n\n{fence}\n{}\n{fence}", lines.join("\n"));
    }
    if is_cut {
        text += "\n\nThe rest of this file is not shown.";
        return (text, limit);
    }
    (text, used)
}

/// The lines of one conflict, as the coder finds them after `git merge`: its own first.
fn with_markers(hunk: &Hunk, sha: &str, branch: &str) -> Vec<String> {
    let side = |origin: char| hunk.lines.iter().filter(move |line| line.origin == origin).map(|line| clean(&line.text));
    let is_context = |line: &&DiffLine| line.origin == ' ';
    let before = hunk.lines.iter().take_while(is_context).map(|line| clean(&line.text));
    let after = hunk.lines.iter().skip_while(is_context).filter(is_context).map(|line| clean(&line.text));
    let marker = |sign: &str, name: &str| std::iter::once(format!("{} {name}", sign.repeat(7)).trim_end().to_owned());
    let own = marker("<", short(sha)).chain(side('+'));
    let others = marker("=", "").chain(side('-')).chain(marker(">", branch));
    before.chain(own).chain(others).chain(after).collect()
}

/// Replaces what a terminal or a reader would not show as it is: control characters, and those that reverse the direction of text.
fn clean(text: &str) -> String {
    let is_hidden = |character: char| {
        character.is_control() && character != '\t'
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().map(|character| if is_hidden(character) { REPLACEMENT } else { character }).collect()
}

/// The length of a fence that no line ends.
fn fence_length(lines: &[String]) -> usize {
    let runs = lines.iter().flat_map(|line| line.split(|character| character != '`').map(str::len));
    runs.max().unwrap_or_default().saturating_add(1).max(MIN_FENCE)
}

fn more_files(count: usize) -> String {
    if count == 1 { "one more file".to_owned() } else { format!("{count} more files") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflict(path: &str, lines: &[(char, &str)]) -> Conflict {
        let lines = lines.iter().map(|(origin, text)| DiffLine::plain(*origin, None, None, (*text).to_owned())).collect();
        Conflict { path: path.to_owned(), hunks: vec![Hunk { header: "Conflict 1".to_owned(), lines }], why: None }
    }

    fn shown(files: Vec<Conflict>) -> String {
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Conflicts { paths, files }.to_markdown("0123456789", "vibe-relay/PROJ-001")
    }

    #[test]
    fn own_lines_come_first_as_in_the_coders_worktree() {
        let file = conflict("a.txt", &[(' ', "before"), ('-', "merged"), ('+', "mine"), ('+', "mine too"), (' ', "after")]);
        insta::assert_snapshot!(shown(vec![file]), @r"
        - a.txt

        a.txt:

        ```
        before
        <<<<<<< 0123456
        mine
        mine too
        =======
        merged
        >>>>>>> vibe-relay/PROJ-001
        after
        ```
        ");
    }

    #[test]
    fn hostile_lines_stay_in_their_fence_and_show_nothing_hidden() {
        let file = conflict("a\n```\u{1b}[2J", &[('-', "````"), ('+', "\u{1b}[31mred\u{202e}\r"), ('+', "tab\there")]);
        let text = shown(vec![file]);
        assert!(!text.chars().any(|character| character.is_control() && !"\n\t".contains(character)), "{text:?}");
        assert!(!text.contains('\u{202e}') && text.contains("tab\there"), "{text:?}");
        let fences: Vec<&str> = text.lines().filter(|line| line.starts_with("`````")).collect();
        assert_eq!(fences, ["`````", "`````"], "longer than the line of four");
        assert!(text.lines().any(|line| line == "````"), "{text}");
    }

    #[test]
    fn long_conflicts_are_cut_for_each_file_and_in_total() {
        let line = "x".repeat(99);
        let long: Vec<(char, &str)> = (0..100).map(|_| ('+', line.as_str())).collect();
        let text = shown((0..8).map(|number| conflict(&format!("{number}"), &long)).collect());
        assert!(text.len() < MAX_BYTES + 2_000, "{}", text.len());
        assert_eq!(text.matches("The rest of this file is not shown.").count(), 4);
        assert!(text.ends_with("The conflicts of 4 more files are not shown."), "{text}");
        let one = shown(vec![conflict("a", &long)]);
        assert!(one.len() < MAX_FILE_BYTES + 200, "{}", one.len());
    }

    #[test]
    fn file_without_lines_says_why() {
        let binary = Conflict { path: "logo.png".to_owned(), hunks: Vec::new(), why: Some("It is binary or too large to show.".to_owned()) };
        insta::assert_snapshot!(shown(vec![binary]), @r"
        - logo.png

        logo.png: It is binary or too large to show.
        ");
    }
}
