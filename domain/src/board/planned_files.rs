//! The files that a task is planned to change, so that tasks with the same files do not start together.
//!
//! A plan is a guess: nothing keeps an agent from other files.

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::refusal::general::GeneralRefusal;
use crate::warroom::claim::ClaimPath;

/// The most paths of a task. It bounds what a comparison of two tasks costs.
pub const MAX_PLANNED: usize = 30;

/// Files, folders and patterns, relative to the root of the repository. None if nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlannedFiles(Vec<ClaimPath>);

impl PlannedFiles {
    /// # Errors
    /// When there are too many, or one is not a path of the repository, or stands for all of it.
    pub fn parse(given: &[String]) -> Result<Self, Refusal> {
        if given.len() > MAX_PLANNED {
            let problem = format!("{} paths were given", given.len());
            return Err(GeneralRefusal::invalid(
                "files",
                problem,
                format!("Give at most {MAX_PLANNED}, or the folder that they are in, such as src/parser/."),
            )
            .into());
        }
        let mut paths = Vec::with_capacity(given.len());
        for path in given {
            let path = path.parse::<ClaimPath>()?;
            if path.is_whole_repository() {
                let problem = format!("{path} stands for the whole repository");
                return Err(GeneralRefusal::invalid("files", problem, "Name folders such as src/parser/, or omit files.").into());
            }
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Ok(Self(paths))
    }

    /// The first of these paths that a file of the other ones could match.
    pub fn shared_with(&self, others: &[ClaimPath]) -> Option<&ClaimPath> {
        self.0.iter().find(|path| others.iter().any(|other| path.overlaps(other)))
    }

    pub fn paths(&self) -> &[ClaimPath] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(paths: &[&str]) -> Result<PlannedFiles, Refusal> {
        PlannedFiles::parse(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn tasks_share_a_file_that_both_could_change() {
        let shared =
            |one: &[&str], other: &[&str]| planned(one).unwrap().shared_with(planned(other).unwrap().paths()).map(|path| path.as_str().to_owned());
        assert_eq!(shared(&["docs/a.md", "src/api/"], &["SRC/api/card.rs"]).as_deref(), Some("src/api/**"));
        assert_eq!(shared(&["src/*.rs"], &["src/lib.rs"]).as_deref(), Some("src/*.rs"));
        assert_eq!(shared(&["src/api/"], &["src/api2/a.rs"]), None);
        assert_eq!(shared(&[], &["src/"]), None);
    }

    #[test]
    fn paths_outside_and_the_whole_repository_are_refused() {
        for path in ["../etc", "/etc/passwd", ".", "", "**", "*", "**/*.rs", ".git/config"] {
            assert!(planned(&[path]).is_err(), "{path}");
        }
        assert!(planned(&["a"; MAX_PLANNED + 1]).is_err());
        assert_eq!(planned(&["./a", "a", "A"]).unwrap().paths().len(), 1, "aliases are one path");
    }
}
