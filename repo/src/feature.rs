//! Which features of a repository this crate cannot serve, found before anything is opened.
//!
//! libgit2 refuses most of them with a message that says nothing to a person, and a blobless clone only fails later, in
//! the middle of a merge. Looks at the configuration alone.

use std::path::Path;

use git2::Config;

use crate::error::{Attempt, RepoError};

/// Extensions that change nothing for us; the list of libgit2 1.9.
const HARMLESS: [&str; 4] = ["noop", "worktreeconfig", "preciousobjects", "relativeworktrees"];

/// Refuses by name what cannot be served. `git_dir` is the common `.git` folder.
pub(crate) fn refuse_unsupported(git_dir: &Path) -> Result<(), RepoError> {
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
        judge(&name, &value, versioned)?;
    }
    Ok(())
}

/// Judges one configuration entry; git lower-cases the first and the last part of its name.
fn judge(name: &str, value: &str, versioned: bool) -> Result<(), RepoError> {
    if let Some(extension) = name.strip_prefix("extensions.") {
        return match extension {
            "objectformat" if value.eq_ignore_ascii_case("sha1") => Ok(()),
            "objectformat" => Err(RepoError::Sha256Objects),
            "refstorage" if value.eq_ignore_ascii_case("files") => Ok(()),
            "refstorage" => Err(RepoError::Reftable),
            "partialclone" => Err(RepoError::PartialClone),
            known if HARMLESS.contains(&known) || !versioned => Ok(()),
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
