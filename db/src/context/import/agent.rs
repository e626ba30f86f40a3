//! Imports agents. Each is absent until it gets a token here. Must not know the other kinds of records.

use domain::context::import::ImportSource;
use domain::team::role::Role;
use domain::text;
use domain::time::Timestamp;

use super::source::Record;
use super::write::{Target, Written};
use crate::consequences::agent_joined::agent_joined;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row;
use crate::team::agent::write::{AgentRow, mark_left};

/// The columns in which the programs name agents.
pub(super) const fn columns(source: ImportSource) -> &'static [(&'static str, &'static str)] {
    match source {
        ImportSource::SharedContext => &[("sessions", "created_by"), ("messages", "sender"), ("agent_memory", "agent_id")],
        ImportSource::DeadDrop => &[
            ("agents", "name"),
            ("messages", "from_agent"),
            ("messages", "to_agent"),
            ("messages", "cc_original_to"),
            ("tasks", "assigned_to"),
            ("tasks", "created_by"),
            ("tasks", "approved_by"),
            ("tasks", "verified_by"),
            ("goals", "creator"),
            ("goals", "verified_by"),
            ("contracts", "owner"),
        ],
    }
}

/// An agent.
pub(super) struct AgentItem {
    pub(super) original: String,
    roles: Vec<Role>,
    description: Option<String>,
    registered_at: Option<Timestamp>,
    note: Option<String>,
}

impl AgentItem {
    /// An agent of which only the name is known.
    pub(super) fn named(original: &str) -> Self {
        Self { original: original.to_owned(), roles: Vec::new(), description: None, registered_at: None, note: None }
    }

    pub(super) fn of(original: &str, record: &Record) -> Self {
        let words = record.text("role").unwrap_or_default();
        let (roles, unknown): (Vec<_>, Vec<_>) = words
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(|word| word.parse::<Role>().map_err(|_| word.to_owned()))
            .partition(Result::is_ok);
        let unknown: Vec<String> = unknown.into_iter().filter_map(Result::err).collect();
        let description = record.text("description");
        Self {
            original: original.to_owned(),
            roles: roles.into_iter().filter_map(Result::ok).collect(),
            description: text::validate_optional_body("description", description.as_deref()).ok().flatten(),
            registered_at: record.time("registered_at"),
            note: (!unknown.is_empty()).then(|| format!("its roles {} do not exist here", unknown.join(", "))),
        }
    }
}

/// Writes an agent, unless one with its name is here. Then it gets what is imported for that name.
pub(super) async fn write(tx: &mut Tx, target: &Target, item: AgentItem) -> Result<Written> {
    let name = target.name(&item.original);
    if row::read(&mut tx.connection, &target.project, &name).await?.is_some() {
        return Ok(Written::Changed(name.clone(), format!("{name} already existed, and receives what is imported for that name")));
    }
    tx.now = item.registered_at.unwrap_or(tx.now).min(tx.now);
    let team = name.split_once('/').map(|(team, _)| team);
    let row = AgentRow {
        name: &name,
        team,
        roles: &item.roles,
        description: item.description.as_deref(),
        trusted: false,
        run: None,
        class: None,
        post: None,
        model: None,
        transport: None,
        seen: false,
    };
    agent_joined(tx, &target.caller, &target.project, row).await?;
    mark_left(tx, &target.project, &name).await?;
    let renamed = (name.rsplit('/').next() != item.original.rsplit('/').next()).then(|| format!("it is called {name} here"));
    let notes: Vec<String> = renamed.into_iter().chain(item.note).collect();
    Ok(if notes.is_empty() { Written::As(name) } else { Written::Changed(name, notes.join("; ")) })
}
