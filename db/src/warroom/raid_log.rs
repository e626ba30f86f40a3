//! The raid log: what agents decided and found, for later agents. Entries are only added.

pub(crate) mod row;
pub(crate) mod write;

use domain::id::ProjectId;
use domain::team::agent::resolve;
use domain::team::person::is_person;
use domain::warroom::raid_log::{NewRaidLogEntry, Priority, RaidLogEntry};
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::team::agent::row as agents;
use crate::team::participant::row as participant;

/// The most entries that one call returns, and the default.
const MAX_ENTRIES: u32 = 200;
const DEFAULT_ENTRIES: u32 = 20;

/// The entries of a log that a call asks for, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RaidLogQuery {
    /// Only entries of this priority and above.
    pub priority: Option<Priority>,
    /// Only entries of this participant.
    pub agent: Option<String>,
    /// Only entries before this one.
    pub before: Option<i64>,
    /// At most 200; 20 if missing.
    pub limit: Option<u32>,
}

impl Db {
    /// Appends an entry to the log of a project. Every participant may.
    ///
    /// # Errors
    /// When the caller has not registered, or the entry is not acceptable.
    pub async fn log_raid(&self, caller: &Caller, project: &ProjectId, new: NewRaidLogEntry) -> Result<RaidLogEntry> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                participant::load(&mut tx.connection, caller, &project).await?;
                let entry = new.text()?;
                write::append(tx, caller, &project, &entry, new.priority.unwrap_or(Priority::Normal)).await
            })
        })
        .await
    }

    /// Reads the log of a project, newest first.
    ///
    /// # Errors
    /// When the project or the participant does not exist.
    pub async fn raid_log(&self, caller: &Caller, project: &ProjectId, query: &RaidLogQuery) -> Result<Vec<RaidLogEntry>> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let author = match &query.agent {
            Some(given) => Some(author(&mut connection, caller, project, given).await?),
            None => None,
        };
        let priorities: Vec<Priority> = query.priority.unwrap_or(Priority::Low).and_above().collect();
        let rows = sqlx::query(AssertSqlSafe(row::list_sql(&priorities, author.is_some())))
            .bind(project.as_str())
            .bind(query.before.unwrap_or(i64::MAX))
            .bind(query.limit.unwrap_or(DEFAULT_ENTRIES).clamp(1, MAX_ENTRIES))
            .bind(author)
            .fetch_all(&mut *connection)
            .await?;
        rows.iter().map(row::entry_of).collect()
    }
}

/// Resolves the name of a participant, which may have left long ago if the name is a full one.
async fn author(connection: &mut SqliteConnection, caller: &Caller, project: &ProjectId, given: &str) -> Result<String> {
    let given = given.trim();
    if is_person(given) {
        return Ok(given.to_owned());
    }
    if let Some(agent) = agents::read(connection, project, given).await? {
        return Ok(agent.name);
    }
    let names: Vec<String> = sqlx::query_scalar("SELECT name FROM agents WHERE project_id = $1 AND left_at IS NULL")
        .bind(project.as_str())
        .fetch_all(&mut *connection)
        .await?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(resolve(given, &caller.name().unwrap_or_default(), &names)?.to_owned())
}
