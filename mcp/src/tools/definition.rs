//! The definition of a tool: name, description, arguments, audience, effect and admission.
//!
//! List, dispatch, documentation and bridge read it. It must not know what a tool does.

use db::Caller;
use domain::runs::agent_kind::AgentKind;
use domain::team::person::Right;
use rmcp::handler::server::router::tool::ToolRoute;

use crate::handler::Handler;

/// One tool. The type of its arguments is that of the function that `route` registers.
pub(crate) struct ToolDefinition {
    pub(crate) name: &'static str,
    /// At most 300 bytes. The first sentence says when to call it.
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) admission: Admission,
    pub(crate) audience: Audience,
    /// Arguments in which a caller may repeat its own name.
    pub(crate) identity_arguments: &'static [&'static str],
    pub(crate) route: fn(&'static Self) -> ToolRoute<Handler>,
}

/// Whether a tool changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Writes,
}

/// The check before the tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Refuses a run that has ended and an agent that left, before anything is read.
    ActiveReader,
    /// Leaves the check to the store, which makes it together with the write.
    Store,
}

/// The callers that are offered a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Audience {
    /// The kinds of managed agents.
    pub(crate) kinds: &'static [AgentKind],
    /// The human's own client.
    pub(crate) human: bool,
    pub(crate) external: External,
    /// Guests with an invite token, before they register.
    pub(crate) invite: bool,
}

/// The external agents that see a tool. All others may still call it, and read from the store's refusal what they lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum External {
    Everyone,
    /// Agents whose token came from the human.
    Trusted,
    Leads,
    /// The tool is for managed agents, and no external agent may call it.
    Nobody,
}

/// The rights of an external agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) is_trusted: bool,
    pub(crate) is_lead: bool,
}

pub(crate) const NO_KIND: &[AgentKind] = &[];
pub(crate) const EVERY_KIND: &[AgentKind] = AgentKind::ALL;
pub(crate) const PLANNERS: &[AgentKind] = &[AgentKind::Planner, AgentKind::Orchestrator];
// A reviewer judges existing work, so it has no questions.
pub(crate) const CAN_ASK: &[AgentKind] = &[AgentKind::Planner, AgentKind::Coder, AgentKind::Orchestrator];
pub(crate) const CAN_DECLARE: &[AgentKind] = &[AgentKind::Planner, AgentKind::Coder];
pub(crate) const TASK_WORKERS: &[AgentKind] = &[AgentKind::Coder, AgentKind::Reviewer];
pub(crate) const CODER_ONLY: &[AgentKind] = &[AgentKind::Coder];
pub(crate) const ORCHESTRATOR_ONLY: &[AgentKind] = &[AgentKind::Orchestrator];

impl ToolDefinition {
    /// Whether the caller may call the tool.
    pub(crate) fn allows(&self, caller: &Caller) -> bool {
        self.audience.includes(caller) && !self.is_beyond(caller)
    }

    /// Whether the caller is listed the tool, because it can use it.
    pub(crate) fn shows(&self, caller: &Caller, standing: Standing) -> bool {
        self.allows(caller)
            && (!matches!(caller, Caller::Agent(_))
                || match self.audience.external {
                    External::Everyone => true,
                    External::Trusted => standing.is_trusted,
                    External::Leads => standing.is_lead,
                    External::Nobody => false,
                })
    }

    /// Whether the tool changes something, and the caller is a person who may only read.
    pub(crate) fn is_beyond(&self, caller: &Caller) -> bool {
        self.effect == Effect::Writes && matches!(caller, Caller::Person(person) if !person.role.may(Right::Work))
    }
}

impl Audience {
    /// Whether the tool is for callers of this kind.
    fn includes(&self, caller: &Caller) -> bool {
        match caller {
            Caller::Run(run) => self.kinds.contains(&run.phase),
            Caller::Person(_) | Caller::Runner => self.human,
            Caller::Agent(_) => self.external != External::Nobody,
            Caller::Invite(_) => self.invite,
        }
    }
}
