//! Rejects repositories with unsupported features before they are opened.
//!
//! libgit2 rejects most of them with an unhelpful message, and a blobless clone fails only during a merge.
//! Must read nothing but the configuration.

use std::path::Path;

use git2::Config;

use crate::error::{Attempt, RepoError};

/// Extensions that need no special handling, as listed by libgit2 1.9.
const SUPPORTED_EXTENSIONS: [&str; 4] = ["noop", "worktreeconfig", "preciousobjects", "relativeworktrees"];

/// Fails with the name of an unsupported feature. `git_dir` is the common `.git` folder.
pub(crate) fn check_features(git_dir: &Path) -> Result<(), RepoError> {
    let path = git_dir.join("config");
    if !path.is_file() {
        return Ok(());
    }
    let reading = || format!("read {}", path.display());
    let config = Config::open(&path).attempting(reading)?;
    // Version 0 repositories ignore extensions that git did not know when it introduced them.
    let versioned = config.get_i32("core.repositoryformatversion").is_ok_and(|version| version >= 1);
    let mut entries = config.entries(None).attempting(reading)?;
    while let Some(entry) = entries.next() {
        let entry = entry.attempting(reading)?;
        let name = String::from_utf8_lossy(entry.name_bytes()).into_owned();
        let value = if entry.has_value() { String::from_utf8_lossy(entry.value_bytes()).into_owned() } else { "true".to_owned() };
        check_entry(&name, &value, versioned)?;
    }
    Ok(())
}

/// Checks one configuration entry. git converts the first and the last part of its name to lower case.
fn check_entry(name: &str, value: &str, versioned: bool) -> Result<(), RepoError> {
    if let Some(extension) = name.strip_prefix("extensions.") {
        return match extension {
            "objectformat" if value.eq_ignore_ascii_case("sha1") => Ok(()),
            "objectformat" => Err(RepoError::Sha256Objects),
            "refstorage" if value.eq_ignore_ascii_case("files") => Ok(()),
            "refstorage" => Err(RepoError::Reftable),
            "partialclone" => Err(RepoError::PartialClone),
            known if SUPPORTED_EXTENSIONS.contains(&known) || !versioned => Ok(()),
            unknown => Err(RepoError::UnknownExtension { name: unknown.to_owned() }),
        };
    }
    if name.starts_with("remote.") {
        let promisor = name.ends_with(".promisor") && Config::parse_bool(value).unwrap_or(true);
        if promisor || name.ends_with(".partialclonefilter") {
            return Err(RepoError::PartialClone);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
