//! Reads and writes `server.json`, next to the database file, which holds the address of the running server.
//!
//! The server writes it; commands show the address, and clients that cannot use the socket connect there. It must not check whether the
//! server still runs.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const NAME: &str = "server.json";

/// A server that is running, or ran until it was killed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFile {
    /// Scheme, address and port: `http://127.0.0.1:9400`.
    pub url: String,
    /// The epoch of the event log that it serves.
    pub epoch: String,
    pub pid: u32,
    /// The secret that the server proves to know before a client sends it a token over TCP, see [`crate::Proof`].
    pub secret: String,
}

impl std::fmt::Debug for ServerFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ServerFile").field("url", &self.url).field("pid", &self.pid).finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
#[error("could not {attempted} {}: {source}", path.display())]
pub struct ServerFileError {
    attempted: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// Returns the path of the file for the database `db_path`.
pub fn path(db_path: &Path) -> PathBuf {
    db_path.with_file_name(NAME)
}

/// Writes the address of the server of `db_path`, atomically and readable only by its owner.
///
/// # Errors
/// When the file cannot be written.
pub fn write(db_path: &Path, server: &ServerFile) -> Result<(), ServerFileError> {
    let path = path(db_path);
    let failed = |source| ServerFileError { attempted: "write", path: path.clone(), source };
    let new = path.with_extension(format!("json.{}", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(failed)?;
    let text = serde_json::to_vec(server).map_err(|error| failed(error.into()))?;
    file.write_all(&text).map_err(failed)?;
    fs::rename(&new, &path).map_err(failed)
}

/// Returns the server of `db_path`, if one is recorded.
///
/// # Errors
/// When the file exists but cannot be read or parsed.
pub fn read(db_path: &Path) -> Result<Option<ServerFile>, ServerFileError> {
    let path = path(db_path);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ServerFileError { attempted: "read", path, source }),
    };
    serde_json::from_slice(&text).map(Some).map_err(|error| ServerFileError { attempted: "parse", path, source: error.into() })
}

/// Removes the record of `server`. The record of another server stays.
///
/// # Errors
/// When the file cannot be removed.
pub fn remove(db_path: &Path, server: &ServerFile) -> Result<(), ServerFileError> {
    if read(db_path)?.as_ref() != Some(server) {
        return Ok(());
    }
    let path = path(db_path);
    fs::remove_file(&path).map_err(|source| ServerFileError { attempted: "remove", path, source })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn file_round_trips_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("board.db");
        assert_eq!(read(&db).unwrap(), None);
        let server = ServerFile { url: "http://127.0.0.1:9400".to_owned(), epoch: "e".to_owned(), pid: 7, secret: "s".to_owned() };
        write(&db, &server).unwrap();
        assert_eq!(read(&db).unwrap(), Some(server.clone()));
        assert_eq!(fs::metadata(path(&db)).unwrap().permissions().mode() & 0o777, 0o600);
        insta::assert_snapshot!(fs::read_to_string(path(&db)).unwrap(), @r#"{"url":"http://127.0.0.1:9400","epoch":"e","pid":7,"secret":"s"}"#);
        let other = ServerFile { pid: 8, ..server.clone() };
        remove(&db, &other).unwrap();
        assert_eq!(read(&db).unwrap(), Some(server.clone()));
        remove(&db, &server).unwrap();
        assert_eq!(read(&db).unwrap(), None);
    }

    #[test]
    fn broken_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("board.db");
        fs::write(path(&db), "{").unwrap();
        let error = read(&db).unwrap_err().to_string();
        assert!(error.starts_with("could not parse ") && error.contains("server.json"), "{error}");
    }
}
