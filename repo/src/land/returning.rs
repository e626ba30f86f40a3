//! Finds the commits that were removed from the base branch and that landing would bring back.
//!
//! Must not decide whether they may return; the human confirms exactly the list that was shown.

use std::collections::BTreeSet;

use domain::runs::evidence::Sha;
use domain::runs::land::{ReturningCommit, ReturningCommits};
use git2::{ObjectType, Oid};

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};

/// How many digits confirm a list of commits.
const CONFIRMATION_DIGITS: usize = 12;

impl Repository {
    /// Lists the commits of `known`, an earlier tip of the base branch, that `base` lacks and `project` holds; `None` if it has none.
    pub(super) fn returning_commits(&self, base: Oid, known: &Sha, project: Oid) -> Result<Option<ReturningCommits>, RepoError> {
        let handle = self.handle()?;
        let known = oid(known)?;
        // Nothing can bring back a commit that `git gc` deleted.
        if base == known || handle.find_commit(known).is_err() {
            return Ok(None);
        }
        let listing = || format!("list the commits that were removed from the base branch since {known}");
        let beyond_base = |tip: Oid| -> Result<Vec<Oid>, git2::Error> {
            let mut walk = handle.revwalk()?;
            walk.push(tip)?;
            walk.hide(base)?;
            walk.collect()
        };
        let removed = beyond_base(known).attempting(listing)?;
        if removed.is_empty() {
            return Ok(None);
        }
        let landing: BTreeSet<Oid> = beyond_base(project).attempting(listing)?.into_iter().collect();
        let returning: Vec<Oid> = removed.into_iter().filter(|id| landing.contains(id)).collect();
        if returning.is_empty() {
            return Ok(None);
        }
        let mut commits = Vec::new();
        for id in returning.iter().take(ReturningCommits::SHOWN) {
            let commit = find_commit(&handle, *id)?;
            let message = String::from_utf8_lossy(commit.message_bytes());
            commits.push(ReturningCommit {
                sha: sha(*id),
                subject: message.trim_start().lines().next().unwrap_or_default().to_owned(),
                author: String::from_utf8_lossy(commit.author().name_bytes()).into_owned(),
            });
        }
        let total = u32::try_from(returning.len()).unwrap_or(u32::MAX);
        Ok(Some(ReturningCommits { total, commits, confirmation: confirmation(returning)? }))
    }
}

/// Digits that stand for exactly these commits, in any order.
fn confirmation(mut commits: Vec<Oid>) -> Result<String, RepoError> {
    commits.sort_unstable();
    let text: String = commits.iter().map(|id| format!("{id}\n")).collect();
    let digest = Oid::hash_object(ObjectType::Blob, text.as_bytes()).attempting(|| "number the commits".into())?;
    Ok(digest.to_string().chars().take(CONFIRMATION_DIGITS).collect())
}
