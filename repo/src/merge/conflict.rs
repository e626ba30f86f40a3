//! Shows the conflicts of a merge in memory: the parts that both sides changed, with the lines around them.
//!
//! Must not write anything, and shows no more than a page holds.

use std::collections::VecDeque;

use domain::runs::diff::{Conflict, DiffLine, Hunk};
use git2::{Index, IndexConflict, IndexEntry, MergeFileInput, MergeFileOptions, Repository};

/// Files of a merge that are shown.
const MAX_FILES: usize = 50;
/// Conflicts of one file that are shown.
const MAX_HUNKS: usize = 20;
/// Lines of one version of a conflict that are shown.
const MAX_LINES: usize = 80;
/// Characters of a line that are shown.
const MAX_LENGTH: usize = 500;
/// Bytes of one version of a file.
const MAX_SIZE: usize = 1024 * 1024;
/// Unchanged lines before and after a conflict.
const CONTEXT: usize = 3;
/// So long that no file has them.
const MARKER: u16 = 37;

/// The conflicts of a merge, in the order of their paths.
pub(super) fn show(handle: &Repository, index: &Index) -> Result<Vec<Conflict>, git2::Error> {
    let mut shown = Vec::new();
    for conflict in index.conflicts()? {
        let conflict = conflict?;
        let Some(path) = path(&conflict) else { continue };
        if shown.len() >= MAX_FILES {
            shown.push(Conflict { path, hunks: Vec::new(), why: Some("There are more conflicts than fit here.".to_owned()) });
            break;
        }
        shown.push(show_file(handle, path, &conflict)?);
    }
    shown.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(shown)
}

fn path(conflict: &IndexConflict) -> Option<String> {
    let entry = conflict.their.as_ref().or(conflict.our.as_ref()).or(conflict.ancestor.as_ref())?;
    Some(String::from_utf8_lossy(&entry.path).into_owned())
}

fn show_file(handle: &Repository, path: String, conflict: &IndexConflict) -> Result<Conflict, git2::Error> {
    let only = |why: &str| Conflict { path: path.clone(), hunks: Vec::new(), why: Some(why.to_owned()) };
    let (ours, theirs) = match (&conflict.our, &conflict.their) {
        (Some(ours), Some(theirs)) => (text(handle, ours)?, text(handle, theirs)?),
        (None, Some(_)) => return Ok(only("The merged work removed it, and this work changed it.")),
        (Some(_), None) => return Ok(only("This work removed it, and the merged work changed it.")),
        (None, None) => return Ok(only("Both sides renamed it.")),
    };
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return Ok(only("It is binary or too large to show.")) };
    let ancestor = match &conflict.ancestor {
        Some(entry) => text(handle, entry)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let (mut before, mut one, mut other) = (MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new());
    let (before, one, other) = (before.content(&ancestor), one.content(&ours), other.content(&theirs));
    let merged = git2::merge_file(before, one, other, Some(MergeFileOptions::new().marker_size(MARKER)))?;
    let (hunks, is_cut) = hunks(&String::from_utf8_lossy(merged.content()));
    let why = match (hunks.is_empty(), is_cut) {
        (true, _) => Some("Both sides changed its name or its mode."),
        (false, true) => Some("There is more than fits here."),
        (false, false) => None,
    };
    Ok(Conflict { path, hunks, why: why.map(str::to_owned) })
}

/// The content of a version, unless it is binary or too large.
fn text(handle: &Repository, entry: &IndexEntry) -> Result<Option<Vec<u8>>, git2::Error> {
    let Ok(blob) = handle.find_blob(entry.id) else { return Ok(None) };
    Ok((blob.size() <= MAX_SIZE && !blob.is_binary()).then(|| blob.content().to_vec()))
}

/// The part of a merged file that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Both,
    Ours,
    Theirs,
}

/// The conflicts of a merged file with markers, and whether some of it is left out.
fn hunks(merged: &str) -> (Vec<Hunk>, bool) {
    let marker = |sign: &str| sign.repeat(usize::from(MARKER));
    let (start, middle, end) = (marker("<"), marker("="), marker(">"));
    let (mut hunks, mut before, mut after, mut part, mut is_cut) = (Vec::<Hunk>::new(), VecDeque::new(), 0, Part::Both, false);
    let mut count = 0;
    for text in merged.lines() {
        let line = |origin: char| DiffLine::plain(origin, None, None, text.chars().take(MAX_LENGTH).collect());
        if text.starts_with(&start) {
            if hunks.len() >= MAX_HUNKS {
                return (hunks, true);
            }
            hunks.push(Hunk { header: format!("Conflict {}", hunks.len() + 1), lines: before.drain(..).collect() });
            (part, count) = (Part::Ours, 0);
        } else if part == Part::Ours && text.starts_with(&middle) {
            (part, count) = (Part::Theirs, 0);
        } else if part == Part::Theirs && text.starts_with(&end) {
            (part, after) = (Part::Both, CONTEXT);
        } else if part == Part::Both {
            match hunks.last_mut().filter(|_| after > 0) {
                Some(hunk) => {
                    hunk.lines.push(line(' '));
                    after -= 1;
                }
                None => {
                    before.push_back(line(' '));
                    if before.len() > CONTEXT {
                        before.pop_front();
                    }
                }
            }
        } else if let Some(hunk) = hunks.last_mut() {
            count += 1;
            is_cut |= count > MAX_LINES;
            if count <= MAX_LINES {
                hunk.lines.push(line(if part == Part::Ours { '-' } else { '+' }));
            }
        }
    }
    (hunks, is_cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_conflicts_share_no_line_and_long_ones_are_cut() {
        let marker = |sign: &str| sign.repeat(usize::from(MARKER));
        let conflict = |ours: &str, theirs: &str| format!("{} a\n{ours}{}\n{theirs}{} b\n", marker("<"), marker("="), marker(">"));
        let long: String = (0..200).map(|line| format!("{line}\n")).collect();
        let merged = format!("a\nb\n{}c\n<<<<<<< text\nd\n{}", conflict("1\n", "2\n"), conflict("", &long));
        let (found, is_cut) = hunks(&merged);
        let lines = |hunk: &Hunk| hunk.lines.iter().map(|line| format!("{}{}", line.origin, line.text)).collect::<Vec<_>>();
        assert_eq!(lines(&found[0]), [" a", " b", "-1", "+2", " c", " <<<<<<< text", " d"]);
        assert_eq!((found.len(), lines(&found[1]).len(), is_cut), (2, MAX_LINES, true));
        assert_eq!(hunks("plain\n"), (Vec::new(), false));
    }
}
