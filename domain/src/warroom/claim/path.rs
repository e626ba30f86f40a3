//! The path of a claim in one form, so that each alias of a file is the same path.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::overlap::intersect;
use super::refusal::ClaimRefusal;
use crate::text::excerpt;

/// The longest path, in bytes, and the most names in it. Both bound what a comparison costs.
const MAX_BYTES: usize = 512;
const MAX_NAMES: usize = 64;
const MAX_SHOWN: usize = 80;

/// What a claim is for: a path relative to the root of the repository, in which `*` stands for any part of a name, `?` for one character and
/// `**` for any number of folders. A path that ends with `/` is a folder with all that is in it.
///
/// Paths that differ in case are equal, because they are one file on some disks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClaimPath {
    /// As it was written, without detours.
    text: String,
    /// In lower case, for comparisons.
    key: String,
}

impl ClaimPath {
    /// Reads a path as an agent names it. An absolute one has to be in one of `roots`: the checkouts of the repository.
    ///
    /// # Errors
    /// When it is blank, too long, leaves the repository, or names the repository itself or its `.git`.
    pub fn parse(given: &str, roots: &[&str]) -> Result<Self, ClaimRefusal> {
        let shown = || excerpt(given, MAX_SHOWN);
        if given.trim().is_empty() {
            return Err(ClaimRefusal::Blank);
        }
        if given.len() > MAX_BYTES {
            return Err(ClaimRefusal::TooLong { bytes: given.len(), most: MAX_BYTES });
        }
        if given.contains(char::is_control) {
            return Err(ClaimRefusal::NotText { path: shown() });
        }
        let inside = match given.strip_prefix('/') {
            None => given,
            Some(_) => roots.iter().find_map(|root| within(given, root)).ok_or_else(|| ClaimRefusal::Outside { path: shown() })?,
        };
        let mut names = Vec::new();
        for name in inside.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop().ok_or_else(|| ClaimRefusal::Outside { path: shown() })?),
                _ => names.push(name),
            }
        }
        if inside.ends_with('/') && !names.is_empty() {
            names.push("**");
        }
        // `a/**/**` is `a/**`.
        names.dedup_by(|one, other| *one == "**" && *other == "**");
        match names.first() {
            None => return Err(ClaimRefusal::WholeRepository),
            Some(first) if first.eq_ignore_ascii_case(".git") => return Err(ClaimRefusal::GitFolder { path: shown() }),
            Some(_) if names.len() > MAX_NAMES => return Err(ClaimRefusal::TooDeep { names: names.len(), most: MAX_NAMES }),
            Some(_) => {}
        }
        let text = names.join("/");
        Ok(Self { key: text.chars().flat_map(char::to_lowercase).collect(), text })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The form in which equal paths are the same text.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The name that it begins with, if it is a file or a folder with all that is in it. None for other patterns, such as `src/*.rs`.
    pub fn literal(&self) -> Option<&str> {
        let name = self.literal_part();
        self.key.strip_prefix(name).is_some_and(|rest| matches!(rest, "" | "/**")).then_some(name)
    }

    /// The names of the key before the first glob: the folder of a pattern, or the whole path.
    pub fn literal_part(&self) -> &str {
        match self.key.find(['*', '?']) {
            Some(glob) => self.key.get(..glob).and_then(|before| before.rsplit_once('/')).map_or("", |(folder, _)| folder),
            None => &self.key,
        }
    }

    /// Whether it can stand for more than one file.
    pub fn is_glob(&self) -> bool {
        self.text.contains(['*', '?'])
    }

    /// Whether it begins with a glob, so that it reaches into all folders of the repository. Only a lead may claim that much.
    pub fn is_whole_repository(&self) -> bool {
        self.text.split('/').next().is_some_and(|first| first.chars().all(|letter| matches!(letter, '*' | '?')))
    }

    /// Whether a claim of this path includes all of `other`.
    pub fn covers(&self, other: &Self) -> bool {
        self == other
            || self.is_folder_above(other)
            || (!other.is_glob() && self.overlaps(other) && !is_above(&names_of(&other.key), &names_of(&self.key)))
    }

    /// Whether it stands for all in a folder, and the other path is below that folder.
    fn is_folder_above(&self, other: &Self) -> bool {
        let Some(folder) = self.key.strip_suffix("/**").filter(|folder| !folder.contains(['*', '?'])) else { return false };
        is_folder_of(folder, &other.key)
    }

    /// As [`Self::covers`] for one file, without reading globs if a folder or a path without any decides.
    pub fn covers_file(&self, file: &Self) -> bool {
        let folder = self.literal_part();
        if !folder.is_empty() && file.key != folder && !is_folder_of(folder, &file.key) {
            return false;
        }
        let is_folder = self.literal().is_some();
        (is_folder && file.key.len() > folder.len()) || self.covers(file)
    }

    /// Whether some file could match both paths, or one of them names a folder above the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        if !self.is_glob() && !other.is_glob() {
            return self.key == other.key || is_folder_of(&self.key, &other.key) || is_folder_of(&other.key, &self.key);
        }
        let (own, others) = (names_of(&self.key), names_of(&other.key));
        let is_same = |one: &[char], other: &[char]| intersect(one, other, |letter| *letter == '*', |a, b| *a == '?' || *b == '?' || a == b);
        intersect(&own, &others, |name| is_any(name), |one, other| is_same(one, other)) || is_above(&own, &others) || is_above(&others, &own)
    }
}

/// Whether `path` is below `folder`, neither of which is a glob.
fn is_folder_of(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether `folder` names a folder that leads to what `path` names. Globs lead nowhere: `*` is not above `src/lib.rs`, because it names files.
fn is_above(folder: &[Vec<char>], path: &[Vec<char>]) -> bool {
    let is_literal = |name: &[char]| !name.iter().any(|letter| matches!(letter, '*' | '?'));
    folder.len() < path.len() && folder.iter().zip(path).all(|(one, other)| one == other && is_literal(one))
}

/// Returns the part of an absolute path below a root.
fn within<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

fn names_of(key: &str) -> Vec<Vec<char>> {
    key.split('/').map(|name| name.chars().collect()).collect()
}

fn is_any(name: &[char]) -> bool {
    name == ['*', '*']
}

impl PartialEq for ClaimPath {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for ClaimPath {}

impl PartialOrd for ClaimPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ClaimPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl fmt::Display for ClaimPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for ClaimPath {
    type Err = ClaimRefusal;

    fn from_str(given: &str) -> Result<Self, ClaimRefusal> {
        Self::parse(given, &[])
    }
}

impl TryFrom<String> for ClaimPath {
    type Error = ClaimRefusal;

    fn try_from(given: String) -> Result<Self, ClaimRefusal> {
        given.parse()
    }
}

impl From<ClaimPath> for String {
    fn from(path: ClaimPath) -> Self {
        path.text
    }
}

#[cfg(test)]
mod tests;
