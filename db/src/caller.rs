//! The caller of a use case. A token determines it, never an argument. Must not know how the token was sent.

use domain::actor::Actor;
use domain::board::transition::Mover;
use domain::context::reader::Reader;
use domain::id::{ProjectId, RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::team::agent::RUNNER;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::person::{PersonRefusal, PersonRole, Right, participant};
use domain::team::token::refusal::TokenRefusal;
use domain::team::token::{Permission, Permissions, TokenAudience, TokenReach};
use domain::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// Someone at the board, through a token or a browser session.
    Person(PersonCaller),
    Runner,
    Run(RunCaller),
    Agent(AgentCaller),
    /// The holder of a project's invite token, which has no name yet.
    Invite(InviteCaller),
}

/// A person of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonCaller {
    pub id: i64,
    pub name: String,
    pub role: PersonRole,
    /// Whether it is the person's own coding agent, which works for them and makes no decisions.
    pub is_companion: bool,
}

/// A managed agent, identified by the token of its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCaller {
    pub run_id: RunId,
    pub task_id: TaskId,
    pub project_id: ProjectId,
    pub phase: AgentKind,
    /// The client's id of this request. A repeated request gets the stored answer.
    pub call_id: Option<String>,
}

/// An external agent, identified by its own token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCaller {
    pub project_id: ProjectId,
    /// The name, prefixed with the team if there is one.
    pub name: String,
    /// The permissions of its token.
    pub permissions: Permissions,
    /// The client's id of this request. A repeated request gets the stored answer.
    pub call_id: Option<String>,
}

/// An agent without a name, identified by a project's invite token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InviteCaller {
    pub project_id: ProjectId,
    /// The permissions of its token, and of those of the agents that register with it.
    pub permissions: Permissions,
    /// When it ends, and with it those tokens.
    pub expires_at: Option<Timestamp>,
    /// The client's id of this request. A repeated request returns the first registration.
    pub call_id: Option<String>,
}

/// A caller with what its credential allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub caller: Caller,
    /// The interfaces that accept the credential.
    pub audience: TokenAudience,
    /// The projects in which an agent may act: beyond its own only through [`Db::enter_project`](crate::Db::enter_project).
    pub reach: TokenReach,
    /// When it stops to be valid, if it does.
    pub ends_at: Option<Timestamp>,
}

impl Holder {
    /// Refuses a credential that has ended, or is not for `interface`.
    pub(crate) fn require(&self, interface: TokenAudience, now: Timestamp) -> Result<(), TokenRefusal> {
        if let Some(at) = self.ends_at.filter(|at| *at <= now) {
            return Err(TokenRefusal::Expired { at });
        }
        if self.audience.includes(interface) { Ok(()) } else { Err(TokenRefusal::WrongAudience { wanted: interface }) }
    }
}

impl Caller {
    pub fn actor(&self) -> Actor {
        self.name().map_or(Actor::Owner, Actor::from)
    }

