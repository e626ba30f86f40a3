//! Opens the store: gives the engine the two functions that know the nouns. Must not know how the database file is opened.

use domain::config::Config;
use domain::event::Envelope;
use sqlx::SqliteConnection;

use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::engine::hooks::Hooks;
use crate::engine::lock::Lock;
use crate::engine::migrations::MIGRATIONS;
use crate::engine::open::Db;
use crate::error::Result;
use crate::runs::run::row as runs;

const HOOKS: Hooks = Hooks {
    attach_snapshot: |connection, envelope| Box::pin(attach_snapshot(connection, envelope)),
    admit_writer: |connection, caller| Box::pin(runs::require_current_run(connection, caller)),
};

impl Db {
    /// Opens the configured database file for this process alone, creates it if it is missing, and runs the migrations that it lacks.
    ///
    /// # Errors
    /// When another process has locked the file, another program or an unsuitable version of vibe-relay wrote it, or it cannot be used.
    pub async fn open(config: &Config) -> Result<Self> {
        Self::open_locked(config, Self::lock(config).await?).await
    }

    /// As [`Db::open`], for a database file that this process has locked already.
    ///
    /// # Errors
    /// When an unsuitable version of vibe-relay wrote the file, or it cannot be used.
    pub async fn open_locked(config: &Config, lock: Lock) -> Result<Self> {
        Self::open_with(config, lock, HOOKS, &MIGRATIONS).await
    }
}

/// Opens the database file with other migrations than those of this version.
#[cfg(test)]
pub(crate) async fn open_with_migrations(config: &Config, migrations: &sqlx::migrate::Migrator) -> Result<Db> {
    Db::open_with(config, Db::lock(config).await?, HOOKS, migrations).await
}

/// Adds the card to an event about a task, and the project to any other event of a project.
async fn attach_snapshot(connection: &mut SqliteConnection, envelope: &mut Envelope) -> Result<()> {
    match (&envelope.task_id, &envelope.project_id) {
        (Some(task), _) => envelope.card = Some(tasks::card(connection, task).await?),
        (None, Some(project)) => envelope.project = Some(projects::read(connection, project).await?),
        (None, None) => {}
    }
    Ok(())
}
