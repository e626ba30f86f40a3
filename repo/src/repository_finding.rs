//! Reads what is unusual about a repository that a person named, without a program and without a change.
//!
//! Must not decide what follows from it: the findings are worded in `domain`. A repository that cannot be used is an error of `probe`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use domain::runs::repository_finding::RepositoryFact;
use git2::Oid;

use crate::branch::{branch_ref, reference_target};
use crate::checkout::{has_readable_index, is_sparse};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, sha};
use crate::tracked::{TrackedFile, tracked_files};

/// Hooks that can stop a commit.
const COMMIT_HOOKS: [&str; 3] = ["pre-commit", "prepare-commit-msg", "commit-msg"];

/// The most files whose size is read. Larger repositories are estimated.
const MAX_MEASURED: usize = 20_000;

const SUBMODULE: u32 = 0o160_000;

/// The checkout that a person named, and the branch that agents start from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedCheckout<'a> {
    /// The top folder of its files.
    pub(crate) top: &'a Path,
    /// The folder of its HEAD and index.
    pub(crate) admin: &'a Path,
    pub(crate) base_branch: &'a str,
    /// The tip of the base branch.
    pub(crate) base: Oid,
}

/// The branch of a remote that a local branch follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrackedBranch {
    /// Such as `origin/main`.
    pub(crate) name: String,
    /// Its tip, as it was fetched last.
    pub(crate) tip: Oid,
    /// Commits of the local branch that it lacks.
    pub(crate) ahead: usize,
    /// Commits of it that the local branch lacks.
    pub(crate) behind: usize,
}

impl Repository {
    /// Lists the facts about the repository that a person should know, and returns about how many bytes a checkout of it takes.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub(crate) fn unusual_facts(&self, named: &NamedCheckout<'_>) -> Result<(Vec<RepositoryFact>, u64), RepoError> {
        let handle = self.handle()?;
        let files = tracked_files(&handle, named.base)?;
        let mut facts = Vec::new();
        facts.extend(self.tracked_branch(named.base_branch, named.base)?.and_then(|upstream| upstream.fact(named.base_branch)));
        let elsewhere = self.occupied_by_people(named.base_branch)?.into_iter().find(|checkout| !checkout.is_at(named.top));
        facts.extend(
            elsewhere
                .map(|checkout| RepositoryFact::BaseElsewhere { branch: named.base_branch.to_owned(), path: checkout.workdir.display().to_string() }),
        );
        let submodules: Vec<String> = files.iter().filter(|file| file.mode == SUBMODULE).map(shown).collect();
        if !submodules.is_empty() {
            facts.push(RepositoryFact::Submodules { paths: submodules });
        }
        if self.signs_commits()? {
            facts.push(RepositoryFact::SignedCommits);
        }
        let hooks = self.commit_hooks(named.top)?;
        if !hooks.is_empty() {
            facts.push(RepositoryFact::CommitHooks { hooks });
        }
        if handle.is_shallow() {
            facts.push(RepositoryFact::Shallow);
        }
        facts.extend(self.checkout_fact(named)?);
        let unusual: Vec<&TrackedFile> = files.iter().filter(|file| std::str::from_utf8(&file.path).is_err()).collect();
        if let Some(first) = unusual.first() {
            facts.push(RepositoryFact::UnusualNames { count: u32::try_from(unusual.len()).unwrap_or(u32::MAX), example: shown(first) });
        }
        Ok((facts, checkout_bytes(&handle, &files)?))
    }

    /// Returns the remote branch that `branch` follows, as it was fetched last. `None` if it follows none, or nothing was fetched.
    ///
    /// # Errors
    /// The commits cannot be compared.
    pub(crate) fn tracked_branch(&self, branch: &str, tip: Oid) -> Result<Option<TrackedBranch>, RepoError> {
        let handle = self.handle()?;
        let Ok(name) = handle.branch_upstream_name(&branch_ref(branch)) else { return Ok(None) };
        let Some(reference) = name.as_str().ok() else { return Ok(None) };
        let Some(found) = reference_target(&handle, reference)? else { return Ok(None) };
        let (ahead, behind) = handle.graph_ahead_behind(tip, found).attempting(|| format!("compare {branch} with {reference}"))?;
        let name = reference.strip_prefix("refs/remotes/").or_else(|| reference.strip_prefix("refs/heads/")).unwrap_or(reference);
        Ok(Some(TrackedBranch { name: name.to_owned(), tip: found, ahead, behind }))
    }

    /// Lists the hooks that git runs at a commit in a checkout at `top`, and that can refuse it.
    ///
    /// # Errors
    /// The repository cannot be opened.
    pub fn commit_hooks(&self, top: &Path) -> Result<Vec<String>, RepoError> {
        let configured: Option<PathBuf> = self.handle()?.config().and_then(|config| config.get_path("core.hooksPath")).ok();
        let folder = configured.map_or_else(|| self.git_dir().join("hooks"), |folder| top.join(folder));
        let runs = |hook: &&str| fs::metadata(folder.join(hook)).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
        Ok(COMMIT_HOOKS.into_iter().filter(runs).map(str::to_owned).collect())
    }

    fn checkout_fact(&self, named: &NamedCheckout<'_>) -> Result<Option<RepositoryFact>, RepoError> {
        let handle = self.checkout_handle(named.admin, named.top)?;
        if is_sparse(&handle) {
            return Ok(Some(RepositoryFact::Sparse));
        }
        Ok((!has_readable_index(named.admin)).then_some(RepositoryFact::SplitIndex))
    }
}

impl TrackedBranch {
    fn fact(self, branch: &str) -> Option<RepositoryFact> {
        let count = |commits: usize| u32::try_from(commits).unwrap_or(u32::MAX);
        let (branch, upstream, ahead, behind) = (branch.to_owned(), self.name, count(self.ahead), count(self.behind));
        match (ahead, behind) {
            (_, 0) => None,
            (0, behind) => Some(RepositoryFact::BehindUpstream { branch, upstream, behind }),
            (ahead, behind) => Some(RepositoryFact::Diverged { branch, upstream, ahead, behind }),
        }
    }
}

fn shown(file: &TrackedFile) -> String {
    String::from_utf8_lossy(&file.path).into_owned()
}

/// Adds up the sizes of files. Reads those of the first ones only, and assumes that the others are alike.
fn checkout_bytes(handle: &git2::Repository, files: &[TrackedFile]) -> Result<u64, RepoError> {
    let objects = handle.odb().attempting(|| "measure the repository".to_owned())?;
    let blobs: Vec<&TrackedFile> = files.iter().filter(|file| file.mode != SUBMODULE).collect();
    let step = blobs.len().div_ceil(MAX_MEASURED).max(1);
    let mut bytes = 0_u64;
    for file in blobs.iter().step_by(step) {
        let (size, _) = objects.read_header(file.id).attempting(|| format!("measure the file {}", sha(file.id)))?;
        bytes = bytes.saturating_add(u64::try_from(size).unwrap_or(u64::MAX));
    }
    Ok(bytes.saturating_mul(u64::try_from(step).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests;
