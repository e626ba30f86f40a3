//! Opens the database file: lock, version, schema, durability, the writer and the readers. Must not know any noun of the product.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::config::{Config, ModelRestrictions};
use domain::event::Seq;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{ConnectOptions, SqliteConnection, SqlitePool};
use tokio::sync::watch;

use crate::engine::audit::Audit;
use crate::engine::audit::waiting::Waiting;
use crate::engine::backup;
use crate::engine::caller_cache::CallerCache;
use crate::engine::dialect;
use crate::engine::hooks::Hooks;
use crate::engine::inspect::{make_private_folder, newest, reject_foreign_database, schema};
use crate::engine::lock::Lock;
use crate::engine::presence::Presence;
use crate::engine::rate_limit::RateLimiter;
use crate::engine::tx::Tx;
use crate::engine::vocabulary::Vocabulary;
use crate::engine::writer::{UseCase, Writer};
use crate::error::{Error, Result};
use crate::{new_uuid, now};

/// The store. Cheap to clone; when the last clone is dropped, the running write is committed and the file is unlocked.
#[derive(Debug, Clone)]
pub struct Db {
    pub(crate) readers: SqlitePool,
    pub(crate) writer: Writer,
    pub(crate) committed: watch::Receiver<Seq>,
    pub(crate) presence: Presence,
    pub(crate) caller_cache: CallerCache,
    /// The reads and refusals that the audit log gets with the next commit.
    pub(crate) waiting: Waiting,
    pub(crate) rate_limiter: RateLimiter,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) protected_paths: Arc<[String]>,
    pub(crate) model_restrictions: Arc<ModelRestrictions>,
    epoch: Arc<str>,
    path: Arc<Path>,
}

impl Db {
    /// Locks the configured database file for this process, and creates its folder. The file itself is neither created nor changed.
    ///
    /// # Errors
    /// When another process has locked it, or another program or a version before the first release wrote it.
    pub async fn lock(config: &Config) -> Result<Lock> {
        let path = config.db_path.as_path();
        reject_foreign_database(path).await?;
        if let Some(folder) = path.parent() {
            make_private_folder(folder)?;
        }
        Lock::take(path).await
    }

    /// Opens the locked database file with the functions that know the nouns.
    pub(crate) async fn open_with(config: &Config, lock: Lock, hooks: Hooks, migrations: &Migrator) -> Result<Self> {
        let path = config.db_path.as_path();
        // SQLite gives the files next to the database the mode of the database, so the mode is set first.
        make_private(path)?;
        let options = dialect::options(path, config.durability);
        let mut connection = options.connect().await?;
        dialect::check_version(&mut connection).await?;
        migrate(&mut connection, path, migrations).await?;
        let epoch = epoch(&mut connection).await?;
        let seq: Seq = sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM events").fetch_one(&mut connection).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .test_before_acquire(false)
            .connect_with(options.read_only(true).create_if_missing(false))
            .await?;
        let (sender, committed) = watch::channel(seq);
        let (presence, caller_cache) = (Presence::new(now()), CallerCache::default());
        let audit = Audit::open(&mut connection).await?;
        let waiting = audit.waiting.clone();
        let tx = Tx::new(connection, seq, config.max_orchestrator_rounds, hooks, presence.clone(), caller_cache.clone(), audit);
        Ok(Self {
            readers,
            writer: Writer::start(tx, sender, lock),
            committed,
            presence,
            caller_cache,
            waiting,
            rate_limiter: RateLimiter::new(config.rate_limits),
            vocabulary: Vocabulary::default(),
            protected_paths: config.protected_paths.as_slice().into(),
            model_restrictions: config.model_restrictions.clone().into(),
            epoch: epoch.into(),
            path: path.into(),
        })
    }

    /// Identifies this log: sequence numbers of another epoch are not comparable.
    pub fn epoch(&self) -> &str {
        &self.epoch
    }

    /// The path of the database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the database file and of everything else that belongs to this installation.
    pub fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_owned).unwrap_or_default()
    }

    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> UseCase<'t, T> + Send + 'static,
    {
        self.writer.write(work).await
    }
}

/// Runs the migrations that a database lacks. One that was used before is copied first.
async fn migrate(connection: &mut SqliteConnection, path: &Path, migrations: &Migrator) -> Result<()> {
    let known = newest(migrations);
    let found = schema(connection).await?;
    if let Some(found) = found.filter(|found| *found > known) {
        return Err(Error::NewerSchema { path: path.to_owned(), found, known });
    }
    if let Some(found) = found.filter(|found| *found < known) {
        let failed = |source| Error::NoBackup { path: path.to_owned(), source: Box::new(source) };
        let copy = backup::backup_before_migration(connection, path, found).await.map_err(failed)?;
        tracing::info!(backup = %copy.display(), from = found, to = known, "the database was copied and is migrated");
    }
    migrations.run(connection).await.map_err(|error| Error::Storage(Box::new(error)))
}

async fn epoch(connection: &mut SqliteConnection) -> Result<String> {
    sqlx::query("INSERT INTO meta (key, value) VALUES ('epoch', $1) ON CONFLICT (key) DO NOTHING").bind(new_uuid()).execute(&mut *connection).await?;
    Ok(sqlx::query_scalar("SELECT value FROM meta WHERE key = 'epoch'").fetch_one(connection).await?)
}

fn make_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    file.and_then(|file| file.set_permissions(std::fs::Permissions::from_mode(0o600)))
        .map_err(|source| Error::File { attempted: format!("make {} readable only for you", path.display()), source })
}
