//! Files that git converts between a checkout and their blobs with a program (Git LFS, git-crypt, nbstripout), or to another encoding.
//!
//! libgit2 does neither, so `git` itself converts exactly these files, in a carrier: only filters that the person configured for all
//! repositories run, because an agent can write the configuration of a repository. Must not touch any other file.

mod convert;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use domain::runs::repository_finding::RepositoryFact;
use git2::{AttrCheckFlags, AttrValue, Config, ConfigEntry, ConfigLevel, IndexEntry, Oid};

use crate::error::{Attempt, RepoError};
use crate::file_stat::plain_entry;
use crate::git_call::{Carrier, GitOutput, run};
use crate::handle::{Repository, tree_index};

/// The filter of Git LFS.
const LFS: &str = "lfs";
const FILTER: &str = "filter";
/// The attribute that names the encoding of a file in checkouts.
const ENCODING: &str = "working-tree-encoding";

const FILE: u32 = 0o100_000;
const KIND: u32 = 0o170_000;

/// How git converts a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Conversion {
    /// The name of a filter.
    Filter(String),
    Encoding(String),
}

impl Conversion {
    /// Whether the repository gets only the name of the content, so that the file may have any size.
    pub(crate) fn is_lfs(&self) -> bool {
        matches!(self, Self::Filter(driver) if driver == LFS)
    }
}

/// The conversions of the files of one checkout, or of one commit.
pub(crate) struct Filters<'a> {
    repository: &'a Repository,
    /// Knows the attributes.
    handle: &'a git2::Repository,
    drivers: OnceCell<BTreeSet<String>>,
    carrier: OnceCell<Carrier>,
}

impl<'a> Filters<'a> {
    /// The conversions that the attribute files say which `handle` has: those of its checkout, or else of the tree that is its index.
    pub(crate) fn new(repository: &'a Repository, handle: &'a git2::Repository) -> Self {
        Self { repository, handle, drivers: OnceCell::new(), carrier: OnceCell::new() }
    }

    /// Returns how git converts the file at `path`. `None` for most files: libgit2 serves those.
    pub(crate) fn conversion(&self, path: &Path) -> Result<Option<Conversion>, RepoError> {
        match self.named(path) {
            Some(Conversion::Filter(driver)) if !self.drivers()?.contains(&driver) => Ok(self.encoding(path)),
            named => Ok(named),
        }
    }

