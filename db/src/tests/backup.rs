//! Copies of the database: while it is written, before migrations, and put back.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use domain::config::Config;
use sqlx::migrate::Migrator;
use tempfile::TempDir;

use crate::tests::open::open_again;
use crate::tests::store::Store;
use crate::{Caller, Db, Error, Restored, backup, restore};

async fn open_copy(copy: &Path) -> Db {
    Db::open(&Config { db_path: copy.to_owned(), ..Config::default() }).await.unwrap()
}

#[tokio::test]
async fn copy_is_complete_private_and_consistent_while_tasks_are_written() {
    let store = Store::board().await;
    store.task("Before").await;
    let copies = tempfile::tempdir().unwrap();
    for round in 0..5 {
        let copy = copies.path().join(format!("{round}.db"));
        let path = store.db.path().to_owned();
        let (copied, ()) = tokio::join!(backup(&path, &copy), async {
            for task in 0..20 {
                store.task(&format!("{round} {task}")).await;
            }
        });
        copied.unwrap();
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        let db = open_copy(&copy).await;
        let board = db.board(&store.project).await.unwrap().board;
        assert!(board.cards.iter().any(|card| card.title == "Before"));
        assert_eq!(board.seq, db.latest(), "rows and log are of the same commit");
    }
    let error = backup(store.db.path(), &copies.path().join("0.db")).await.unwrap_err();
    assert!(matches!(&error, Error::File { attempted, .. } if attempted.starts_with("write the backup ")), "{error:?}");
    let left: Vec<PathBuf> = fs::read_dir(copies.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.iter().all(|path| !path.to_string_lossy().contains("unfinished")), "{left:?}");
}

#[tokio::test]
async fn restored_database_replaces_the_old_one_which_is_kept() {
    let store = Store::board().await;
    let (epoch, path) = (store.db.epoch().to_owned(), store.config.db_path.clone());
    store.task("Kept").await;
    let copies = tempfile::tempdir().unwrap();
    let copy = copies.path().join("copy.db");
    backup(&path, &copy).await.unwrap();
    store.task("Written later").await;
    assert!(matches!(restore(&path, &copy).await.unwrap_err(), Error::Locked { .. }), "a server owns the database");

    let Store { db, project, folder: _kept, config } = store;
    drop(db);
    let Restored { replaced } = loop {
        match restore(&path, &copy).await {
            Err(Error::Locked { .. }) => tokio::task::yield_now().await,
            restored => break restored.unwrap(),
        }
    };
    let titles = async |db: &Db| db.board(&project).await.unwrap().board.cards.into_iter().map(|card| card.title).collect::<Vec<_>>();
    let db = open_again(&config).await.unwrap();
    assert_eq!(titles(&db).await, ["Kept"]);
    assert_ne!(db.epoch(), epoch, "sequence numbers of the old log are worthless");
    let old = open_copy(&replaced.unwrap()).await;
    assert_eq!(titles(&old).await, ["Kept", "Written later"]);
    assert_eq!(old.epoch(), epoch);
}

#[tokio::test]
async fn damaged_or_foreign_files_are_not_restored() {
    let store = Store::board().await;
    for number in 0..200 {
        store.task(&format!("{number} {}", "x".repeat(150))).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("board.db");
    let copy = folder.path().join("copy.db");
    backup(store.db.path(), &copy).await.unwrap();
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xAA);
    let damaged = folder.path().join("damaged.db");
    fs::write(&damaged, bytes).unwrap();
    let foreign = folder.path().join("foreign.db");
    fs::write(&foreign, "hello").unwrap();
    let empty = folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    for file in [&damaged, &foreign, &empty, &folder.path().join("missing.db")] {
        let error = restore(&target, file).await.unwrap_err();
        assert!(!target.exists() && !folder.path().join("board.db.restoring").exists(), "{}: {error:?}", file.display());
    }
    assert_eq!(restore(&target, &copy).await.unwrap(), Restored { replaced: None });
}

/// Adds one migration to those of this version.
fn later_migrations(sql: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    for entry in fs::read_dir(known).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    fs::write(folder.path().join("0099_later.sql"), sql).unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

fn backups(config: &Config) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(config.db_path.with_file_name("backups")).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[tokio::test]
async fn migration_is_preceded_by_a_checked_backup() {
    let store = Store::board().await;
    store.task("Before").await;
    let Store { db, project, folder: _kept, config } = store;
    assert_eq!(backups(&config), [""; 0].map(PathBuf::from), "the first migration of a new database has nothing to lose");
    drop(db);
    let db = open_again(&config).await.unwrap();
    assert!(backups(&config).is_empty(), "nothing was migrated");
    drop(db);
    // Ten earlier ones, of which one has to go.
    for number in 0..10 {
        fs::create_dir_all(config.db_path.with_file_name("backups")).unwrap();
        fs::write(config.db_path.with_file_name("backups").join(format!("board-2020-01-0{number}-schema-0.db")), "x").unwrap();
    }
    let (_folder, later) = later_migrations("CREATE TABLE later (id INTEGER) STRICT;");
    let migrations = Migrator::new(later.as_path()).await.unwrap();
    drop(crate::open::open_with_migrations(&config, &migrations).await.unwrap());
    let found = backups(&config);
    assert_eq!(found.len(), 10, "{found:?}");
    assert!(!found[0].ends_with("board-2020-01-00-schema-0.db"), "the oldest was removed: {found:?}");
    let copy = open_copy(found.last().unwrap()).await;
    assert_eq!(copy.board(&project).await.unwrap().board.cards.len(), 1, "it has the schema from before, so this version can open it");
    let error = restore(&config.db_path.with_file_name("x.db"), &config.db_path).await.unwrap_err();
    assert!(matches!(error, Error::NewerSchema { found: 99, .. }), "{error:?}");
}

#[tokio::test]
async fn failed_backup_stops_the_migration() {
    let store = Store::board().await;
    let Store { db, folder: _kept, config, .. } = store;
    drop(db);
    fs::write(config.db_path.with_file_name("backups"), "a file in the way").unwrap();
    let (_folder, later) = later_migrations("CREATE TABLE later (id INTEGER) STRICT;");
    let migrations = Migrator::new(later.as_path()).await.unwrap();
    let error = loop {
        match crate::open::open_with_migrations(&config, &migrations).await {
            Err(Error::Locked { .. }) => tokio::task::yield_now().await,
            other => break other.unwrap_err(),
        }
    };
    assert!(matches!(error, Error::NoBackup { .. }), "{error:?}");
    let db = open_again(&config).await.unwrap();
    db.set_owner("owner", "token").await.unwrap();
    assert_eq!(db.caller("token").await.unwrap(), Some(Caller::owner()), "this version can open it, so it was not migrated");
}
