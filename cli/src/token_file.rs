//! The file with the owner's token: beside the database, and readable only by its owner.
//!
//! A running server writes it again when it was lost or damaged, so that commands need no restart. It must not know who asks for that: the
//! file goes to nobody but its owner.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use domain::config::Config;

use crate::error::CliError;
use crate::settings;

/// The length of a token.
const LENGTH: usize = 64;

/// The reason why a file holds no token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenProblem {
    #[error("is missing")]
    Missing,
    #[error("is damaged")]
    Damaged,
    #[error("cannot be read ({0})")]
    Unreadable(io::Error),
}

/// Returns the token in the file at `path`.
///
/// # Errors
/// When there is none.
pub(crate) fn read(path: &Path) -> Result<String, TokenProblem> {
    match std::fs::read_to_string(path) {
        Ok(text) if text.trim().len() == LENGTH => Ok(text.trim().to_owned()),
        Ok(_) => Err(TokenProblem::Damaged),
        Err(error) => Err(match error.kind() {
            ErrorKind::NotFound => TokenProblem::Missing,
            ErrorKind::InvalidData => TokenProblem::Damaged,
            _ => TokenProblem::Unreadable(error),
        }),
    }
}

/// The file of a running server, which knows its token.
#[derive(Debug)]
pub(crate) struct TokenFile {
    path: PathBuf,
    token: Mutex<String>,
}

impl TokenFile {
    /// Reads the file, or writes a new token to it.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(crate) fn open(config: &Config) -> Result<Self, CliError> {
        let path = settings::token_file(config);
        let token = match read(&path) {
            Ok(token) => token,
            Err(problem @ TokenProblem::Unreadable(_)) => return Err(CliError::TokenFile { path, problem }),
            Err(TokenProblem::Missing | TokenProblem::Damaged) => {
                let token = db::new_token();
                settings::write_token(&path, &token).map_err(CliError::io(format!("write {}", path.display())))?;
                token
            }
        };
        Ok(Self { path, token: Mutex::new(token) })
    }

    /// Returns the token.
    pub(crate) fn token(&self) -> String {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the token.
    ///
    /// # Errors
    /// When the file cannot be written. The old one stays in that case.
    pub(crate) fn replace(&self, token: &str) -> io::Result<()> {
        let mut known = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        settings::write_token(&self.path, token)?;
        token.clone_into(&mut known);
        Ok(())
    }

    /// Writes the file again if it does not hold the token.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn restore(&self) -> io::Result<()> {
        let known = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        let problem = match read(&self.path) {
            Ok(token) if token == *known => return Ok(()),
            Ok(_) => "holds another token".to_owned(),
            Err(problem) => problem.to_string(),
        };
        settings::write_token(&self.path, &known)?;
        tracing::warn!(file = %self.path.display(), "the token file {problem}, and was written again");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn lost_or_damaged_file_is_written_again_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
        let path = settings::token_file(&config);
        assert!(matches!(read(&path), Err(TokenProblem::Missing)));
        let file = TokenFile::open(&config).unwrap();
        assert_eq!((read(&path).unwrap(), file.token().len()), (file.token(), LENGTH));
        assert_eq!(TokenFile::open(&config).unwrap().token(), file.token(), "a second start keeps it");

        let (cut, other) = (&file.token()[1..], "0".repeat(LENGTH));
        for content in [None, Some(""), Some("bad"), Some(cut), Some(&other)] {
            match content {
                Some(content) => fs::write(&path, content).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            file.restore().unwrap();
            assert_eq!(read(&path).unwrap(), file.token(), "{content:?}");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        file.replace(&other).unwrap();
        assert_eq!((file.token(), read(&path).unwrap()), (other.clone(), other));
    }

    #[test]
    fn file_that_is_no_text_is_damaged_and_a_folder_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("token"), [0xff; LENGTH]).unwrap();
        assert!(matches!(read(&folder.path().join("token")), Err(TokenProblem::Damaged)));
        assert!(matches!(read(folder.path()), Err(TokenProblem::Unreadable(_))));
    }
}
