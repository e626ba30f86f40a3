//! Compares the project branch in the repository with the store's record of it.
//!
//! It must not write to the store; it restores or creates the branch in the repository only.

use db::BranchRecord;
use domain::runs::check::MAX_MERGE_BATCH;
use domain::runs::evidence::Sha;
use domain::runs::profile::PullRequests;
use repo::{MergeOutcome, RepoError, Repository};

use super::unapproved::MAX_LISTED;
use super::{BranchState, UnapprovedCommits};

/// Compares the branch with the record. A branch that does not exist is created: from the base, or with everything that was merged.
pub(super) fn compare_with_record(repository: &Repository, record: &BranchRecord, name: &str) -> Result<BranchState, RepoError> {
    let project = &record.project;
    let approved = |tip: Sha| Ok(BranchState { name: name.to_owned(), ours: tip, unapproved: None });
    let tip = match (repository.ref_sha(name)?, &project.integration_head) {
        (Some(tip), _) => tip,
        // Someone deleted the branch, but not what was merged.
        (None, Some(recorded)) => {
            return repository.move_ref(name, None, recorded, "vibe-relay: restored").and_then(|()| approved(recorded.clone()));
        }
        (None, None) => return repository.ensure_project_branch(name, &project.base_branch).and_then(approved),
    };
    if record.accepted_tip.as_ref() == Some(&tip) {
        return approved(tip);
    }
    let base = || repository.base_tip(&project.base_branch);
    let recorded_tip = match &project.integration_head {
        Some(recorded) => recorded.clone(),
        None => base()?,
    };
    // A branch without a recorded tip was just created, and the base may have moved on since.
    let is_new = project.integration_head.is_none() && repository.log(&recorded_tip, &tip, 1)?.is_empty();
    if tip == recorded_tip || is_new || is_unrecorded_merge(repository, record, &recorded_tip, &tip)? {
        return approved(tip);
    }
    let unapproved = UnapprovedCommits { branch: name.to_owned(), tip, recorded_tip: None, added: Vec::new(), lost: Vec::new() };
    if repository.tree_of(&recorded_tip).is_err() {
        // Someone removed it from the branch, and `git gc` deleted it long after.
        let added = repository.log(&base()?, &unapproved.tip, MAX_LISTED + 1)?;
        let ours = unapproved.tip.clone();
        return Ok(BranchState { name: name.to_owned(), ours, unapproved: Some(UnapprovedCommits { added, ..unapproved }) });
    }
    let added = repository.log(&recorded_tip, &unapproved.tip, MAX_LISTED + 1)?;
    let lost = repository.log(&unapproved.tip, &recorded_tip, MAX_LISTED + 1)?;
    let unapproved = UnapprovedCommits { recorded_tip: Some(recorded_tip.clone()), added, lost, ..unapproved };
    Ok(BranchState { name: name.to_owned(), ours: recorded_tip, unapproved: Some(unapproved) })
}

/// Whether `tip` is what merging approved commits, or the base, into `recorded_tip` makes: a server was killed before it recorded the merges.
fn is_unrecorded_merge(repository: &Repository, record: &BranchRecord, recorded_tip: &Sha, tip: &Sha) -> Result<bool, RepoError> {
    // A fast-forward to the approved commit, provided that it holds everything that was there.
    if record.approved.contains(tip) {
        return Ok(repository.log(tip, recorded_tip, 1)?.is_empty());
    }
    // As above, to the base: see `base`.
    if record.project.profile.pull_requests == PullRequests::Task && is_base_tip(repository, record, tip)? {
        return Ok(repository.log(tip, recorded_tip, 1)?.is_empty());
    }
    let mut merge = tip.clone();
    for _ in 0..MAX_MERGE_BATCH {
        match merged_into(repository, record, &merge)? {
            Some(before) if before == *recorded_tip => return Ok(true),
            Some(before) => merge = before,
            None => break,
        }
    }
    Ok(false)
}

/// Returns the commit into which an approved commit, or the base, was merged by `merge`; `None` if `merge` did not do that.
fn merged_into(repository: &Repository, record: &BranchRecord, merge: &Sha) -> Result<Option<Sha>, RepoError> {
    let mut parents = repository.parents_of(merge)?.into_iter();
    let Some(before) = parents.next() else { return Ok(None) };
    let merged = match parents.next() {
        Some(merged) => Some(merged),
        None => repository.squashed_head(merge)?,
    };
    let Some(merged) = merged.filter(|_| parents.next().is_none()) else { return Ok(None) };
    // Anyone can commit any tree with these parents, so compare it with the tree of a real merge.
    let (message, identity) = ("Merged again to compare", repository.identity("runner")?.unsigned());
    let again = if record.approved.contains(&merged) {
        repository.merge_commit(&before, &merged, message, &identity)?
    } else if is_base_tip(repository, record, &merged)? {
        repository.merge_base_commit(&before, &merged, record.project.landed_by_pull_request(), message, &identity)?
    } else {
        return Ok(None);
    };
    let is_real = match again {
        MergeOutcome::Merged { sha, .. } => repository.tree_of(&sha)? == repository.tree_of(merge)?,
        MergeOutcome::Conflict { .. } => false,
    };
    Ok(is_real.then_some(before))
}

/// Whether the base branch or its upstream is at `sha`, and the project follows it.
fn is_base_tip(repository: &Repository, record: &BranchRecord, sha: &Sha) -> Result<bool, RepoError> {
    let base = &record.project.base_branch;
    let is_followed = record.project.profile.follow_base;
    Ok(is_followed && (repository.ref_sha(base)?.as_ref() == Some(sha) || repository.upstream_tip(base)?.as_ref() == Some(sha)))
}
