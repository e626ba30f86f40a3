//! Finds nested repositories that a commit holds as links: git stores only their commit ids, so nobody else gets their files.
//!
//! Reads trees only. `.gitmodules` is read as text, because it names repositories and an agent wrote it.

use std::collections::BTreeSet;
use std::path::Path;

use git2::{Diff, FileMode, Oid};

use crate::error::{Attempt, RepoError};
use crate::handle::find_commit;

/// Lists the links among the `changes` of `head` that it added and that its `.gitmodules` does not name.
pub(crate) fn nested_links(handle: &git2::Repository, head: Oid, changes: &Diff<'_>) -> Result<Vec<String>, RepoError> {
    let added = changes.deltas().filter(|delta| delta.new_file().mode() == FileMode::Commit && delta.old_file().mode() != FileMode::Commit);
    let added: Vec<String> = added.filter_map(|delta| Some(delta.new_file().path()?.to_string_lossy().into_owned())).collect();
    if added.is_empty() {
        return Ok(added);
    }
    let tree = find_commit(handle, head)?.tree().attempting(|| format!("look for nested repositories in {head}"))?;
    let entry = tree.get_path(Path::new(".gitmodules")).ok();
    let blob = entry.and_then(|entry| handle.find_blob(entry.id()).ok());
    let text = blob.map(|blob| String::from_utf8_lossy(blob.content()).into_owned()).unwrap_or_default();
    let named = paths(&text);
    Ok(added.into_iter().filter(|path| !named.contains(path.as_str())).collect())
}

/// The paths that a `.gitmodules` file names.
fn paths(text: &str) -> BTreeSet<&str> {
    let entries = text.lines().filter_map(|line| line.split_once('='));
    entries.filter(|(key, _)| key.trim().eq_ignore_ascii_case("path")).map(|(_, path)| path.trim().trim_matches('"').trim_end_matches('/')).collect()
}