    /// Returns the caller's name as a participant, or `None` before it registered.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Person(person) => Some(participant(person.role, &person.name)),
            Self::Runner => Some(RUNNER.to_owned()),
            Self::Run(run) => Some(Run::agent_name(run.phase, &run.task_id)),
            Self::Agent(agent) => Some(agent.name.clone()),
            Self::Invite(_) => None,
        }
    }

    /// Returns the caller's only project, or `None` if it may use any.
    pub fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Person(_) | Self::Runner => None,
            Self::Run(run) => Some(&run.project_id),
            Self::Agent(agent) => Some(&agent.project_id),
            Self::Invite(room) => Some(&room.project_id),
        }
    }

    /// Returns the caller as shared context sees it.
    ///
    /// # Errors
    /// When the caller has no name yet, or is the runner, which shares nothing.
    pub fn reader(&self) -> Result<Reader, AgentRefusal> {
        match self {
            Self::Person(person) => Ok(Reader::Person { name: person.name.clone(), role: person.role }),
            Self::Run(run) => {
                Ok(Reader::Run { project: run.project_id.clone(), run: run.run_id.clone(), kind: run.phase, task: run.task_id.clone() })
            }
            Self::Agent(agent) => {
                Ok(Reader::Agent { project: agent.project_id.clone(), name: agent.name.clone(), admin: agent.permissions.has(Permission::Admin) })
            }
            Self::Runner | Self::Invite(_) => Err(AgentRefusal::NotRegistered),
        }
    }

    pub fn run(&self) -> Option<&RunId> {
        match self {
            Self::Run(run) => Some(&run.run_id),
            Self::Person(_) | Self::Runner | Self::Agent(_) | Self::Invite(_) => None,
        }
    }

    /// Sets the client's id of the request. No answers are stored for the human and the runner.
    pub fn with_call_id(mut self, call_id: Option<String>) -> Self {
        match &mut self {
            Self::Run(run) => run.call_id = call_id,
            Self::Agent(agent) => agent.call_id = call_id,
            Self::Invite(room) => room.call_id = call_id,
            Self::Person(_) | Self::Runner => {}
        }
        self
    }

    /// Returns the scope of stored answers and the id of the call.
    pub(crate) fn idempotency_key(&self) -> Option<(String, &str)> {
        match self {
            Self::Run(run) => run.call_id.as_deref().map(|call| (run.run_id.to_string(), call)),
            Self::Agent(agent) => agent.call_id.as_deref().map(|call| (agent_call_scope(&agent.project_id, &agent.name), call)),
            Self::Invite(room) => room.call_id.as_deref().map(|call| (invite_call_scope(&room.project_id), call)),
            Self::Person(_) | Self::Runner => None,
        }
    }

    /// Returns the mover for any task. An external agent has none, because its role depends on the task.
    pub(crate) fn mover(&self) -> Option<Mover> {
        match self {
            Self::Person(_) => Some(Mover::Human),
            Self::Runner => Some(Mover::Runner),
            Self::Run(run) => Some(run.phase.into()),
            Self::Agent(_) | Self::Invite(_) => None,
        }
    }

    pub fn is_person(&self) -> bool {
        matches!(self, Self::Person(_))
    }

    /// Refuses everyone but persons who may work on boards.
    pub(crate) fn require_person(&self, action: &str) -> Result<(), PersonRefusal> {
        self.person(Right::Work, action).map(drop)
    }

    /// Refuses everyone but persons who may decide about work, in person.
    pub(crate) fn require_decision(&self, action: &str) -> Result<(), PersonRefusal> {
        self.person(Right::Decide, action).map(drop)
    }

    /// Refuses everyone but the owner.
    pub(crate) fn require_owner(&self, action: &str) -> Result<(), PersonRefusal> {
        self.person(Right::Administer, action).map(drop)
    }

    /// Refuses persons and agents who may only read. `action` is what they attempt.
    ///
    /// # Errors
    /// When the caller may only read.
    pub fn require_may_write(&self, action: &str) -> Result<(), Refusal> {
        match self {
            Self::Person(person) => Ok(person.require(Right::Work, action)?),
            Self::Agent(agent) if !agent.permissions.has(Permission::Write) => {
                Err(TokenRefusal::NotPermitted { permission: Permission::Write, action: action.to_owned() }.into())
            }
            Self::Runner | Self::Run(_) | Self::Agent(_) | Self::Invite(_) => Ok(()),
        }
    }

    /// Returns the person who calls.
    ///
    /// # Errors
    /// When the caller is not a person, or a person without `right`.
    pub fn person(&self, right: Right, action: &str) -> Result<&PersonCaller, PersonRefusal> {
        match self {
            Self::Person(person) => person.require(right, action).map(|()| person),
            Self::Runner | Self::Run(_) | Self::Agent(_) | Self::Invite(_) => Err(PersonRefusal::HumanOnly { action: action.to_owned() }),
        }
    }

    /// The owner of a board, under the name that tests give them.
    #[cfg(any(test, feature = "testing"))]
    pub fn owner() -> Self {
        Self::Person(PersonCaller { id: domain::team::person::OWNER, name: "owner".to_owned(), role: PersonRole::Owner, is_companion: false })
    }
}

impl PersonCaller {
    fn require(&self, right: Right, action: &str) -> Result<(), PersonRefusal> {
        let action = || action.to_owned();
        match self.role.may(right) {
            true if self.is_companion && right >= Right::Decide => Err(PersonRefusal::NotByCompanion { action: action() }),
            true => Ok(()),
            false => Err(PersonRefusal::WrongRole { role: self.role, action: action() }),
        }
    }
}

/// Returns the scope of the answers stored for an agent.
pub(crate) fn agent_call_scope(project: &ProjectId, name: &str) -> String {
    format!("{project}/{name}")
}

/// Returns the scope of the answers stored for an invite token. No agent name ends like this.
pub(crate) fn invite_call_scope(project: &ProjectId) -> String {
    format!("{project}/*")
}
