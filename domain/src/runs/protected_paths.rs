//! Protected paths: files that instruct agents or run in workflows, so that a change of them is marked on the card.
//!
//! Pure. Must not know where paths come from, or what a mark has as its consequence.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::text::excerpt;

/// How many paths a card names, and how many characters of each.
const MAX_NAMED: usize = 5;
const MAX_PATH_CHARACTERS: usize = 80;

/// The protected paths that a commit changes, compared with the project branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProtectedChange {
    /// The first of them, shortened.
    pub paths: Vec<String>,
    pub total: u32,
}

impl ProtectedChange {
    /// Returns the protected paths among those that a commit `changes`, if any.
    pub fn find(changes: impl IntoIterator<Item = String>, globs: &[String]) -> Option<Self> {
        let mut found: Vec<String> = changes.into_iter().filter(|path| is_protected(path, globs)).collect();
        found.sort();
        found.dedup();
        let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let paths = found.iter().take(MAX_NAMED).map(|path| excerpt(path, MAX_PATH_CHARACTERS)).collect();
        (total > 0).then_some(Self { paths, total })
    }

    /// Names the paths, as the end of a sentence.
    pub fn named(&self) -> String {
        let rest = self.total.saturating_sub(u32::try_from(self.paths.len()).unwrap_or(u32::MAX));
        let names = self.paths.join(", ");
        if rest == 0 { names } else { format!("{names} and {rest} more") }
    }
}

/// Returns what is wrong with a glob of the configuration.
pub fn problem(glob: &str) -> Option<&'static str> {
    match glob {
        "" => Some("expected a path"),
        _ if glob.starts_with('/') => Some("omit the first \"/\": paths start at the root of the repository"),
        _ if glob.split('/').any(|name| matches!(name, "" | "." | "..")) => Some("expected names between the \"/\", and no \".\" or \"..\""),
        _ => None,
    }
}

fn is_protected(path: &str, globs: &[String]) -> bool {
    is_named(path, globs) || globs.iter().any(|glob| replaces_folder(&parts(glob), &path.split('/').collect::<Vec<_>>()))
}

/// Whether a glob matches `path` or a folder that it is in. Names are compared without case, because some disks do.
pub fn is_named(path: &str, globs: &[String]) -> bool {
    let path: Vec<&str> = path.split('/').collect();
    globs.iter().any(|glob| matches(&parts(glob), &path, |name| *name == "**", |one, other| is_name(one, other)))
}

/// A glob without a `/` matches in every folder.
fn parts(glob: &str) -> Vec<&str> {
    let anywhere = if glob.contains('/') { None } else { Some("**") };
    anywhere.into_iter().chain(glob.split('/')).chain(["**"]).collect()
}

/// Whether `path` is a folder that leads to what the glob names. A file or a link in its place removes or replaces that.
fn replaces_folder(glob: &[&str], path: &[&str]) -> bool {
    let is_literal = |name: &str| !name.contains(['*', '?']);
    path.len() < glob.len() && glob.iter().zip(path).all(|(one, other)| is_literal(one) && one.eq_ignore_ascii_case(other))
}

fn is_name(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    matches(&glob, &name, |letter| *letter == '*', |one, other| *one == '?' || one.eq_ignore_ascii_case(other))
}

/// Matches a sequence in which some items stand for any number of others. Steps back to the last of these only, which takes at most the
/// product of both lengths.
fn matches<T>(glob: &[T], given: &[T], is_any: impl Fn(&T) -> bool, is_same: impl Fn(&T, &T) -> bool) -> bool {
    let (mut at, mut place, mut last) = (0, 0, None);
    while place < given.len() {
        match glob.get(at) {
            Some(item) if is_any(item) => {
                at += 1;
                last = Some((at, place));
            }
            Some(item) if is_same(item, &given[place]) => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((after, from)) = last else { return false };
                last = Some((after, from + 1));
                (at, place) = (after, from + 1);
            }
        }
    }
    glob[at..].iter().all(is_any)
}

#[cfg(test)]
mod tests;
