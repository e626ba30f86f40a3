//! Copies of the database: taken while a server uses it, and checked. Must not know any noun of the product.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::engine::dialect;
use crate::engine::inspect::{make_private_folder, reject_foreign_database};
use crate::engine::lock::Lock;
use crate::error::{Error, Result};
use crate::now;

/// The folder beside the database for the copies that are taken before migrations.
const FOLDER: &str = "backups";
/// The most of them that stay.
const MAX_BACKUPS: usize = 10;

/// Copies the database `source` into the new file `target` and checks the copy. A server may write meanwhile; the copy holds one state
/// between two commits.
///
/// # Errors
/// When `source` is not a database of this program, `target` exists or cannot be written, or the copy is damaged.
pub async fn backup(source: &Path, target: &Path) -> Result<()> {
    require_database(source).await?;
    // Without a server, the lock keeps one from starting meanwhile. With one, its log is read too.
    let _lock = match Lock::attempt(source) {
        Ok(lock) => Some(lock),
        Err(Error::Locked { .. }) => None,
        Err(error) => return Err(error),
    };
    let mut connection = dialect::inspection_options(source).connect().await?;
    let copied = copy(&mut connection, target).await;
    connection.close().await?;
    copied
}

/// Copies a database that is about to be migrated, and removes older copies. Returns the copy.
pub(crate) async fn backup_before_migration(connection: &mut SqliteConnection, path: &Path, schema: i64) -> Result<PathBuf> {
    let folder = path.with_file_name(FOLDER);
    make_private_folder(&folder)?;
    let (prefix, moment) = (copy_prefix(path), moment());
    let target = folder.join(format!("{prefix}{moment}-schema-{schema}.db"));
    copy(connection, &target).await?;
    prune(&folder, &prefix)?;
    Ok(target)
}

/// Copies into `target`, which appears complete and checked or not at all.
async fn copy(connection: &mut SqliteConnection, target: &Path) -> Result<()> {
    if target.symlink_metadata().is_ok() {
        return Err(failed("write the backup", target, io::Error::from(io::ErrorKind::AlreadyExists)));
    }
    let unfinished = with_suffix(target, ".unfinished");
    remove_if_present(&unfinished)?;
    // Made first, because SQLite would make it readable for others.
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished);
    let file = made.map_err(|error| failed("write the backup", target, error))?;
    let copied = async {
        dialect::copy_into(connection, &unfinished).await?;
        check(&unfinished).await?;
        file.sync_all().and_then(|()| fs::rename(&unfinished, target)).map_err(|error| failed("write the backup", target, error))?;
        sync_folder(target)
    };
    let copied = copied.await;
    if copied.is_err() {
        // The reason for the failure says more than a file that could not be removed.
        let _ = fs::remove_file(&unfinished);
    }
    copied
}

/// Opens a copy and checks every page of it.
pub(crate) async fn check(path: &Path) -> Result<()> {
    let mut connection = dialect::inspection_options(path).connect().await?;
    let problems = dialect::check_integrity(&mut connection).await?;
    connection.close().await?;
    if problems.is_empty() { Ok(()) } else { Err(Error::Damaged { path: path.to_owned(), problems: problems.join("; ") }) }
}

pub(crate) async fn require_database(path: &Path) -> Result<()> {
    let length = fs::metadata(path).map_err(|error| failed("read", path, error))?.len();
    if length == 0 {
        return Err(Error::NotOurDatabase { path: path.to_owned() });
    }
    reject_foreign_database(path).await
}

fn prune(folder: &Path, prefix: &str) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| failed("read", folder, error))?;
    let is_copy = |name: &String| name.starts_with(prefix) && name.ends_with(".db");
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).filter(is_copy).collect();
    // Names begin with the time.
    names.sort();
    for name in names.iter().rev().skip(MAX_BACKUPS) {
        remove_if_present(&folder.join(name))?;
    }
    Ok(())
}

fn copy_prefix(path: &Path) -> String {
    format!("{}-", path.file_stem().unwrap_or_default().to_string_lossy())
}

/// The time, as a part of a file's name.
pub(crate) fn moment() -> String {
    now().to_string().replace(':', "-")
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

pub(crate) fn remove_if_present(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path, error)),
        _ => Ok(()),
    }
}

pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| failed("save", folder, error))
}

pub(crate) fn failed(attempted: &str, path: &Path, source: io::Error) -> Error {
    Error::File { attempted: format!("{attempted} {}", path.display()), source }
}
