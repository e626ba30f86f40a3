//! The versions of installed programs. A program is asked once, and again when its file has changed.
//!
//! It must not judge a version.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use domain::text::excerpt;

use super::{ProbeOutput, ProcessError, probe};

const TIMEOUT: Duration = Duration::from_secs(5);

/// The longest quotation of an answer, in characters.
const MAX_QUOTE: usize = 100;

/// The answer of a program to `--version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub numbers: [u32; 3],
    pub text: String,
}

/// Why a program has no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionFailure {
    #[error("it could not be started ({0})")]
    NotStarted(String),
    #[error("`--version` did not answer within {} s", TIMEOUT.as_secs())]
    NoAnswer,
    #[error("`--version` failed with {}{}", code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}")), quoted(said))]
    Failed { code: Option<i32>, said: String },
    #[error("`--version` printed \"{said}\" instead of a version")]
    Unclear { said: String },
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// The known versions, each with the time and the length of the file that had it.
type Versions = HashMap<PathBuf, ((SystemTime, u64), Version)>;

static KNOWN: LazyLock<Mutex<Versions>> = LazyLock::new(Mutex::default);

fn known() -> MutexGuard<'static, Versions> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the version of a program.
///
/// # Errors
/// When it does not print one.
pub async fn version(program: &Path) -> Result<Version, VersionFailure> {
    // A link stands for the file that it leads to.
    let not_started = |error: &dyn std::error::Error| VersionFailure::NotStarted(error.to_string());
    let file = program.metadata().map_err(|error| not_started(&error))?;
    let state = (file.modified().map_err(|error| not_started(&error))?, file.len());
    if let Some((_, version)) = known().get(program).filter(|(known, _)| *known == state) {
        return Ok(version.clone());
    }
    let ProbeOutput { code, stdout, stderr } = probe(program, &["--version"], TIMEOUT).await.map_err(|error| match error {
        ProcessError::Timeout { .. } => VersionFailure::NoAnswer,
        ProcessError::Start { source, .. } => not_started(&source),
        error => not_started(&error),
    })?;
    let first_line = |text: &str| excerpt(text.trim(), MAX_QUOTE);
    if code != Some(0) {
        let said = first_line(if stderr.trim().is_empty() { &stdout } else { &stderr });
        return Err(VersionFailure::Failed { code, said });
    }
    let found = parse(&stdout).ok_or_else(|| VersionFailure::Unclear { said: first_line(&stdout) })?;
    known().insert(program.to_owned(), (state, found.clone()));
    Ok(found)
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
        assert!(matches!(version(&folder.path().join("missing")).await, Err(VersionFailure::NotStarted(_))));
    }

    #[tokio::test]
    async fn program_without_a_version_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("tool");
        for (script, said) in [
            ("echo 1.2.3; echo out of memory >&2; exit 3", "`--version` failed with exit code 3: out of memory"),
            ("exit 1", "`--version` failed with exit code 1"),
            ("kill -9 $$", "`--version` failed with a signal"),
            ("echo hello", "`--version` printed \"hello\" instead of a version"),
            ("sleep 600", "`--version` did not answer within 5 s"),
        ] {
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(version(&program).await.unwrap_err().to_string(), said, "{script}");
        }
        fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(version(&program).await, Err(VersionFailure::NotStarted(_))));
    }
}
