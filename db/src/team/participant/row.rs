//! Resolves a caller to a participant of a project. Every collaboration use case starts here. Must not change anything.

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::role::Role;
use domain::warroom::class::AgentClass;
use domain::warroom::lead::{LeadPost, LeadRefusal};
use sqlx::{Row, SqliteConnection};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::column::optional;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::post_of;
use crate::team::agent::row::roster::{Roster, RosterEntry};

/// A caller as an active participant of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Participant {
    pub(crate) name: String,
    pub(crate) project: ProjectId,
    /// Whether the human created its token, or it is a managed agent.
    pub(crate) trusted: bool,
    pub(crate) is_lead: bool,
    /// How far it leads, if it is a lead.
    pub(crate) post: LeadPost,
    /// The path or task outside the zone of a zone lead, which is not a lead there.
    pub(crate) outside: Option<String>,
}

impl Participant {
    /// Fails unless the participant is a lead.
    pub(crate) fn require_lead(&self, action: &str) -> Result<(), Refusal> {
        let (agent, action) = (self.name.clone(), action.to_owned());
        match (self.is_lead, &self.outside, &self.post.zone) {
            (true, ..) => Ok(()),
            (false, Some(subject), Some(zone)) => {
                Err(LeadRefusal::OutsideZone { agent, zone: zone.clone(), action, subject: subject.clone() }.into())
            }
            _ if self.trusted => Err(AgentRefusal::LeadOnly { agent, action }.into()),
            _ => Err(AgentRefusal::Untrusted { agent, action }.into()),
        }
    }

    /// The zone of a zone lead.
    pub(crate) fn lead_zone(&self) -> Option<&str> {
        self.post.zone.as_deref().filter(|_| self.is_lead)
    }

    /// Fails for a lead of one zone.
    pub(crate) fn require_whole_project(&self, action: &str) -> Result<(), LeadRefusal> {
        self.lead_zone()
            .map_or(Ok(()), |zone| Err(LeadRefusal::WholeProject { agent: self.name.clone(), zone: zone.to_owned(), action: action.to_owned() }))
    }

    /// Fails for an agent that joined with an invite token.
    pub(crate) fn require_trusted(&self, action: &str) -> Result<(), AgentRefusal> {
        if self.trusted { Ok(()) } else { Err(AgentRefusal::Untrusted { agent: self.name.clone(), action: action.to_owned() }) }
    }
}

/// Resolves the caller from a roster that is already loaded.
pub(crate) async fn from_roster(tx: &mut Tx, caller: &Caller, roster: &Roster) -> Result<Participant> {
    let Caller::Agent(agent) = caller else { return load(&mut tx.connection, caller, &roster.project).await };
    if agent.project_id != roster.project {
        return Err(Refusal::not_found("project", &roster.project).into());
    }
    let RosterEntry { name, trusted, is_lead, post, .. } =
        roster.entry(&agent.name).ok_or_else(|| AgentRefusal::Left { agent: agent.name.clone() })?;
    let (name, project, post) = (name.clone(), roster.project.clone(), post.clone());
    Ok(Participant { name, project, trusted: *trusted, is_lead: *is_lead, post, outside: None })
}

/// Resolves the caller in `project`. Persons are leads in every project.
pub(crate) async fn load(connection: &mut SqliteConnection, caller: &Caller, project: &ProjectId) -> Result<Participant> {
    if caller.project().is_some_and(|own| own != project) {
        // Do not reveal that another project exists.
        return Err(Refusal::not_found("project", project).into());
    }
    let Some(name) = caller.name() else { return Err(AgentRefusal::NotRegistered.into()) };
    let with_rights = |trusted, is_lead, post| Participant { name: name.clone(), project: project.clone(), trusted, is_lead, post, outside: None };
    Ok(match caller {
        Caller::Person(_) | Caller::Runner => {
            projects::read(connection, project).await?;
            with_rights(true, true, LeadPost::PERSON)
        }
        Caller::Run(run) => with_rights(true, matches!(run.phase, AgentKind::Planner | AgentKind::Orchestrator), LeadPost::DEFAULT),
        Caller::Agent(_) | Caller::Invite(_) => {
            let row =
                sqlx::query("SELECT trusted, roles, class, lead_role, zone FROM agents WHERE project_id = $1 AND name = $2 AND left_at IS NULL")
                    .bind(project.as_str())
                    .bind(&name)
                    .fetch_optional(connection)
                    .await?
                    .ok_or_else(|| AgentRefusal::Left { agent: name.clone() })?;
            let roles: Vec<Role> = serde_json::from_str(row.try_get("roles")?)?;
            let trusted: bool = row.try_get("trusted")?;
            let post = post_of(&row)?.unwrap_or(LeadPost::DEFAULT);
            with_rights(trusted, AgentClass::leads(optional(&row, "class")?, trusted, &roles), post)
        }
    })
}
