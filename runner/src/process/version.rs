//! The versions of installed programs. A program is asked once, and again when its file has changed.
//!
//! It must not judge a version.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::probe;

const TIMEOUT: Duration = Duration::from_secs(15);

/// The answer of a program to `--version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub numbers: [u32; 3],
    pub text: String,
}

/// The known versions, each with the time and the length of the file that had it.
type Versions = HashMap<PathBuf, ((SystemTime, u64), Version)>;

static KNOWN: LazyLock<Mutex<Versions>> = LazyLock::new(Mutex::default);

fn known() -> MutexGuard<'static, Versions> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the version of a program; none if it prints none.
pub async fn version(program: &Path) -> Option<Version> {
    // A link stands for the file that it leads to.
    let file = program.metadata().ok()?;
    let state = (file.modified().ok()?, file.len());
    if let Some((_, version)) = known().get(program).filter(|(known, _)| *known == state) {
        return Some(version.clone());
    }
    let found = parse(&probe(program, &["--version"], TIMEOUT).await.ok()?.stdout)?;
    known().insert(program.to_owned(), (state, found.clone()));
    Some(found)
}

fn parse(answer: &str) -> Option<Version> {
    let text = answer.trim().to_owned();
    let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()))?;
    let mut numbers = word.split('.').map(|part| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0));
    let numbers = [numbers.next()?, numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
    Some(Version { numbers, text })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn numbers_are_read_from_the_first_word_with_a_digit() {
        let numbers = |answer: &str| parse(answer).map(|found| found.numbers);
        assert_eq!(numbers("2.1.330 (Claude Code)\n"), Some([2, 1, 330]));
        assert_eq!(numbers("git version 2.39.5-rc1"), Some([2, 39, 5]));
        assert_eq!((numbers("tool 7"), numbers("nothing"), numbers("")), (Some([7, 0, 0]), None, None));
    }

    #[tokio::test]
    async fn program_is_asked_again_only_when_its_file_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (program, calls) = (folder.path().join("tool"), folder.path().join("calls"));
        let install = |version: &str| {
            fs::write(&program, format!("#!/bin/sh\necho call >> {}\necho {version}\n", calls.display())).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        };
        install("1.2.3");
        for _ in 0..2 {
            assert_eq!(version(&program).await.unwrap().numbers, [1, 2, 3]);
        }
        assert_eq!(fs::read_to_string(&calls).unwrap().lines().count(), 1);
        install("1.2.3000");
        assert_eq!(version(&program).await.unwrap().numbers, [1, 2, 3000]);
        assert_eq!(version(&folder.path().join("missing")).await, None);
    }
}
