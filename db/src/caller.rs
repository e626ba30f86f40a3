//! The caller of a use case. A token determines it, never an argument. Must not know how the token was sent.

use domain::actor::Actor;
use domain::board::transition::Mover;
use domain::id::{ProjectId, RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::team::agent::{HUMAN, RUNNER};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    Human,
    Runner,
    Run(RunCaller),
    Agent(AgentCaller),
    /// The holder of a project's invite token, which has no name yet.
    Invite(InviteCaller),
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
    /// The client's id of this request. A repeated request gets the stored answer.
    pub call_id: Option<String>,
}

/// An agent without a name, identified by a project's invite token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InviteCaller {
    pub project_id: ProjectId,
    /// The client's id of this request. A repeated request returns the first registration.
    pub call_id: Option<String>,
}

impl Caller {
    pub fn actor(&self) -> Actor {
        self.name().map_or(Actor::Human, Actor::from)
    }

    /// Returns the caller's name as a participant, or `None` before it registered.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Human => Some(HUMAN.to_owned()),
            Self::Runner => Some(RUNNER.to_owned()),
            Self::Run(run) => Some(Run::agent_name(run.phase, &run.task_id)),
            Self::Agent(agent) => Some(agent.name.clone()),
            Self::Invite(_) => None,
        }
    }

    /// Returns the caller's only project, or `None` if it may use any.
    pub fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Human | Self::Runner => None,
            Self::Run(run) => Some(&run.project_id),
            Self::Agent(agent) => Some(&agent.project_id),
            Self::Invite(room) => Some(&room.project_id),
        }
    }

    pub fn run(&self) -> Option<&RunId> {
        match self {
            Self::Run(run) => Some(&run.run_id),
            Self::Human | Self::Runner | Self::Agent(_) | Self::Invite(_) => None,
        }
    }

    /// Sets the client's id of the request. No answers are stored for the human and the runner.
    pub fn with_call_id(mut self, call_id: Option<String>) -> Self {
        match &mut self {
            Self::Run(run) => run.call_id = call_id,
            Self::Agent(agent) => agent.call_id = call_id,
            Self::Invite(room) => room.call_id = call_id,
            Self::Human | Self::Runner => {}
        }
        self
    }

    /// Returns the scope of stored answers and the id of the call.
    pub(crate) fn idempotency_key(&self) -> Option<(String, &str)> {
        match self {
            Self::Run(run) => run.call_id.as_deref().map(|call| (run.run_id.to_string(), call)),
            Self::Agent(agent) => agent.call_id.as_deref().map(|call| (agent_call_scope(&agent.project_id, &agent.name), call)),
            Self::Invite(room) => room.call_id.as_deref().map(|call| (invite_call_scope(&room.project_id), call)),
            Self::Human | Self::Runner => None,
        }
    }

    /// Returns the mover for any task. An external agent has none, because its role depends on the task.
    pub(crate) fn mover(&self) -> Option<Mover> {
        match self {
            Self::Human => Some(Mover::Human),
            Self::Runner => Some(Mover::Runner),
            Self::Run(run) => Some(run.phase.into()),
            Self::Agent(_) | Self::Invite(_) => None,
        }
    }

    /// Refuses everyone but the human.
    pub(crate) fn require_human(&self, action: &str) -> Result<(), Refusal> {
        match self {
            Self::Human => Ok(()),
            Self::Runner | Self::Run(_) | Self::Agent(_) | Self::Invite(_) => Err(Refusal::HumanOnly { action: action.to_owned() }),
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
