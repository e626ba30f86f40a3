//! The files of a person's checkout that keep a landing from writing its own, and what to do about each kind. Must not read a checkout.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::text::shell_word;

/// Paths that a sentence names.
const MAX_NAMED: usize = 5;

/// Files that a landing would overwrite although their content is in no commit. Each path is in one list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct BlockingFiles {
    /// Tracked files with changes, staged or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Files that git does not track, at the path of a new file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untracked: Vec<String>,
    /// Changed files that git does not show, because their index entry has the flag assume-unchanged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assume_unchanged: Vec<String>,
    /// Changed files that git does not show, because their index entry has the flag skip-worktree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skip_worktree: Vec<String>,
}

impl BlockingFiles {
    pub fn is_empty(&self) -> bool {
        self.paths().next().is_none()
    }

    /// All paths, by kind.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        [&self.changed, &self.untracked, &self.assume_unchanged, &self.skip_worktree].into_iter().flatten().map(String::as_str)
    }

    /// Names the first paths.
    pub fn named(&self) -> String {
        named(self.paths().map(str::to_owned).collect())
    }

    /// Says for each kind how the files stop blocking.
    pub fn steps(&self) -> String {
        let mut steps = Vec::new();
        if !self.changed.is_empty() {
            steps.push(format!("Commit or stash {}.", named(self.changed.clone())));
        }
        if !self.untracked.is_empty() {
            steps.push(format!("Move {} away.", named(self.untracked.clone())));
        }
        for (paths, flag) in [(&self.assume_unchanged, "assume-unchanged"), (&self.skip_worktree, "skip-worktree")] {
            if !paths.is_empty() {
                let words: Vec<String> = paths.iter().map(|path| shell_word(path)).collect();
                let command = format!("git update-index --no-{flag} -- {}", words.join(" "));
                steps.push(format!("Git hides changes in {}: run `{command}`, then commit or stash them.", named(paths.clone())));
            }
        }
        steps.join(" ")
    }
}

fn named(mut paths: Vec<String>) -> String {
    let more = paths.len().saturating_sub(MAX_NAMED);
    paths.truncate(MAX_NAMED);
    if more > 0 {
        paths.push(format!("and {more} more"));
    }
    paths.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_name_a_command_for_each_hidden_file() {
        let list = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let files = BlockingFiles {
            changed: list(&["a", "b", "c", "d", "e", "f", "g"]),
            untracked: list(&["new.rs"]),
            assume_unchanged: list(&["my file"]),
            skip_worktree: list(&["x", "y"]),
        };
        assert_eq!(files.named(), "a, b, c, d, e, and 6 more");
        insta::assert_snapshot!(files.steps(), @"Commit or stash a, b, c, d, e, and 2 more. Move new.rs away. Git hides changes in my file: run `git update-index --no-assume-unchanged -- 'my file'`, then commit or stash them. Git hides changes in x, y: run `git update-index --no-skip-worktree -- x y`, then commit or stash them.");
        assert!(BlockingFiles::default().is_empty() && !files.is_empty());
    }
}