    /// Picks the regular files among `files`, all files of a tree, that git converts and that are wanted. Costs a look at each attribute file if
    /// no filter is named.
    pub(crate) fn pick(&self, files: &[IndexEntry], is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<IndexEntry>, RepoError> {
        let mut picked = Vec::new();
        if !self.are_named(files)? {
            return Ok(picked);
        }
        for file in files.iter().filter(|file| file.mode & KIND == FILE && is_wanted(path_of(file))) {
            if self.conversion(path_of(file))?.is_some() {
                picked.push(plain_entry(&file.path, file.id, file.mode));
            }
        }
        Ok(picked)
    }

    /// Whether an attribute file names a filter or an encoding, for any path.
    fn are_named(&self, files: &[IndexEntry]) -> Result<bool, RepoError> {
        let config = self.config()?;
        if self.repository.attribute_files(&config).iter().any(|file| fs::read(file).is_ok_and(|text| names_conversion(&text))) {
            return Ok(true);
        }
        for file in files.iter().filter(|file| is_attribute_file(&file.path)) {
            let reading = || format!("read {}", path_of(file).display());
            if names_conversion(self.handle.find_blob(file.id).attempting(reading)?.content()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the conversion that the attributes of a file name, whether or not the filter is configured.
    fn named(&self, path: &Path) -> Option<Conversion> {
        self.attribute(path, FILTER).map(Conversion::Filter).or_else(|| self.encoding(path))
    }

    fn encoding(&self, path: &Path) -> Option<Conversion> {
        let encoding = self.attribute(path, ENCODING)?;
        (!["utf-8", "utf8"].contains(&encoding.to_lowercase().as_str())).then_some(Conversion::Encoding(encoding))
    }

    fn attribute(&self, path: &Path, name: &str) -> Option<String> {
        let flags = if self.handle.workdir().is_some() { AttrCheckFlags::FILE_THEN_INDEX } else { AttrCheckFlags::INDEX_ONLY };
        match AttrValue::from_bytes(self.handle.get_attr_bytes(path, name, flags).ok()?) {
            AttrValue::String(value) if !value.is_empty() => Some(value.to_owned()),
            _ => None,
        }
    }

    /// The filters that the person configured for all repositories.
    fn drivers(&self) -> Result<&BTreeSet<String>, RepoError> {
        if let Some(known) = self.drivers.get() {
            return Ok(known);
        }
        let listing = ["config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$"];
        // The exit code is 1 if there are none.
        let GitOutput { stdout, .. } = run(self.carrier()?.call(listing), || "list the filters of git".to_owned())?;
        let drivers = stdout.split('\0').filter_map(|name| Some(name.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned())).collect();
        Ok(self.drivers.get_or_init(|| drivers))
    }

    fn carrier(&self) -> Result<&Carrier, RepoError> {
        if let Some(known) = self.carrier.get() {
            return Ok(known);
        }
        let carrier = self.repository.carrier()?;
        Ok(self.carrier.get_or_init(|| carrier))
    }

    fn config(&self) -> Result<Config, RepoError> {
        self.handle.config().and_then(|mut config| config.snapshot()).attempting(|| "read the configuration of the repository".into())
    }
}

impl Repository {
    /// Lists how git converts files of `commit`. Fails if a filter would run in the person's checkout that cannot run for agents.
    ///
    /// # Errors
    /// [`RepoError::FilterInRepository`] if only the repository configures it; [`RepoError::FilterMissing`] if it is Git LFS, which is not
    /// installed; [`RepoError::GitMissing`].
    pub(crate) fn conversions(&self, commit: Oid) -> Result<BTreeSet<Conversion>, RepoError> {
        let handle = self.handle_with_tree(commit)?;
        let filters = Filters::new(self, &handle);
        let files: Vec<IndexEntry> = tree_index(&handle, commit)?.iter().collect();
        let mut found = BTreeSet::new();
        if !filters.are_named(&files)? {
            return Ok(found);
        }
        let config = filters.config()?;
        for file in files.iter().filter(|file| file.mode & KIND == FILE) {
            let path = path_of(file);
            match filters.named(path) {
                Some(Conversion::Filter(driver)) if !filters.drivers()?.contains(&driver) => {
                    let shown = path.to_string_lossy().into_owned();
                    if is_configured(&config, &driver) {
                        return Err(RepoError::FilterInRepository { driver, path: shown });
                    }
                    if driver == LFS {
                        return Err(RepoError::FilterMissing { driver, path: shown });
                    }
                    // git ignores a filter that nobody configured.
                    found.extend(filters.encoding(path));
                }
                named => found.extend(named),
            }
        }
        if found.iter().any(Conversion::is_lfs) {
            let GitOutput { code, .. } = run(filters.carrier()?.call(["lfs", "version"]), || "look for Git LFS".to_owned())?;
            if code != Some(0) {
                return Err(RepoError::FilterMissing { driver: LFS.to_owned(), path: ".gitattributes".to_owned() });
            }
        }
        Ok(found)
    }
}

/// The finding about the conversions of a repository.
pub(crate) fn fact(conversions: &BTreeSet<Conversion>) -> Option<RepositoryFact> {
    let names = conversions.iter().map(|conversion| match conversion {
        Conversion::Filter(driver) => format!("filter={driver}"),
        Conversion::Encoding(encoding) => format!("{ENCODING}={encoding}"),
    });
    let by: Vec<String> = names.collect();
    (!by.is_empty()).then_some(RepositoryFact::Converted { by })
}

fn is_attribute_file(path: &[u8]) -> bool {
    path == b".gitattributes" || path.ends_with(b"/.gitattributes")
}

/// Whether an attribute file sets a filter or an encoding. Words such as `-filter` unset one.
fn names_conversion(attributes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(attributes);
    text.split_whitespace().any(|word| [FILTER, ENCODING].iter().any(|name| word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))))
}

/// Whether the repository itself configures the filter.
fn is_configured(config: &Config, driver: &str) -> bool {
    let is_own = |entry: &ConfigEntry<'_>| matches!(entry.level(), ConfigLevel::Local | ConfigLevel::Worktree) && !entry.value_bytes().is_empty();
    ["clean", "smudge", "process"].iter().any(|step| config.get_entry(&format!("filter.{driver}.{step}")).is_ok_and(|entry| is_own(&entry)))
}

fn path_of(file: &IndexEntry) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(&file.path))
}

#[cfg(test)]
mod tests;
