//! Who speaks: a caller as a participant of one project. Every use-case among agents begins here.

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use sqlx::{Row, SqliteConnection};

use crate::board::project;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::{Roster, RosterEntry};

/// A participant who may act now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Participant {
    pub(crate) name: String,
    pub(crate) project: ProjectId,
    /// Whether the person, or the run that it is, vouches for it.
    pub(crate) trusted: bool,
    pub(crate) is_lead: bool,
}

impl Participant {
    /// Refuses whoever is no lead.
    pub(crate) fn require_lead(&self, action: &str) -> Result<(), Refusal> {
        let (agent, action) = (self.name.clone(), action.to_owned());
        match (self.is_lead, self.trusted) {
            (true, _) => Ok(()),
            (false, true) => Err(Refusal::LeadOnly { agent, action }),
            (false, false) => Err(Refusal::Untrusted { agent, action }),
        }
    }

    /// Refuses whoever only has a room token.
    pub(crate) fn require_trusted(&self, action: &str) -> Result<(), Refusal> {
        if self.trusted { Ok(()) } else { Err(Refusal::Untrusted { agent: self.name.clone(), action: action.to_owned() }) }
    }
}

/// The same where everybody who is there was read already.
pub(crate) async fn from_roster(tx: &mut Tx, caller: &Caller, roster: &Roster) -> Result<Participant> {
    let Caller::Agent(agent) = caller else { return load(&mut tx.connection, caller, &roster.project).await };
    if agent.project_id != roster.project {
        return Err(Refusal::not_found("project", &roster.project).into());
    }
    let RosterEntry { name, verified, is_lead: leads, .. } =
        roster.entry(&agent.name).ok_or_else(|| Refusal::AgentLeft { agent: agent.name.clone() })?;
    Ok(Participant { name: name.clone(), project: roster.project.clone(), trusted: *verified, is_lead: *leads })
}

/// The caller as a participant of `project`. The person leads everywhere.
pub(crate) async fn load(connection: &mut SqliteConnection, caller: &Caller, project: &ProjectId) -> Result<Participant> {
    if caller.project().is_some_and(|own| own != project) {
        // A project of others is not even admitted to exist.
        return Err(Refusal::not_found("project", project).into());
    }
    let Some(name) = caller.name() else { return Err(Refusal::NotRegistered.into()) };
    let voice = |verified, leads| Participant { name: name.clone(), project: project.clone(), trusted: verified, is_lead: leads };
    Ok(match caller {
        Caller::Human | Caller::Runner => {
            project::read(connection, project).await?;
            voice(true, true)
        }
        Caller::Run(run) => voice(true, matches!(run.phase, AgentKind::Planner | AgentKind::Orchestrator)),
        Caller::Agent(_) | Caller::Invite(_) => {
            let row = sqlx::query("SELECT trusted, roles FROM agents WHERE project_id = $1 AND name = $2 AND left_at IS NULL")
                .bind(project.as_str())
                .bind(&name)
                .fetch_optional(connection)
                .await?
                .ok_or_else(|| Refusal::AgentLeft { agent: name.clone() })?;
            let roles: Vec<Role> = serde_json::from_str(row.try_get("roles")?)?;
            let verified = row.try_get("trusted")?;
            voice(verified, verified && roles.contains(&Role::Lead))
        }
    })
}
