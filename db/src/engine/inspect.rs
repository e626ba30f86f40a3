//! Looks at a database file before it is opened: whose it is, and which schema it has. Must not change the file.

use std::path::Path;

use sqlx::migrate::Migrator;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::engine::dialect;
use crate::engine::migrations::MIGRATIONS;
use crate::error::{Error, Result};

/// Tables that every database of this program has.
const OWN_TABLES: [&str; 2] = ["meta", "agent_runs"];

/// Where sqlx records which migrations were run.
const MIGRATIONS_TABLE: &str = "_sqlx_migrations";

/// Refuses what this version must not open: a folder, another program's file, or one from before the first release. It is only read.
pub(crate) async fn reject_foreign_database(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::Folder { path: path.to_owned() });
    }
    if std::fs::metadata(path).map_or(0, |file| file.len()) == 0 {
        return Ok(());
    }
    let options = dialect::inspection_options(path);
    let contents = async {
        let mut connection = options.connect().await?;
        let tables = dialect::tables(&mut connection).await?;
        let migrations: Vec<(i64, Vec<u8>)> = if tables.iter().any(|table| table == MIGRATIONS_TABLE) {
            sqlx::query_as("SELECT version, checksum FROM _sqlx_migrations").fetch_all(&mut connection).await?
        } else {
            Vec::new()
        };
        connection.close().await?;
        Ok((tables, migrations))
    };
    let foreign = || Error::NotOurDatabase { path: path.to_owned() };
    match contents.await {
        // An interrupted first start made no table, or only the one about migrations.
        Ok((tables, _)) if tables.iter().all(|table| table == MIGRATIONS_TABLE) => Ok(()),
        Ok((tables, migrations)) if OWN_TABLES.iter().all(|own| tables.iter().any(|table| table == own)) => {
            if migrations.iter().all(|(version, checksum)| is_known_or_newer(*version, checksum)) {
                Ok(())
            } else {
                Err(Error::OldDatabase { path: path.to_owned() })
            }
        }
        Ok(_) => Err(foreign()),
        Err(error) if dialect::is_not_a_database(&error) => Err(foreign()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a recorded migration is one of this version, byte for byte, or one that a newer version added.
fn is_known_or_newer(version: i64, checksum: &[u8]) -> bool {
    MIGRATIONS.iter().find(|known| known.version == version).is_none_or(|known| known.checksum.as_ref() == checksum)
}

/// Examines whether this version could open the database at `path`, and changes nothing.
///
/// # Errors
/// When it is not one of this program, or of a newer version.
pub async fn inspect_database(path: &Path) -> Result<()> {
    reject_foreign_database(path).await?;
    reject_newer_schema(path).await
}

/// Opens a database for a look, which a server may use meanwhile. None if the file does not exist.
///
/// # Errors
/// When it is not one of this program, or of a newer version.
pub(crate) async fn open_for_reading(path: &Path) -> Result<Option<SqliteConnection>> {
    if !path.exists() {
        return Ok(None);
    }
    inspect_database(path).await?;
    Ok(Some(dialect::inspection_options(path).connect().await?))
}

/// Refuses a database that a newer version has migrated. It is only read.
pub(crate) async fn reject_newer_schema(path: &Path) -> Result<()> {
    let mut connection = dialect::inspection_options(path).connect().await?;
    let (found, known) = (schema(&mut connection).await?, newest(&MIGRATIONS));
    connection.close().await?;
    match found.filter(|found| *found > known) {
        Some(found) => Err(Error::NewerSchema { path: path.to_owned(), found, known }),
        None => Ok(()),
    }
}

/// The schema of these migrations.
pub(crate) fn newest(migrations: &Migrator) -> i64 {
    migrations.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// The last migration that a database has seen; none if it is new.
pub(crate) async fn schema(connection: &mut SqliteConnection) -> Result<Option<i64>> {
    if !dialect::tables(&mut *connection).await?.iter().any(|table| table == MIGRATIONS_TABLE) {
        return Ok(None);
    }
    Ok(sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations").fetch_one(connection).await?)
}

/// Creates a folder that only this user can open. An existing one is left as it is.
pub(crate) fn make_private_folder(folder: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|source| Error::File { attempted: format!("create the folder {}", folder.display()), source })
}
