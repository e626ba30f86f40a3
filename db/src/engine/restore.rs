//! Puts a copy of the database in its place, and keeps what was there. Must not know any noun of the product.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use domain::config::Durability;
use sqlx::{ConnectOptions, Connection};

use crate::engine::backup::{backup, check, failed, moment, remove_if_present, require_database, sync_folder, with_suffix};
use crate::engine::dialect;
use crate::engine::inspect::{make_private_folder, reject_newer_schema};
use crate::engine::lock::Lock;
use crate::error::Result;
use crate::new_uuid;

/// The result of [`restore`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where the database is that was replaced, if there was one.
    pub replaced: Option<PathBuf>,
}

/// Replaces the database `path` with a checked copy of `from`, and keeps the old one beside it. Readers of the old log start again, because
/// the copy has an epoch of its own.
///
/// # Errors
/// When a server owns the database, or `from` is not a database that this version can open.
pub async fn restore(path: &Path, from: &Path) -> Result<Restored> {
    require_database(from).await?;
    reject_newer_schema(from).await?;
    check(from).await?;
    if let Some(folder) = path.parent() {
        make_private_folder(folder)?;
    }
    let _lock = Lock::take(path).await?;
    let new = with_suffix(path, ".restoring");
    remove_if_present(&new)?;
    backup(from, &new).await?;
    set_epoch(&new).await?;
    let replaced = set_aside(path).await?;
    fs::rename(&new, path).map_err(|error| failed("move the restored database to", path, error))?;
    sync_folder(path)?;
    Ok(Restored { replaced })
}

async fn set_epoch(path: &Path) -> Result<()> {
    let mut connection = dialect::options(path, Durability::Full).connect().await?;
    sqlx::query("UPDATE meta SET value = $1 WHERE key = 'epoch'").bind(new_uuid()).execute(&mut connection).await?;
    Ok(connection.close().await?)
}

/// Renames the database and its log. Returns the new path.
async fn set_aside(path: &Path) -> Result<Option<PathBuf>> {
    if !path.exists() {
        return Ok(None);
    }
    // Brings the log into the database. A damaged one is kept as it is, with its log.
    if let Ok(mut connection) = dialect::options(path, Durability::Full).connect().await {
        let _ = dialect::empty_log(&mut connection).await;
        let _ = connection.close().await;
    }
    let aside = with_suffix(path, &format!(".before-restore-{}", moment()));
    // The database itself comes last: a log without its database would be taken for a part of the restored one.
    for suffix in ["-wal", "-shm", ""] {
        let (old, new) = (with_suffix(path, suffix), with_suffix(&aside, suffix));
        match fs::rename(&old, &new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("set aside", &old, error)),
            _ => {}
        }
    }
    Ok(Some(aside))
}
