//! Inspects the path that the human names as the project's repository, and rejects unsupported repositories.
//!
//! The only file that searches for a repository. The result is recorded once, and every later access uses the recorded
//! common `.git` folder. Must not change anything.

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::evidence::{RepositoryInfo, RepositoryPlace};
use domain::runs::repository_finding::{self, RepositoryFact};
use git2::{BranchType, Delta, Oid};
use tokio_util::sync::CancellationToken;

use crate::branch;
use crate::branch_start::{ForeignBase, foreign_base, remote_branches};
use crate::checkout::{Head, is_sparse, read_head};
use crate::error::{Attempt, RepoError};
use crate::filter;
use crate::handle::{Repository, oid, sha};
use crate::repository_finding::NamedCheckout;
use crate::stat_cache::StatCache;
use crate::workdir::Untracked;

/// Maximum number of similar names suggested for a missing branch.
const MAX_SUGGESTIONS: usize = 3;

/// Inspects the repository at `path`, which may be any folder inside a checkout. The default of `base_branch` is the
/// checked-out branch.
///
/// # Errors
/// Any reason why the repository is unsuitable, with the next step in [`RepoError::hint`].
pub fn probe(path: &Path, base_branch: Option<&str>) -> Result<RepositoryInfo, RepoError> {
    inspect(path, base_branch, false)
}

/// Inspects like [`probe`]. If `base_branch` is a branch of a remote or a tag, returns the local branch that
/// [`Repository::make_base`] would make.
///
/// # Errors
/// As [`probe`].
pub fn probe_or_plan_base(path: &Path, base_branch: Option<&str>) -> Result<RepositoryInfo, RepoError> {
    inspect(path, base_branch, true)
}

fn inspect(path: &Path, base_branch: Option<&str>, plans_base: bool) -> Result<RepositoryInfo, RepoError> {
    let path = fs::canonicalize(path).map_err(|_| RepoError::PathMissing { path: path.to_path_buf() })?;
    let found = locate(&path)?;
    let repository = Repository::open(&found.git_dir)?;
    let handle = repository.handle()?;

    let head = read_head(&found.admin);
    let head_commit = head_commit(&handle, head.as_ref())?;
    let checked_out = match &head {
        Some(Head::Reference(name)) => name.strip_prefix("refs/heads/").map(str::to_owned),
        _ => None,
    };
    let branches = branches(&handle, checked_out.as_deref())?;
    if branches.is_empty() && head_commit.is_none() {
        return Err(RepoError::NoCommit { path: found.top });
    }
    let base_branch = match (base_branch, checked_out) {
        (Some(named), _) => named.to_owned(),
        (None, Some(checked_out)) => checked_out,
        (None, None) => return Err(RepoError::DetachedHead { path: found.top }),
    };
    let (base_branch, base, base_made_from) = match (branch::tip(&handle, &base_branch)?, foreign_base(&handle, &base_branch)?) {
        (Some(tip), _) => (base_branch, tip, None),
        (None, Some(ForeignBase { local, tip, .. })) if plans_base && !branches.contains(&local) => (local, tip, Some(base_branch)),
        (None, Some(ForeignBase { local, is_tag, .. })) => {
            let exists = branches.contains(&local);
            return Err(RepoError::BranchNotLocal { named: base_branch, local, is_tag, exists });
        }
        (None, None) => return Err(missing_branch(base_branch, &branches, &found.top, head_commit)),
    };
    if let Some((existing, wanted)) = branches.iter().find_map(|name| Some((name, conflicting_name(name)?))) {
        return Err(RepoError::BranchNameConflict { existing: existing.clone(), wanted });
    }
    let conversions = repository.conversions(base)?;
    let named = NamedCheckout { top: &found.top, admin: &found.admin, base_branch: &base_branch, base };
    let (mut facts, checkout_bytes) = repository.unusual_facts(&named)?;
    facts.extend(filter::fact(&conversions));
    facts.extend(base_made_from.clone().map(|from| RepositoryFact::BaseIsMade { branch: base_branch.clone(), from }));
    let newer_upstream = facts.iter().find_map(|fact| match fact {
        RepositoryFact::BehindUpstream { upstream, .. } => Some(upstream.clone()),
        _ => None,
    });
    let mut findings: Vec<_> = facts.iter().map(RepositoryFact::describe).collect();
    repository_finding::sort(&mut findings);

    let identity = repository.configured_identity()?;
    Ok(RepositoryInfo {
        repo_path: to_utf8(&found.top)?,
        git_dir: to_utf8(&found.git_dir)?,
        base_branch,
        detection: repository.detect_profile(&sha(base))?,
        base_sha: sha(base),
        // Do not offer our own branches as a base.
        branches: branches.into_iter().filter(|name| !name.starts_with("vibe-relay/") && !name.starts_with("vr/")).collect(),
        identity: identity.map(|identity| format!("{} <{}>", identity.name, identity.email)),
        findings,
        checkout_bytes,
        newer_upstream,
        remote_branches: remote_branches(&handle)?,
        base_made_from,
        start: None,
    })
}

