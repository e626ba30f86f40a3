//! Renders a change for people: files, hunks and lines between two commits, truncated to the size of a page.
//!
//! Must ignore the attribute files of the change, because a change could hide itself from its reviewer (`* -diff`).

mod annotate;
pub(crate) mod highlight;
mod words;

use domain::runs::diff::{Diff, DiffLine, DiffSize, FileChange, FileDiff, Hunk};
use domain::runs::evidence::Sha;
use git2::{Delta, DiffDelta, DiffFindOptions, DiffOptions, Patch};

use crate::error::{Attempt, RepoError};
use crate::evidence::merge_base;
use crate::handle::{Repository, find_commit, oid, sha};

/// The maximum size of a rendered change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// Number of listed files.
    pub files: usize,
    /// Lines in all hunks of all files.
    pub lines: usize,
    /// Characters of one line.
    pub line_length: usize,
    /// Bytes of one version of a file. A larger file is shown as binary.
    pub file_size: u32,
    /// Lines in the hunks of one file. A file with more, or with more than are left for all files, is folded: it has no hunks. Without this
    /// limit, the hunks end where the lines of all files are used up.
    pub file_lines: Option<usize>,
}

impl DiffLimits {
    /// The limits of the first view of a review, whose larger files are requested one by one.
    pub const REVIEW: Self = Self { files: 300, lines: 4_000, line_length: 2_000, file_size: 2 * 1024 * 1024, file_lines: Some(600) };
    /// The limits of one file of a review.
    pub const REVIEW_FILE: Self = Self { lines: 20_000, file_lines: None, ..Self::REVIEW };
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self { files: 300, lines: 4_000, line_length: 2_000, file_size: 2 * 1024 * 1024, file_lines: None }
    }
}

impl Repository {
    /// Compares `head` with its merge base with `base`, which becomes [`Diff::base`]. Detects renames.
    /// `added` and `removed` count all lines of a file, even if the hunks are truncated.
    ///
    /// # Errors
    /// A commit is missing, or objects cannot be read.
    pub fn diff(&self, base: &Sha, head: &Sha, limits: DiffLimits) -> Result<Diff, RepoError> {
        self.diff_between(&self.fork_point(base, head)?, head, &[], limits)
    }

    /// Returns the commit where `head` parted from `base`, or `base` if they have no common history.
    ///
    /// # Errors
    /// A commit is missing.
    pub fn fork_point(&self, base: &Sha, head: &Sha) -> Result<Sha, RepoError> {
        let handle = self.handle()?;
        let (base, head) = (find_commit(&handle, oid(base)?)?.id(), find_commit(&handle, oid(head)?)?.id());
        Ok(sha(merge_base(&handle, base, head)?.unwrap_or(base)))
    }

