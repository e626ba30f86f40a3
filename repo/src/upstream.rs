//! The upstream of a base branch: where it is fetched from, the objects that a fetch brought, and what the project branch lacks of both.
//!
//! `git` fetches into a carrier (see `publication`), so nothing of this repository runs or is written meanwhile. Must not run it, and must not
//! move a branch of the person: what was fetched is below `refs/vibe-relay/upstream/`.

use std::io::Write;
use std::path::Path;

use domain::runs::evidence::Sha;
use git2::Oid;

use crate::branch::{contains, reference_target, tip};
use crate::error::{Attempt, RepoError};
use crate::evidence::merge_base;
use crate::handle::{Repository, oid, sha};

/// Prefix of the references with the fetched tips of the upstreams of base branches.
const UPSTREAM_PREFIX: &str = "refs/vibe-relay/upstream/";

/// The reference of a carrier into which a fetch writes.
pub const FETCHED: &str = "refs/heads/fetched";
/// The references of a carrier that say what this repository has, so that a fetch transfers the rest only.
const KNOWN: [&str; 2] = ["refs/heads/known", "refs/heads/known-upstream"];

/// Where the upstream of a branch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub remote: String,
    pub url: String,
    /// Its full reference name there.
    pub reference: String,
}

impl Repository {
    /// Returns the upstream of `branch` in a remote; `None` if it follows none.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub fn upstream(&self, branch: &str) -> Result<Option<Upstream>, RepoError> {
        let handle = self.handle()?;
        let config = handle.config().and_then(|mut config| config.snapshot()).attempting(|| "read the configuration".into())?;
        let read = |key: String| config.get_str(&key).ok().map(str::to_owned);
        let Some(remote) = read(format!("branch.{branch}.remote")) else { return Ok(None) };
        let reference = read(format!("branch.{branch}.merge")).filter(|name| name.starts_with("refs/heads/"));
        // A remote "." is this repository.
        let url = read(format!("remote.{remote}.url"));
        Ok(reference.zip(url).map(|(reference, url)| Upstream { remote, url, reference }))
    }

    /// Makes the carrier `folder` for a fetch of the upstream of `branch`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn make_fetch_carrier(&self, folder: &Path, branch: &str) -> Result<(), RepoError> {
        self.make_carrier(folder)?;
        let handle = self.handle()?;
        let carrier = Self::open(folder)?.handle()?;
        let known = [tip(&handle, branch)?, reference_target(&handle, &upstream_reference(branch))?];
        for (name, id) in KNOWN.iter().zip(known).filter_map(|(name, id)| Some((name, id?))) {
            carrier.reference(name, id, true, "known").attempting(|| format!("write {name} of {}", folder.display()))?;
        }
        Ok(())
    }

    /// Brings what a carrier fetched for `branch` into this repository, and keeps it in the reference of the upstream. Returns its tip.
    ///
    /// # Errors
    /// Objects cannot be read or written.
    pub fn take_fetched(&self, folder: &Path, branch: &str) -> Result<Sha, RepoError> {
        let taking = || format!("take what was fetched for {branch}");
        let (handle, carrier) = (self.handle()?, Self::open(folder)?.handle()?);
        let fetched = carrier.refname_to_id(FETCHED).attempting(taking)?;
        let mut walk = carrier.revwalk().attempting(taking)?;
        walk.push(fetched).attempting(taking)?;
        for name in KNOWN {
            if let Some(known) = reference_target(&carrier, name)? {
                walk.hide(known).attempting(taking)?;
            }
        }
        let mut pack = carrier.packbuilder().attempting(taking)?;
        pack.insert_walk(&mut walk).attempting(taking)?;
        if pack.object_count() > 0 {
            let odb = handle.odb().attempting(taking)?;
            let mut writer = odb.packwriter().attempting(taking)?;
            let mut written = Ok(());
            let copied = pack.foreach(|bytes| {
                written = writer.write_all(bytes);
                written.is_ok()
            });
            written.attempting(taking)?;
            copied.attempting(taking)?;
            writer.flush().attempting(taking)?;
            writer.commit().attempting(taking)?;
        }
        let reference = upstream_reference(branch);
        let earlier = reference_target(&handle, &reference)?;
        self.keep_commit(&handle, &reference, earlier, fetched, "vibe-relay: fetched")?;
        Ok(sha(fetched))
    }

    /// Returns the last fetched tip of the upstream of `branch`.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn upstream_tip(&self, branch: &str) -> Result<Option<Sha>, RepoError> {
        Ok(reference_target(&self.handle()?, &upstream_reference(branch))?.map(sha))
    }

    /// Returns what the project branch at `project` lacks: the tip of the base branch, unless someone removed commits from it since it was at
    /// `base_head`, and that of its upstream. One that contains the other stands for both.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn unmerged_base_tips(&self, project: &Sha, base_branch: &str, base_head: &Sha) -> Result<Vec<Sha>, RepoError> {
        let handle = self.handle()?;
        let (project, base_head) = (oid(project)?, oid(base_head)?);
        let base = tip(&handle, base_branch)?.filter(|base| contains(&handle, *base, base_head));
        let upstream = reference_target(&handle, &upstream_reference(base_branch))?;
        let mut lacking = Vec::new();
        for id in [base, upstream].into_iter().flatten() {
            // A history without a common commit is another project.
            if !contains(&handle, project, id) && merge_base(&handle, project, id)?.is_some() {
                lacking.push(id);
            }
        }
        let is_held = |id: &Oid| lacking.iter().any(|other| other != id && contains(&handle, *other, *id));
        let mut tips: Vec<Sha> = lacking.iter().filter(|id| !is_held(id)).copied().map(sha).collect();
        tips.dedup();
        Ok(tips)
    }
}

/// The reference with the fetched tip of the upstream of a branch.
pub fn upstream_reference(branch: &str) -> String {
    format!("{UPSTREAM_PREFIX}{branch}")
}

#[cfg(test)]
mod tests;
