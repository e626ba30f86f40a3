//! Who is there, as a use-case asks it: names, leads, and whether anybody still listens behind a name.

use domain::agent::{ALL, Health, PERSON, Role, is_run, resolve};
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use sqlx::{Row, SqliteConnection};

use crate::error::Result;
use crate::presence::Presence;
use crate::task::read::optional;
use crate::tx::Tx;

/// Everybody who has not left a project, as they are at one moment.
#[derive(Debug)]
pub(crate) struct Roster {
    pub(crate) project: ProjectId,
    entries: Vec<Entry>,
    listening_since: Timestamp,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) verified: bool,
    pub(crate) leads: bool,
    last_seen: Option<Timestamp>,
    /// Whether somebody listens behind the name for sure: over a connection, or, of those that we run, in the next run.
    listens: bool,
    /// Whether nobody listens behind the name any more.
    dead: bool,
}

impl Roster {
    pub(crate) async fn read(tx: &mut Tx, project: &ProjectId) -> Result<Self> {
        Self::at(&mut tx.connection, &tx.presence, project, tx.now).await
    }

    pub(crate) async fn at(connection: &mut SqliteConnection, presence: &Presence, project: &ProjectId, now: Timestamp) -> Result<Self> {
        let rows = sqlx::query(
            "SELECT name, verified, roles, run_id IS NOT NULL AS run, MAX(COALESCE(last_seen, ''), COALESCE(heartbeat_at, '')) AS seen
             FROM agents WHERE project_id = $1 AND left_at IS NULL ORDER BY name",
        )
        .bind(project.as_str())
        .fetch_all(connection)
        .await?;
        let entries = rows.iter().map(|row| {
            let roles: Vec<Role> = serde_json::from_str(row.try_get("roles")?)?;
            let (name, verified): (String, bool) = (row.try_get("name")?, row.try_get("verified")?);
            let stored = if row.try_get::<&str, _>("seen")?.is_empty() { None } else { optional(row, "seen")? };
            let signs = presence.of(project, &name);
            let last_seen = stored.max(signs.last);
            let listens = row.try_get("run")? || signs.connections > 0;
            let dead = !listens && Health::of(last_seen, now) == Health::Dead;
            Ok(Entry { name, verified, leads: verified && roles.contains(&Role::Lead), last_seen, listens, dead })
        });
        Ok(Self { project: project.clone(), entries: entries.collect::<Result<_>>()?, listening_since: presence.listening_since() })
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The leads, by name. The person leads too, and is not among them.
    pub(crate) fn leads(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|entry| entry.leads).map(|entry| entry.name.as_str())
    }

    /// Whether somebody from outside leads who could answer. Where only our own runs lead, or nobody listens, a decision is the person's.
    pub(crate) fn is_led(&self) -> bool {
        self.entries.iter().any(|entry| entry.leads && !entry.dead && !is_run(&entry.name))
    }

    /// When somebody who was asked something at `asked` is given up; none while somebody listens, or where it is no agent that is there.
    pub(crate) fn lost_at(&self, name: &str, asked: Timestamp) -> Option<Timestamp> {
        let entry = self.entry(name).filter(|entry| !entry.listens)?;
        Some(Health::lost_at(entry.last_seen, asked, self.listening_since))
    }

    /// Those who do not lead and could answer, by name.
    pub(crate) fn others(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|entry| !entry.leads && !entry.dead).map(|entry| entry.name.as_str())
    }

    /// Whom `speaker` means by `given`: somebody who is there, the person, or everybody.
    pub(crate) async fn recipient(&self, tx: &mut Tx, speaker: &str, given: &str) -> Result<String> {
        let given = given.trim();
        if given == ALL || given == PERSON {
            return Ok(given.to_owned());
        }
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name.as_str()).chain([PERSON, ALL]).collect();
        let name = match resolve(given, speaker, &names) {
            Ok(name) => name,
            Err(refusal @ Refusal::UnknownAgent { .. }) => return Err(gone(tx, &self.project, given).await?.unwrap_or(refusal).into()),
            Err(refusal) => return Err(refusal.into()),
        };
        if let Some(Entry { last_seen, .. }) = self.entry(name).filter(|entry| entry.dead) {
            return Err(Refusal::DeadAgent { name: name.to_owned(), since: *last_seen }.into());
        }
        Ok(name.to_owned())
    }
}

/// Why nobody listens under a name that somebody once had.
async fn gone(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<Option<Refusal>> {
    let row = sqlx::query("SELECT left_at FROM agents WHERE project_id = $1 AND name = $2 AND left_at IS NOT NULL")
        .bind(project.as_str())
        .bind(name)
        .fetch_optional(&mut tx.connection)
        .await?;
    row.map(|row| Ok(Refusal::DeadAgent { name: name.to_owned(), since: optional(&row, "left_at")? })).transpose()
}
