//! Reads what a landing would do, or what one did. Must not write to the repository or to a checkout.

use std::collections::BTreeMap;
use std::path::Path;

use domain::runs::evidence::Sha;
use domain::runs::land::preview::{CheckoutEffect, LandingChange, LandingCommit, LandingWay};
use domain::time::Timestamp;
use git2::{Index, Oid};

use crate::branch::{contains, existing_tip};
use crate::diff::DiffLimits;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha, tree_index};
use crate::history::Commit;
use crate::land::index::open as open_index;
use crate::merge::{conflicts, merge_in_memory, merged_head};

/// Commits that are listed.
const MAX_LISTED: usize = 200;
/// Commits that are counted.
const MAX_COUNTED: usize = 10_000;

/// The branches of a landing that did not happen.
#[derive(Debug, Clone, Copy)]
pub struct LandingQuestion<'a> {
    pub project_branch: &'a str,
    pub base_branch: &'a str,
    /// The newest tip of the base branch that held all earlier ones.
    pub base_head: &'a Sha,
    /// The tip that the last recorded merge left.
    pub recorded_tip: Option<&'a Sha>,
    /// The checkout that the project was created from.
    pub workdir: &'a Path,
}

impl Repository {
    /// Returns what [`Repository::land`] would do now.
    ///
    /// # Errors
    /// A branch is missing, or objects cannot be read.
    pub fn preview_landing(&self, question: LandingQuestion<'_>) -> Result<LandingChange, RepoError> {
        let handle = self.handle()?;
        let tip = existing_tip(&handle, question.project_branch)?;
        let base = existing_tip(&handle, question.base_branch)?;
        let unapproved = question.recorded_tip.filter(|recorded| **recorded != sha(tip));
        let way = if let Some(recorded) = unapproved {
            LandingWay::Unapproved { commits: self.log(recorded, &sha(tip), MAX_LISTED)?.into_iter().map(listed).collect() }
        } else if contains(&handle, base, tip) {
            LandingWay::Landed {}
        } else if let Some(returning) = self.returning_commits(base, question.base_head, tip)? {
            LandingWay::Returns { returning }
        } else if contains(&handle, tip, base) {
            LandingWay::FastForward {}
        } else {
            let merged = self.merged(base, tip)?;
            let paths = conflicts(&merged).attempting(|| format!("merge {tip} into {base}"))?;
            if paths.is_empty() { LandingWay::Merge {} } else { LandingWay::Conflict { paths } }
        };
        let checkout = self.checkout_effect(&question, base, tip, &way)?;
        Ok(LandingChange { checkout, ..self.landing_between(&sha(base), &sha(tip), way)? })
    }

    /// Returns what a landing brought that moved the base branch from `before` to `after`.
    ///
    /// # Errors
    /// A commit is missing, or objects cannot be read.
    pub fn past_landing(&self, before: &Sha, after: &Sha) -> Result<LandingChange, RepoError> {
        self.landing_between(before, after, LandingWay::Landed {})
    }

    /// Counts the commits of each merged head between `base` and `tip`.
    ///
    /// # Errors
    /// A commit is missing.
    pub fn commits_of_merges(&self, base: &Sha, tip: &Sha) -> Result<BTreeMap<Sha, u32>, RepoError> {
        let handle = self.handle()?;
        let (base, mut next) = (oid(base)?, Some(oid(tip)?));
        let mut counted = BTreeMap::new();
        for _ in 0..MAX_COUNTED {
            let Some(id) = next.filter(|id| !contains(&handle, base, *id)) else { break };
            let commit = find_commit(&handle, id)?;
            next = commit.parent_ids().next();
            let Some((first, merged)) = next.zip(merged_head(&commit)) else { continue };
            let is_squashed = commit.parent_count() == 1;
            let own = if is_squashed { 1 } else { self.log(&sha(first), &sha(merged), MAX_COUNTED)?.len() };
            counted.insert(sha(merged), u32::try_from(own).unwrap_or(u32::MAX));
        }
        Ok(counted)
    }

    fn landing_between(&self, base: &Sha, tip: &Sha, way: LandingWay) -> Result<LandingChange, RepoError> {
        let mut commits = self.log(base, tip, MAX_COUNTED)?;
        let commits_total = u32::try_from(commits.len()).unwrap_or(u32::MAX);
        commits.truncate(MAX_LISTED);
        let files = self.diff(base, tip, DiffLimits { lines: 0, ..DiffLimits::default() })?.files;
        Ok(LandingChange {
            base: base.clone(),
            tip: tip.clone(),
            way,
            checkout: CheckoutEffect::Untouched {},
            commits_total,
            commits: commits.into_iter().map(listed).collect(),
            size: self.diff_size(base, tip)?,
            files,
        })
    }

    fn merged(&self, base: Oid, tip: Oid) -> Result<Index, RepoError> {
        merge_in_memory(&self.handle_with_tree(base)?, base, tip)
    }

    fn checkout_effect(&self, question: &LandingQuestion<'_>, base: Oid, tip: Oid, way: &LandingWay) -> Result<CheckoutEffect, RepoError> {
        let (own, others): (Vec<_>, Vec<_>) =
            self.occupied_by_people(question.base_branch)?.into_iter().partition(|checkout| checkout.is_at(question.workdir));
        if let Some(other) = others.into_iter().next() {
            return Ok(CheckoutEffect::Elsewhere { path: other.workdir.display().to_string() });
        }
        let Some(checkout) = own.into_iter().next() else { return Ok(CheckoutEffect::Untouched {}) };
        // `git` finds out the rest when it updates the checkout.
        if self.is_only_for_git(&checkout, question.workdir)? {
            let files = self.files_in_the_way(question.workdir, base, tip)?;
            return Ok(if files.is_empty() { CheckoutEffect::Updated {} } else { CheckoutEffect::Blocked { files } });
        }
        let handle = self.handle()?;
        let old = tree_index(&handle, base)?;
        let new = match way {
            LandingWay::Merge {} => self.merged(base, tip)?,
            // Nothing would be written, whatever the checkout has.
            LandingWay::Conflict { .. } | LandingWay::Landed {} => return Ok(CheckoutEffect::Updated {}),
            LandingWay::FastForward {} | LandingWay::Returns { .. } | LandingWay::Unapproved { .. } => tree_index(&handle, tip)?,
        };
        let index = open_index(&checkout.admin.join("index"), question.workdir)?;
        let kept =
            self.landing_snapshots(&handle, base, tip)?.into_iter().map(|commit| tree_index(&handle, commit)).collect::<Result<Vec<_>, _>>()?;
        let files = self.overlap(question.workdir, &index, (old, new), kept)?.blocking;
        Ok(if files.is_empty() { CheckoutEffect::Updated {} } else { CheckoutEffect::Blocked { files } })
    }
}

fn listed(commit: Commit) -> LandingCommit {
    let at = Timestamp::from_milliseconds(commit.at_seconds.saturating_mul(1000));
    LandingCommit { sha: commit.sha, subject: commit.subject, author: commit.author, at }
}
