//! Checkouts whose files only `git` itself can update: sparse ones, and those with an index in parts that libgit2 does not read.
//!
//! `git` runs in a carrier, to which the rules of the checkout are copied as data, so nothing that the repository configures runs. Must not
//! run it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use domain::runs::land::blocking::BlockingFiles;
use git2::{ObjectType, Oid};

use super::log_line;
use crate::branch::{branch_ref, set_reference};
use crate::checkout::{Checkout, has_readable_index, is_sparse};
use crate::error::{Attempt, RepoError};
use crate::git_call::FILE_SETTINGS;
use crate::handle::{Repository, oid, sha};
use crate::snapshot::read_beneath;
use crate::tracked::{TrackedFile, tracked_files};

/// The settings that decide which files a checkout has. None of them names a program.
const SPARSE_SETTINGS: [&str; 3] = ["core.sparseCheckout", "core.sparseCheckoutCone", "index.sparse"];
/// The files with the rules of a checkout, and the prefix of the parts of its index.
const RULES: [&str; 2] = ["info/sparse-checkout", "info/attributes"];
const SHARED_INDEX: &str = "sharedindex.";

/// An update of a checkout that `git` has to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitUpdate {
    /// The top folder of the files.
    pub workdir: PathBuf,
    /// The folder of the index.
    pub admin: PathBuf,
    /// The commit that is checked out.
    pub from: Sha,
    pub to: Sha,
    /// Settings of the checkout as `name=value`.
    pub settings: Vec<String>,
}

/// Whether this crate refused to update a checkout for a reason that `git` does not have.
pub(super) fn is_for_git(refusal: &RepoError) -> bool {
    matches!(refusal, RepoError::SparseCheckout { .. } | RepoError::IndexUnreadable { .. })
}

impl Repository {
    /// Whether this crate would refuse to update a checkout for such a reason. Reads the whole index.
    pub(super) fn is_only_for_git(&self, checkout: &Checkout, workdir: &Path) -> Result<bool, RepoError> {
        Ok(is_sparse(&self.checkout_handle(&checkout.admin, workdir)?) || !has_readable_index(&checkout.admin))
    }

    /// Returns the update that `git` has to make.
    pub(super) fn git_update(&self, checkout: &Checkout, workdir: &Path, from: Oid, to: Oid) -> Result<GitUpdate, RepoError> {
        let handle = self.checkout_handle(&checkout.admin, workdir)?;
        let config = handle.config().and_then(|mut config| config.snapshot()).attempting(|| "read the configuration".into())?;
        let settings =
            SPARSE_SETTINGS.iter().chain(&FILE_SETTINGS).filter_map(|name| Some(format!("{name}={}", config.get_str(name).ok()?))).collect();
        Ok(GitUpdate { workdir: workdir.to_path_buf(), admin: checkout.admin.clone(), from: sha(from), to: sha(to), settings })
    }

    /// Lists files at paths that only `to` has, with other contents than there. In a sparse checkout, `git` 2.47 writes over them.
    pub(super) fn files_in_the_way(&self, workdir: &Path, from: Oid, to: Oid) -> Result<BlockingFiles, RepoError> {
        let handle = self.handle()?;
        let (old, new) = (tracked_files(&handle, from)?, tracked_files(&handle, to)?);
        let is_old = |file: &TrackedFile| old.binary_search_by(|other| other.path.cmp(&file.path)).is_ok();
        let added = new.iter().filter(|file| !is_old(file)).map(|file| (file, PathBuf::from(OsStr::from_bytes(&file.path))));
        let is_other = |file: &TrackedFile, path: &Path| match workdir.join(path).symlink_metadata() {
            Err(_) => false,
            Ok(found) => {
                let read = read_beneath(workdir, path, found.len()).ok();
                read.and_then(|(content, _)| Oid::hash_object(ObjectType::Blob, &content).ok()) != Some(file.id)
            }
        };
        let untracked = added.filter(|(file, path)| is_other(file, path)).map(|(_, path)| path.to_string_lossy().into_owned()).collect();
        Ok(BlockingFiles { untracked, ..BlockingFiles::default() })
    }

    /// Makes the carrier `folder` for an update.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn make_update_carrier(&self, folder: &Path, update: &GitUpdate) -> Result<(), RepoError> {
        self.make_carrier(folder)?;
        self.configure_storage(folder)?;
        let writing = || format!("write {}", folder.display());
        let info = folder.join("info");
        fs::create_dir_all(&info).attempting(writing)?;
        for rule in RULES {
            // Each checkout has its own sparse rules, and all share the attributes.
            let found = [&update.admin, self.git_dir()].into_iter().find_map(|folder| fs::read(folder.join(rule)).ok());
            found.map_or(Ok(()), |text| fs::write(folder.join(rule), text)).attempting(writing)?;
        }
        for entry in fs::read_dir(&update.admin).attempting(writing)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(SHARED_INDEX) {
                fs::copy(entry.path(), folder.join(entry.file_name())).attempting(writing)?;
            }
        }
        Ok(())
    }

    /// Moves the base branch after `git` has made an update.
    ///
    /// # Errors
    /// [`RepoError::Moved`] if the branch moved meanwhile.
    pub fn finish_landing(&self, base_branch: &str, update: &GitUpdate, project_branch: &str) -> Result<(), RepoError> {
        self.sync_objects()?;
        set_reference(&self.handle()?, &branch_ref(base_branch), Some(oid(&update.from)?), oid(&update.to)?, &log_line(project_branch))
    }
}
