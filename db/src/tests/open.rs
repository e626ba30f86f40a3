//! Opening: one owner, private files, the schema's version, and everything still there afterwards.

use std::os::unix::fs::PermissionsExt;

use domain::config::{Config, Durability};
use domain::team::token::TokenEvent;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{ConnectOptions, Connection};

use crate::tests::store::Store;
use crate::{Db, Error, new_uuid, now};

/// Opens the file again once its former owner has let go of it.
pub(super) async fn open_again(config: &Config) -> crate::Result<Db> {
    loop {
        match Db::open(config).await {
            Err(Error::Locked { .. }) => tokio::task::yield_now().await,
            other => return other,
        }
    }
}

#[tokio::test]
async fn everything_is_there_when_it_is_opened_again() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let mut config = store.config.clone();
    config.durability = Durability::Full;
    let (board, epoch, latest, rows) =
        (store.db.board(&store.project).await.unwrap(), store.db.epoch().to_owned(), store.db.latest(), store.dump().await);
    let Store { db, project, folder, .. } = store;
    drop(db);
    let db = open_again(&config).await.unwrap();
    assert_eq!((db.board(&project).await.unwrap(), db.epoch(), db.latest()), (board, epoch.as_str(), latest));
    let store = Store { db, config, project, folder };
    assert_eq!(store.dump().await, rows);
    store.db.stop_task(&crate::Caller::owner(), &task).await.unwrap();
    assert_eq!(store.db.latest(), latest + 1);
    store.check_fold().await;
}

#[tokio::test]
async fn the_second_to_open_is_told_who_was_first() {
    let store = Store::board().await;
    let Err(Error::Locked { path, owner }) = Db::open(&store.config).await else { panic!("two owners") };
    assert_eq!((path, owner), (store.config.db_path.clone(), format!("process {}", std::process::id())));
    store.task("The first goes on").await;
}

#[tokio::test]
async fn locked_database_is_not_created_before_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
    let lock = Db::lock(&config).await.unwrap();
    assert!(matches!(Db::open(&config).await, Err(Error::Locked { .. })));
    assert!(!config.db_path.exists());
    Db::open_locked(&config, lock).await.unwrap();
    assert!(config.db_path.exists());
}

#[tokio::test]
async fn a_lock_that_is_let_go_in_a_moment_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
    let held = std::fs::File::create(config.db_path.with_extension("lock")).unwrap();
    held.lock().unwrap();
    // The first comes as far as it can, to the lock, before the second begins.
    let (opened, ()) = tokio::join!(Db::open(&config), async { drop(held) });
    opened.unwrap();
}

#[tokio::test]
async fn a_write_under_way_keeps_the_file_owned() {
    let store = Store::board().await;
    let (release, released) = tokio::sync::oneshot::channel::<()>();
    let (entered, inside) = tokio::sync::oneshot::channel::<()>();
    let db = store.db.clone();
    let write = tokio::spawn(async move {
        db.write(|tx| {
            Box::pin(async move {
                entered.send(()).unwrap();
                released.await.unwrap();
                tx.record(&crate::Caller::owner(), TokenEvent::Created {});
                Ok(())
            })
        })
        .await
    });
    inside.await.unwrap();
    write.abort();
    assert!(write.await.unwrap_err().is_cancelled());
    let Store { db, config, folder: _kept, .. } = store;
    let latest = db.latest();
    drop(db);
    assert!(matches!(Db::open(&config).await, Err(Error::Locked { .. })));
    release.send(()).unwrap();
    assert_eq!(open_again(&config).await.unwrap().latest(), latest + 1, "what was begun was finished");
}