    /// Compares two commits directly: everything, or the files at `paths`.
    ///
    /// # Errors
    /// A commit is missing, or objects cannot be read.
    pub fn diff_between(&self, old: &Sha, new: &Sha, paths: &[&str], limits: DiffLimits) -> Result<Diff, RepoError> {
        let handle = self.handle()?;
        let comparing = || format!("compare {old} with {new}");
        let (start, head_id) = (oid(old)?, oid(new)?);
        let old = find_commit(&handle, start)?.tree().attempting(comparing)?;
        let new = find_commit(&handle, head_id)?.tree().attempting(comparing)?;

        let mut options = DiffOptions::new();
        options.include_typechange(true).max_size(i64::from(limits.file_size)).disable_pathspec_match(true);
        // A path with a replaced character was not valid UTF-8, and names no file as it is written.
        let is_exact = !paths.iter().any(|path| path.contains(char::REPLACEMENT_CHARACTER));
        for path in paths.iter().filter(|_| is_exact) {
            options.pathspec(*path);
        }
        let mut changes = handle.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options)).attempting(comparing)?;
        let mut find = DiffFindOptions::new();
        changes.find_similar(Some(find.renames(true).rename_limit(limits.files))).attempting(comparing)?;

        let count = changes.deltas().len();
        let mut shown = Diff { base: sha(start), head: sha(head_id), files: Vec::new(), truncated: count > limits.files };
        let mut budget = limits.lines;
        for index in 0..count.min(limits.files) {
            let Some(delta) = changes.get_delta(index) else { continue };
            let mut file = describe(&delta);
            if !is_exact && !paths.contains(&file.path.as_str()) {
                continue;
            }
            // Without a patch, only the mode changed or the file is binary.
            if let Some(patch) = Patch::from_diff(&changes, index).attempting(comparing)? {
                file.binary = patch.delta().flags().is_binary();
                let (context, added, removed) = patch.line_stats().attempting(comparing)?;
                file.added = u32::try_from(added).unwrap_or(u32::MAX);
                file.removed = u32::try_from(removed).unwrap_or(u32::MAX);
                file.folded = limits.file_lines.is_some_and(|most| context + added + removed > most.min(budget));
                if !file.folded {
                    shown.truncated |= copy_hunks(&patch, &mut file.hunks, &mut budget, limits.line_length).attempting(comparing)?;
                }
            }
            shown.files.push(file);
        }
        Ok(shown)
    }

    /// Returns the size of the change that [`Repository::diff`] shows, without its content.
    ///
    /// # Errors
    /// A commit is missing, or objects cannot be read.
    pub fn diff_size(&self, base: &Sha, head: &Sha) -> Result<DiffSize, RepoError> {
        let handle = self.handle()?;
        let comparing = || format!("compare {base} with {head}");
        let (base_id, head_id) = (find_commit(&handle, oid(base)?)?.id(), find_commit(&handle, oid(head)?)?.id());
        let start = merge_base(&handle, base_id, head_id)?.unwrap_or(base_id);
        let old = find_commit(&handle, start)?.tree().attempting(comparing)?;
        let new = find_commit(&handle, head_id)?.tree().attempting(comparing)?;
        let mut options = DiffOptions::new();
        options.max_size(i64::from(DiffLimits::default().file_size));
        let stats = handle.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options)).and_then(|changes| changes.stats()).attempting(comparing)?;
        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(DiffSize { files: count(stats.files_changed()), added: count(stats.insertions()), removed: count(stats.deletions()) })
    }
}

fn describe(delta: &DiffDelta<'_>) -> FileDiff {
    let (old, new) = (delta.old_file(), delta.new_file());
    let name = |file: &git2::DiffFile<'_>| file.path_bytes().map(|path| String::from_utf8_lossy(path).into_owned());
    let change = match delta.status() {
        Delta::Added => FileChange::Added,
        Delta::Deleted => FileChange::Removed,
        Delta::Renamed => FileChange::Renamed,
        _ if old.id() == new.id() => FileChange::ModeChanged,
        _ => FileChange::Modified,
    };
    FileDiff {
        path: name(&new).or_else(|| name(&old)).unwrap_or_default(),
        old_path: if change == FileChange::Renamed { name(&old) } else { None },
        change,
        added: 0,
        removed: 0,
        binary: delta.flags().is_binary(),
        lines: None,
        folded: false,
        hunks: Vec::new(),
    }
}

/// Copies hunks until the line budget is used up. Returns whether anything was truncated.
fn copy_hunks(patch: &Patch<'_>, hunks: &mut Vec<Hunk>, budget: &mut usize, line_length: usize) -> Result<bool, git2::Error> {
    let mut cut = false;
    for number in 0..patch.num_hunks() {
        if *budget == 0 {
            return Ok(true);
        }
        let (header, lines) = patch.hunk(number)?;
        let mut hunk = Hunk { header: text(header.header()), lines: Vec::new() };
        for line in 0..lines {
            let line = patch.line_in_hunk(number, line)?;
            // Other origins mark a missing newline at the end of the file.
            if !matches!(line.origin(), '+' | '-' | ' ') {
                continue;
            }
            if *budget == 0 {
                cut = true;
                break;
            }
            *budget -= 1;
            let mut content = text(line.content());
            if let Some((end, _)) = content.char_indices().nth(line_length) {
                content.truncate(end);
                cut = true;
            }
            hunk.lines.push(DiffLine::plain(line.origin(), line.old_lineno(), line.new_lineno(), content));
        }
        hunks.push(hunk);
    }
    Ok(cut)
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests;
