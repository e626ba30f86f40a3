//! Rejects repositories whose files use clean and smudge filters (Git LFS, git-crypt, nbstripout) or another encoding than UTF-8.
//!
//! libgit2 runs no filter programs and converts no encodings. This is safe, but such files would always look modified, so
//! project creation rejects the repository instead. Must not run a filter.

use std::path::Path;

use git2::{AttrCheckFlags, AttrValue, Config, Oid, TreeWalkMode, TreeWalkResult};

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit};

/// The attribute that names the encoding of a file in checkouts.
const ENCODING: &str = "working-tree-encoding";

/// Fails if an attribute file of `commit` or of this machine applies a filter that is configured here, or an encoding.
pub(crate) fn reject_filters(repository: &Repository, commit: Oid) -> Result<(), RepoError> {
    let handle = repository.handle()?;
    let config = handle.config().and_then(|mut config| config.snapshot());
    let config = config.attempting(|| "read the configuration of the repository".into())?;
    let tree = find_commit(&handle, commit)?.tree().attempting(|| format!("read the files of {commit}"))?;

    let mut sources = Vec::new();
    if let Ok(text) = std::fs::read(repository.git_dir().join("info/attributes")) {
        sources.push((".git/info/attributes".to_owned(), text));
    }
    let mut paths = Vec::new();
    tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        let name = String::from_utf8_lossy(entry.name_bytes());
        if entry.kind() == Some(git2::ObjectType::Blob) {
            if name == ".gitattributes"
                && let Ok(blob) = handle.find_blob(entry.id())
            {
                sources.push((format!("{folder}{name}"), blob.content().to_vec()));
            }
            paths.push(format!("{folder}{name}"));
        }
        TreeWalkResult::Ok
    })
    .attempting(|| format!("list the files of {commit}"))?;

    for (named_in, text) in &sources {
        for driver in filter_drivers(&String::from_utf8_lossy(text)) {
            if driver == "lfs" || is_configured(&config, &driver) {
                return Err(RepoError::Filters { driver, named_in: named_in.clone() });
            }
        }
    }
    if sources.iter().any(|(_, text)| String::from_utf8_lossy(text).contains(ENCODING)) {
        reject_encodings(repository, commit, &paths)?;
    }
    if !has_configured_driver(&config)? {
        return Ok(());
    }
    // Attribute files outside the repository (core.attributesFile) count only if they match a file.
    for path in &paths {
        let value = handle.get_attr_bytes(Path::new(path), "filter", AttrCheckFlags::INDEX_ONLY);
        if let Ok(value) = value
            && let AttrValue::String(driver) = AttrValue::from_bytes(value)
            && is_configured(&config, driver)
        {
            return Err(RepoError::Filters { driver: driver.to_owned(), named_in: format!("your attribute file, for {path}") });
        }
    }
    Ok(())
}

/// Fails if one of `paths` has another encoding in a checkout than in the commit.
fn reject_encodings(repository: &Repository, commit: Oid, paths: &[String]) -> Result<(), RepoError> {
    let handle = repository.handle_with_tree(commit)?;
    for path in paths {
        let value = handle.get_attr_bytes(Path::new(path), ENCODING, AttrCheckFlags::INDEX_ONLY);
        if let Ok(value) = value
            && let AttrValue::String(encoding) = AttrValue::from_bytes(value)
            && !["utf-8", "utf8"].contains(&encoding.to_lowercase().as_str())
        {
            return Err(RepoError::Encoding { encoding: encoding.to_owned(), path: path.clone() });
        }
    }
    Ok(())
}

/// Lists the drivers that an attribute file sets with `filter=…`. Ignores `-filter` and `!filter`, which unset one.
fn filter_drivers(attributes: &str) -> Vec<String> {
    let lines = attributes.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(|line| line.split_whitespace().skip(1));
    words.filter_map(|word| word.strip_prefix("filter=")).filter(|driver| !driver.is_empty()).map(str::to_owned).collect()
}

fn is_configured(config: &Config, driver: &str) -> bool {
    ["clean", "smudge", "process"].iter().any(|step| config.get_bytes(&format!("filter.{driver}.{step}")).is_ok_and(|program| !program.is_empty()))
}

fn has_configured_driver(config: &Config) -> Result<bool, RepoError> {
    let mut entries = config.entries(Some(r"^filter\..*\.(clean|smudge|process)$")).attempting(|| "look for filters in the configuration".into())?;
    Ok(entries.next().is_some())
}

#[cfg(test)]
mod tests;
