//! Finds or makes the commit at which a project branch begins: the newer upstream of the base branch, or a snapshot of uncommitted files.
//!
//! Must not change the person's files, index or branches. A snapshot is kept by a reference of its own, which is never deleted: after the
//! project has landed, it is what the files were like before.

use std::path::Path;

use domain::runs::evidence::Sha;
use git2::{Delta, Oid};

use crate::branch::{branch_ref, contains, set_reference, tip};
use crate::checkout::{Checkout, is_sparse, read_head};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::land::operation_name;
use crate::probe::head_commit;
use crate::snapshot::Contents;
use crate::stat_cache::StatCache;
use crate::workdir::{Change, Untracked};

const SNAPSHOT_PREFIX: &str = "refs/vibe-relay/snapshots/";

/// Maximum size of the files of a snapshot.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// A branch of a remote or a tag that was named as the base branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignBase {
    /// The local branch that can be made from it.
    pub(crate) local: String,
    pub(crate) tip: Oid,
    pub(crate) is_tag: bool,
}

impl Repository {
    /// Returns the tip of the branch that `branch`, which is at `base`, follows. `None` if `base` is as new.
    ///
    /// # Errors
    /// [`RepoError::NoUpstream`], or [`RepoError::Diverged`] if `base` has commits that its upstream lacks.
    pub fn start_at_upstream(&self, branch: &str, base: &Sha) -> Result<Option<Sha>, RepoError> {
        let Some(upstream) = self.tracked_branch(branch, oid(base)?)? else { return Err(RepoError::NoUpstream { branch: branch.to_owned() }) };
        match (upstream.ahead, upstream.behind) {
            (_, 0) => Ok(None),
            (0, _) => Ok(Some(sha(upstream.tip))),
            _ => Err(RepoError::Diverged { branch: branch.to_owned(), upstream: upstream.name }),
        }
    }

    /// Commits the files of the checkout at `top` that are not committed and not ignored, on top of `base`, the tip of `branch`. `None` if
    /// there are none. Leaves out nested repositories, and the files that `is_left_out` names.
    ///
    /// # Errors
    /// The checkout is at another commit or in the middle of an operation, or a file is too large.
    pub fn start_with_snapshot(&self, top: &Path, branch: &str, base: &Sha, is_left_out: impl Fn(&str) -> bool) -> Result<Option<Sha>, RepoError> {
        let base = oid(base)?;
        let checkout = self.checkout_at(top)?;
        let handle = self.checkout_handle(&checkout.admin, top)?;
        if let Some(operation) = operation_name(handle.state()) {
            return Err(RepoError::OperationInProgress { operation, path: top.to_path_buf() });
        }
        if head_commit(&handle, read_head(&checkout.admin).as_ref())? != Some(base) {
            return Err(RepoError::CheckoutElsewhere { path: top.to_path_buf(), branch: branch.to_owned() });
        }
        let is_sparse = is_sparse(&handle);
        let mut changes = self.changes(top, base, Untracked::Files, &StatCache::read(&checkout.admin.join("index")))?;
        changes.retain(|Change { path, status }| {
            let is_nested = || top.join(path).symlink_metadata().is_ok_and(|found| found.is_dir());
            let is_absent = is_sparse && *status == Delta::Deleted;
            !(is_absent || is_nested() || is_left_out(&path.to_string_lossy()))
        });
        if changes.is_empty() {
            return Ok(None);
        }
        let handle = self.handle_on(top, base)?;
        let taken = self.snapshot_of(&handle, top, base, changes, Contents::Normalized, MAX_BYTES)?;
        if !taken.skipped.is_empty() {
            return Err(RepoError::SnapshotIncomplete { paths: taken.skipped });
        }
        let parent = find_commit(&handle, base)?;
        let message = format!("Snapshot of uncommitted files\n\nThey were not committed on {branch} when the project was created.\n");
        let commit = self.commit(&handle, taken.tree, &[&parent], &message, &self.identity("snapshot")?)?;
        self.sync_objects()?;
        set_reference(&handle, &format!("{SNAPSHOT_PREFIX}{commit}"), None, commit, "vibe-relay: snapshot")?;
        Ok(Some(sha(commit)))
    }

    /// Makes the local branch `branch` at `start`. If `from` is a branch of a remote, the new branch follows it.
    ///
    /// # Errors
    /// [`RepoError::Moved`] if the branch exists.
    pub fn make_base(&self, branch: &str, start: &Sha, from: &str) -> Result<(), RepoError> {
        let handle = self.handle()?;
        set_reference(&handle, &branch_ref(branch), None, oid(start)?, &format!("vibe-relay: made from {from}"))?;
        // A branch of a remote that is not configured cannot be followed.
        if handle.branch_remote_name(&format!("refs/remotes/{from}")).is_ok() {
            let following = || format!("let {branch} follow {from}");
            handle.find_branch(branch, git2::BranchType::Local).and_then(|mut made| made.set_upstream(Some(from))).attempting(following)?;
        }
        Ok(())
    }

    /// Lists the snapshots that `target` holds and `base` lacks.
    pub(crate) fn landing_snapshots(&self, handle: &git2::Repository, base: Oid, target: Oid) -> Result<Vec<Oid>, RepoError> {
        let listing = || "list the snapshots".to_owned();
        let mut found = Vec::new();
        for reference in handle.references_glob(&format!("{SNAPSHOT_PREFIX}*")).attempting(listing)? {
            let id = reference.attempting(listing)?.target();
            found.extend(id.filter(|id| contains(handle, target, *id) && !contains(handle, base, *id)));
        }
        Ok(found)
    }

    fn checkout_at(&self, top: &Path) -> Result<Checkout, RepoError> {
        let found = self.checkouts()?.into_iter().find(|checkout| checkout.is_at(top));
        found.ok_or_else(|| RepoError::CheckoutMissing { path: top.to_path_buf() })
    }
}

/// Returns the branch of a remote, or the tag, that `name` is.
pub(crate) fn foreign_base(handle: &git2::Repository, name: &str) -> Result<Option<ForeignBase>, RepoError> {
    let commit_of = |reference: &str| handle.find_reference(reference).and_then(|found| found.peel_to_commit()).map(|commit| commit.id()).ok();
    if let (Some(tip), Some((_, local))) = (commit_of(&format!("refs/remotes/{name}")), name.split_once('/')) {
        return Ok(Some(ForeignBase { local: local.to_owned(), tip, is_tag: false }));
    }
    Ok(commit_of(&format!("refs/tags/{name}")).map(|tip| ForeignBase { local: format!("from-{name}"), tip, is_tag: true }))
}

/// Lists the branches of remotes that have no local branch of the same name.
pub(crate) fn remote_branches(handle: &git2::Repository) -> Result<Vec<String>, RepoError> {
    let listing = || "list the branches of remotes".to_owned();
    let mut names = Vec::new();
    for branch in handle.branches(Some(git2::BranchType::Remote)).attempting(listing)? {
        let (branch, _) = branch.attempting(listing)?;
        let name = String::from_utf8_lossy(branch.name_bytes().attempting(listing)?).into_owned();
        let Some((_, local)) = name.split_once('/').filter(|(_, local)| *local != "HEAD") else { continue };
        if tip(handle, local)?.is_none() {
            names.push(name);
        }
    }
    names.sort();
    names.truncate(MAX_REMOTE_BRANCHES);
    Ok(names)
}

/// The most branches of remotes that are offered.
const MAX_REMOTE_BRANCHES: usize = 100;

#[cfg(test)]
mod tests;
