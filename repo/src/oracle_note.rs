//! Finds out which notes of oracles still hold, because no file of their zones changed since. Must not know what they say.

use std::path::Path;

use domain::runs::evidence::Sha;
use domain::warroom::oracle::note::OracleNote;
use git2::DiffOptions;

use crate::branch::tip;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::lane::{Effort, in_lane};

/// Returns the earlier questions whose answers hold at the tip of `branch`. An answer about a commit that is gone does not.
///
/// # Errors
/// When the repository cannot be read or does not respond.
pub async fn holding_notes(git_dir: &Path, branch: &str, notes: Vec<OracleNote>) -> Result<Vec<i64>, RepoError> {
    if notes.is_empty() {
        return Ok(Vec::new());
    }
    let (opened, branch) = (git_dir.to_owned(), branch.to_owned());
    in_lane(git_dir, Effort::Brief, move || Repository::open(&opened)?.holding_notes(&branch, &notes)).await?
}

impl Repository {
    fn holding_notes(&self, branch: &str, notes: &[OracleNote]) -> Result<Vec<i64>, RepoError> {
        let Some(tip) = tip(&self.handle()?, branch)?.map(sha) else { return Ok(Vec::new()) };
        let holds =
            |note: &&OracleNote| self.differing_paths(&note.sha, &tip).is_ok_and(|changed| note.holds_after(changed.iter().map(String::as_str)));
        Ok(notes.iter().filter(holds).map(|note| note.question).collect())
    }

    /// Lists the paths that differ between two commits, in order. A renamed file has both names.
    ///
    /// # Errors
    /// A commit is missing.
    pub fn differing_paths(&self, old: &Sha, new: &Sha) -> Result<Vec<String>, RepoError> {
        let handle = self.handle()?;
        let comparing = || format!("compare {old} with {new}");
        let tree = |commit: &Sha| find_commit(&handle, oid(commit)?)?.tree().attempting(comparing);
        let (old, new) = (tree(old)?, tree(new)?);
        let mut options = DiffOptions::new();
        let diff = handle.diff_tree_to_tree(Some(&old), Some(&new), Some(options.include_typechange(true))).attempting(comparing)?;
        let paths = diff.deltas().filter_map(|delta| delta.new_file().path().or_else(|| delta.old_file().path()));
        Ok(paths.map(|path| path.to_string_lossy().into_owned()).collect())
    }
}

#[cfg(test)]
mod tests;
