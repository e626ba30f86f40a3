//! The roster of a project: names, leads and liveness, read once per use case. Must not change anything.

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::agent::{EVERYONE, HUMAN, Health, NameError, is_managed_name, resolve};
use domain::team::person::is_person;
use domain::team::role::Role;
use domain::time::Timestamp;
use domain::warroom::class::AgentClass;
use domain::warroom::lead::LeadPost;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::optional;
use crate::engine::presence::Presence;
use crate::engine::tx::Tx;
use crate::error::{Error, Result};
use crate::team::agent::row::{current_name, post_of};
use crate::team::person::row::further_participants;

/// All active agents of a project at one moment.
#[derive(Debug)]
pub(crate) struct Roster {
    pub(crate) project: ProjectId,
    entries: Vec<RosterEntry>,
    tracking_since: Timestamp,
}

#[derive(Debug)]
pub(crate) struct RosterEntry {
    pub(crate) name: String,
    pub(crate) trusted: bool,
    pub(crate) is_lead: bool,
    pub(crate) post: LeadPost,
    last_seen: Option<Timestamp>,
    /// Whether the agent can receive messages: over a connection, or as a managed agent in its next run.
    is_reachable: bool,
    /// Whether the agent has stopped responding.
    is_dead: bool,
}

impl Roster {
    pub(crate) async fn load(tx: &mut Tx, project: &ProjectId) -> Result<Self> {
        Self::load_at(&mut tx.connection, &tx.presence, project, tx.now).await
    }

    pub(crate) async fn load_at(connection: &mut SqliteConnection, presence: &Presence, project: &ProjectId, now: Timestamp) -> Result<Self> {
        let rows = sqlx::query(
            "SELECT name, trusted, roles, class, lead_role, zone, run_id, last_seen, heartbeat_at
             FROM agents WHERE project_id = $1 AND left_at IS NULL ORDER BY name",
        )
        .bind(project.as_str())
        .fetch_all(connection)
        .await?;
        let entries = rows.iter().map(|row| {
            let roles: Vec<Role> = serde_json::from_str(row.try_get("roles")?)?;
            let (name, trusted): (String, bool) = (row.try_get("name")?, row.try_get("trusted")?);
            let stored = optional(row, "last_seen")?.max(optional(row, "heartbeat_at")?);
            let known = presence.of(project, &name);
            let last_seen = stored.max(known.last);
            let is_reachable = row.try_get::<Option<&str>, _>("run_id")?.is_some() || known.connections > 0;
            let is_dead = !is_reachable && Health::of(last_seen, now) == Health::Dead;
            let is_lead = AgentClass::leads(optional(row, "class")?, trusted, &roles);
            let post = post_of(row)?.unwrap_or(LeadPost::DEFAULT);
            Ok(RosterEntry { name, trusted, is_lead, post, last_seen, is_reachable, is_dead })
        });
        Ok(Self { project: project.clone(), entries: entries.collect::<Result<_>>()?, tracking_since: presence.tracking_since() })
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&RosterEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The leads by name. The human is also a lead, but not in this list.
    pub(crate) fn leads(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|entry| entry.is_lead).map(|entry| entry.name.as_str())
    }

    /// Whether a message to `name` can reach an agent that is not a lead.
    pub(crate) fn is_instructed(&self, name: &str) -> bool {
        if name == EVERYONE {
            self.entries.iter().any(|entry| !entry.is_lead)
        } else {
            self.entry(name).is_none_or(|entry| !entry.is_lead) && !is_person(name)
        }
    }

    /// Whether an external lead could answer. If only managed agents lead, or none responds, the human decides.
    pub(crate) fn has_external_lead(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_lead && !entry.is_dead && !is_managed_name(&entry.name))
    }

    /// When an agent that was asked something at `asked` counts as unresponsive. `None` if it is reachable or not in the roster.
    pub(crate) fn unresponsive_at(&self, name: &str, asked: Timestamp) -> Option<Timestamp> {
        let entry = self.entry(name).filter(|entry| !entry.is_reachable)?;
        Some(Health::unresponsive_at(entry.last_seen, asked, self.tracking_since))
    }

    /// Whether an agent has left or does not respond. A person is never away.
    pub(crate) fn is_away(&self, name: &str) -> bool {
        !is_person(name) && self.entry(name).is_none_or(|entry| entry.is_dead)
    }

    /// Agents that are not leads and could answer, by name.
    pub(crate) fn active_non_leads(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|entry| !entry.is_lead && !entry.is_dead).map(|entry| entry.name.as_str())
    }

    /// Resolves the recipient of a message. The name of a trusted agent is a mailbox also while its agent is away.
    pub(crate) async fn mailbox(&self, tx: &mut Tx, speaker: &str, given: &str) -> Result<String> {
        match self.recipient(tx, speaker, given).await {
            Err(Error::Refused(Refusal::Agent(AgentRefusal::Unresponsive { name, since }))) => {
                if is_trusted(tx, &self.project, &name).await? {
                    Ok(name)
                } else {
                    Err(AgentRefusal::Unresponsive { name, since }.into())
                }
            }
            resolved => resolved,
        }
    }

    /// Resolves a recipient that `speaker` named and that has to act: an active agent, a person or everyone.
    pub(crate) async fn recipient(&self, tx: &mut Tx, speaker: &str, given: &str) -> Result<String> {
        let given = given.trim();
        if given == EVERYONE || given == HUMAN {
            return Ok(given.to_owned());
        }
        let persons = further_participants(tx).await?;
        let participants = self.entries.iter().map(|entry| entry.name.as_str()).chain(persons.iter().map(String::as_str));
        let names: Vec<&str> = participants.chain([HUMAN, EVERYONE]).collect();
        let name = match resolve(given, speaker, &names) {
            Ok(name) => name,
            Err(error @ NameError::Unknown { .. }) => {
                if let Some(name) = current_name(&mut tx.connection, &self.project, given).await?.filter(|name| self.entry(name).is_some()) {
                    return Box::pin(self.recipient(tx, speaker, &name)).await;
                }
                return Err(departed_refusal(tx, &self.project, given).await?.map_or_else(|| error.into(), Into::into));
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(RosterEntry { last_seen, .. }) = self.entry(name).filter(|entry| entry.is_dead) {
            return Err(AgentRefusal::Unresponsive { name: name.to_owned(), since: *last_seen }.into());
        }
        Ok(name.to_owned())
    }
}

/// Whether a person created the token of an external agent, which may have left.
async fn is_trusted(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<bool> {
    let trusted: Option<bool> = sqlx::query_scalar("SELECT trusted FROM agents WHERE project_id = $1 AND name = $2 AND run_id IS NULL")
        .bind(project.as_str())
        .bind(name)
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(trusted == Some(true))
}

/// Returns the refusal for a name whose agent has left.
async fn departed_refusal(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<Option<AgentRefusal>> {
    let row = sqlx::query("SELECT left_at FROM agents WHERE project_id = $1 AND name = $2 AND left_at IS NOT NULL")
        .bind(project.as_str())
        .bind(name)
        .fetch_optional(&mut tx.connection)
        .await?;
    row.map(|row| Ok(AgentRefusal::Unresponsive { name: name.to_owned(), since: optional(&row, "left_at")? })).transpose()
}