#[tokio::test]
async fn a_newer_schema_is_left_alone() {
    let store = Store::board().await;
    let newer = store.db.write(|tx| {
        Box::pin(async move {
            tx.skip_event(crate::engine::tx::NoEventReason::NothingChanged);
            let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (99, 'later', 1, x'00', 0)";
            sqlx::query(newer).execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    newer.await.unwrap();
    let Store { db, config, folder: _kept, .. } = store;
    drop(db);
    let outcome = open_again(&config).await;
    assert!(matches!(outcome, Err(Error::NewerSchema { found: 99, known: 1, .. })), "{outcome:?}");
    let outcome = crate::inspect_database(&config.db_path).await;
    assert!(matches!(outcome, Err(Error::NewerSchema { found: 99, known: 1, .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_database_of_before_the_first_release_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
    let mut old = SqliteConnectOptions::new().filename(&config.db_path).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(include_str!("fixtures/before-0001.sql")).execute(&mut old).await.unwrap();
    old.close().await.unwrap();
    let before = std::fs::read(&config.db_path).unwrap();
    let error = Db::open(&config).await.unwrap_err();
    assert!(matches!(&error, Error::OldDatabase { path } if *path == config.db_path), "{error:?}");
    let text = error.to_string().replace(&config.db_path.display().to_string(), "board.db");
    insta::assert_snapshot!(text, @r#"the database board.db was made by a vibe-relay from before the first release, which this one cannot read, and was not touched: move the file away to start with an empty board, or name another "db_path" in the configuration"#);
    assert_eq!(std::fs::read(&config.db_path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no file was made next to it");
}

#[tokio::test]
async fn another_programs_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("messages.db"), ..Config::default() };
    let path = &config.db_path;
    let listing = || {
        let mut names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        (names, std::fs::read(path).unwrap(), std::fs::metadata(path).unwrap().permissions().mode())
    };
    let refused = async |what: &str| {
        let before = listing();
        let outcome = Db::open(&config).await;
        assert!(matches!(&outcome, Err(Error::NotOurDatabase { path: named }) if named == path), "{what}: {outcome:?}");
        assert_eq!(listing(), before, "{what}");
    };
    std::fs::write(path, "No database at all, and longer than the header of one. ".repeat(10)).unwrap();
    refused("a text").await;

    std::fs::remove_file(path).unwrap();
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut theirs = options.clone().connect().await.unwrap();
    sqlx::query("CREATE TABLE messages (id INTEGER); CREATE TABLE meta (key TEXT)").execute(&mut theirs).await.unwrap();
    theirs.close().await.unwrap();
    refused("at rest").await;

    // In use, with its newest table in the log alone.
    std::fs::remove_file(path).unwrap();
    let mut theirs = options.journal_mode(SqliteJournalMode::Wal).connect().await.unwrap();
    sqlx::query("CREATE TABLE messages (id INTEGER)").execute(&mut theirs).await.unwrap();
    refused("in use").await;
    sqlx::query("INSERT INTO messages VALUES (1)").execute(&mut theirs).await.unwrap();
}

#[tokio::test]
async fn folder_is_not_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("data"), ..Config::default() };
    std::fs::create_dir(&config.db_path).unwrap();
    let refused =
        [Db::open(&config).await.unwrap_err(), Db::lock(&config).await.unwrap_err(), crate::inspect_database(&config.db_path).await.unwrap_err()];
    for error in refused {
        assert!(error.to_string().ends_with("data/vibe-relay.db"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made beside it");
}

#[tokio::test]
async fn a_first_start_that_was_cut_short_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
    let options = SqliteConnectOptions::new().filename(&config.db_path).create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
    options.connect().await.unwrap().close().await.unwrap();
    assert!(std::fs::metadata(&config.db_path).unwrap().len() > 0);
    Db::open(&config).await.unwrap();
}

#[tokio::test]
async fn the_files_are_readable_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("new/board.db"), ..Config::default() };
    let db = Db::open(&config).await.unwrap();
    db.set_owner("owner", "token").await.unwrap();
    let mode = |path: &str| std::fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("new"), 0o700);
    for file in ["new/board.db", "new/board.db-wal", "new/board.db-shm"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    assert_eq!((db.path(), db.folder()), (config.db_path.as_path(), folder.path().join("new")));
}

#[tokio::test]
async fn a_place_that_cannot_be_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let error = Db::open(&Config { db_path: folder.path().join("file/board.db"), ..Config::default() }).await.unwrap_err();
    assert!(matches!(&error, Error::File { attempted, .. } if attempted.starts_with("create the folder")), "{error:?}");
}

#[tokio::test]
async fn the_settings_that_keep_the_data_are_in_force() {
    let store = Store::board().await;
    let pragma = |name: &'static str| {
        store.db.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(crate::engine::tx::NoEventReason::NothingChanged);
                Ok(sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(format!("PRAGMA {name}"))).fetch_one(&mut tx.connection).await?)
            })
        })
    };
    // The store of these tests has `durability: normal`; the default is told apart below.
    assert_eq!((pragma("synchronous").await.unwrap(), pragma("foreign_keys").await.unwrap()), (1, 1));
    assert_eq!((pragma("trusted_schema").await.unwrap(), pragma("mmap_size").await.unwrap_or(0)), (0, 0));
    let folder = tempfile::tempdir().unwrap();
    let full = Db::open(&Config { db_path: folder.path().join("board.db"), ..Config::default() }).await.unwrap();
    let synchronous = full.write(|tx| {
        Box::pin(async move {
            tx.skip_event(crate::engine::tx::NoEventReason::NothingChanged);
            Ok(sqlx::query_scalar::<_, i64>("PRAGMA synchronous").fetch_one(&mut tx.connection).await?)
        })
    });
    assert_eq!(synchronous.await.unwrap(), 2);
    assert_ne!(new_uuid(), new_uuid());
    assert!(now().to_string().as_str() > "2026-01-01");
}