/// Counts the uncommitted files of the checkout that `path` is in. Ignores missing files in a sparse checkout. Reads only the files that its
/// index does not know as unchanged, and stops when `cancelled`.
///
/// # Errors
/// When `path` is not in a checkout of a supported repository, or [`RepoError::Interrupted`] if cancelled.
pub fn uncommitted(path: &Path, cancelled: &CancellationToken) -> Result<u32, RepoError> {
    let path = fs::canonicalize(path).map_err(|_| RepoError::PathMissing { path: path.to_path_buf() })?;
    let found = locate(&path)?;
    let repository = Repository::open(&found.git_dir)?;
    let Some(head) = head_commit(&repository.handle()?, read_head(&found.admin).as_ref())? else { return Ok(0) };
    let handle = repository.checkout_handle(&found.admin, &found.top)?;
    let sparse = is_sparse(&handle);
    let known = StatCache::read(&found.admin.join("index"));
    let changes = repository.changes_unless(cancelled, &found.top, head, Untracked::Files, &known)?;
    let count = changes.iter().filter(|change| !(sparse && change.status == Delta::Deleted)).count();
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The commit at HEAD of a checkout.
pub(crate) fn head_commit(handle: &git2::Repository, head: Option<&Head>) -> Result<Option<Oid>, RepoError> {
    match head {
        Some(Head::Reference(name)) => branch::reference_target(handle, name),
        Some(Head::Detached(id)) => Ok(Some(oid(id)?)),
        None => Ok(None),
    }
}

/// The common `.git` folder of the repository that `path` is in. All checkouts of a repository share it.
///
/// # Errors
/// When `path` does not exist or is not in a checkout of a repository.
pub fn git_dir(path: &Path) -> Result<PathBuf, RepoError> {
    let path = fs::canonicalize(path).map_err(|_| RepoError::PathMissing { path: path.to_path_buf() })?;
    Ok(locate(&path)?.git_dir)
}

/// Where the repository that `path` is in is.
///
/// # Errors
/// When `path` does not exist or is not in a checkout of a repository.
pub fn place(path: &Path) -> Result<RepositoryPlace, RepoError> {
    let path = fs::canonicalize(path).map_err(|_| RepoError::PathMissing { path: path.to_path_buf() })?;
    let Location { top, git_dir, .. } = locate(&path)?;
    Ok(RepositoryPlace { repo_path: to_utf8(&top)?, git_dir: to_utf8(&git_dir)? })
}

struct Location {
    /// The top folder of the files.
    top: PathBuf,
    /// The checkout's own folder, which contains its HEAD.
    admin: PathBuf,
    /// The common `.git` folder.
    git_dir: PathBuf,
}

fn locate(path: &Path) -> Result<Location, RepoError> {
    for top in path.ancestors().filter(|folder| folder.join(".git").exists()) {
        let ceiling: Vec<&Path> = top.parent().into_iter().collect();
        let Ok(admin) = git2::Repository::discover_path(top, ceiling) else { continue };
        let canonical = |path: PathBuf| fs::canonicalize(&path).attempting(|| format!("find {}", path.display()));
        let admin = canonical(admin)?;
        let git_dir = match fs::read_to_string(admin.join("commondir")) {
            Ok(common) => canonical(admin.join(common.trim_end()))?,
            Err(_) => admin.clone(),
        };
        return Ok(Location { top: top.to_path_buf(), admin, git_dir });
    }
    match git2::Repository::discover_path(path, std::iter::empty::<&Path>()) {
        Ok(bare) => Err(RepoError::Bare { path: bare }),
        Err(_) => Err(RepoError::NotARepository { path: path.to_path_buf() }),
    }
}

/// Lists the local branches in order, the checked-out one first.
pub(crate) fn branches(handle: &git2::Repository, checked_out: Option<&str>) -> Result<Vec<String>, RepoError> {
    let listing = || "list the branches".to_owned();
    let mut names = Vec::new();
    for branch in handle.branches(Some(BranchType::Local)).attempting(listing)? {
        let (branch, _) = branch.attempting(listing)?;
        names.push(String::from_utf8_lossy(branch.name_bytes().attempting(listing)?).into_owned());
    }
    names.sort_by_key(|name| (checked_out != Some(name), name.clone()));
    Ok(names)
}

fn missing_branch(branch: String, branches: &[String], top: &Path, head_commit: Option<Oid>) -> RepoError {
    if branches.is_empty() && head_commit.is_none() {
        return RepoError::NoCommit { path: top.to_path_buf() };
    }
    RepoError::BranchMissing { near: similar_names(&branch, branches), branch }
}

/// Returns the names in `branches` that are most similar to `branch`.
pub(crate) fn similar_names(branch: &str, branches: &[String]) -> Vec<String> {
    let mut near: Vec<(f64, &String)> = branches.iter().map(|name| (strsim::jaro_winkler(branch, name), name)).collect();
    near.sort_by(|one, two| two.0.total_cmp(&one.0));
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name.clone()).collect()
}

/// Returns the managed branch name that `existing` rules out, because git stores branches as files in folders. Managed
/// names are `vr/TASK-001/work` and `vibe-relay/PROJ-001`.
fn conflicting_name(existing: &str) -> Option<String> {
    let parts: Vec<&str> = existing.split('/').collect();
    match parts.as_slice() {
        ["vr"] => Some("vr/TASK-001/work".to_owned()),
        ["vr", task] if task.starts_with("TASK-") => Some(format!("{existing}/work")),
        ["vr", task, "work", _, ..] if task.starts_with("TASK-") => Some(format!("vr/{task}/work")),
        ["vibe-relay"] => Some("vibe-relay/PROJ-001".to_owned()),
        ["vibe-relay", project, _, ..] if project.starts_with("PROJ-") => Some(format!("vibe-relay/{project}")),
        _ => None,
    }
}

fn to_utf8(path: &Path) -> Result<String, RepoError> {
    path.to_str().map(str::to_owned).ok_or_else(|| RepoError::PathNotUtf8 { path: path.to_path_buf() })
}

#[cfg(test)]
mod tests;
