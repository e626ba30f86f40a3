//! How tools appear in the lists of managed agents, which pay for each word in every session.
//!
//! A list omits what the agent has no use for, and words the rest for its kind. The server accepts more than a list shows, and the store
//! checks every call. It must not know a tool by name.

use db::FeaturesInUse;
use domain::runs::agent_kind::AgentKind;
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

/// The managed agents that may call a tool, and how their lists show it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Managed {
    pub(crate) kinds: &'static [AgentKind],
    pub(crate) need: Need,
    /// Those among `kinds` whose work has no use for it.
    unlisted: &'static [AgentKind],
    /// Arguments that are listed only where they are needed.
    hidden: &'static [(&'static str, Need)],
    adapt: Option<Adapt>,
    /// Whether oracles, which only answer, are listed it.
    to_oracles: bool,
}

/// Adapts the arguments of a tool to an agent kind, and returns the description for it.
pub(crate) type Adapt = fn(AgentKind, &mut JsonObject) -> &'static str;

/// When managed agents have a use for a tool or an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Always,
    /// The project has goals.
    Goals,
    /// A handshake waits for the agent.
    Handshake,
    /// It holds files, and another agent waits for one.
    ClaimWait,
    /// External agents are active.
    ExternalAgents,
    /// The agent, or one that it succeeds, kept a value.
    Memory,
    /// The raid log has an entry.
    RaidLog,
    /// A zone has an oracle.
    Oracle,
    /// Its client calls it before or after a tool of its own, and its model does not.
    Hook,
    /// The runner, or an earlier answer, takes care of it.
    Never,
}

pub(crate) const EVERY_KIND: &[AgentKind] = AgentKind::ALL;
/// The kinds that work on tasks. An oracle answers questions.
pub(crate) const WORKERS: &[AgentKind] = &[AgentKind::Planner, AgentKind::Coder, AgentKind::Reviewer, AgentKind::Orchestrator];
pub(crate) const PLANNERS: &[AgentKind] = &[AgentKind::Planner, AgentKind::Orchestrator];
// A reviewer judges existing work, so it has no questions.
pub(crate) const CAN_ASK: &[AgentKind] = &[AgentKind::Planner, AgentKind::Coder, AgentKind::Orchestrator];
pub(crate) const CAN_DECLARE: &[AgentKind] = &[AgentKind::Planner, AgentKind::Coder];
pub(crate) const TASK_WORKERS: &[AgentKind] = &[AgentKind::Coder, AgentKind::Reviewer];
pub(crate) const CODER_ONLY: &[AgentKind] = &[AgentKind::Coder];
pub(crate) const ORCHESTRATOR_ONLY: &[AgentKind] = &[AgentKind::Orchestrator];

impl Managed {
    /// No managed agent may call the tool.
    pub(crate) const NOBODY: Self = Self::of(&[]);

    pub(crate) const fn of(kinds: &'static [AgentKind]) -> Self {
        Self { kinds, need: Need::Always, unlisted: &[], hidden: &[], adapt: None, to_oracles: false }
    }

    /// Lists the tool only where it is needed.
    pub(crate) const fn listed_for(self, need: Need) -> Self {
        Self { need, ..self }
    }

    /// Lists the tool to none of these kinds.
    pub(crate) const fn unlisted_for(self, unlisted: &'static [AgentKind]) -> Self {
        Self { unlisted, ..self }
    }

    /// Lists each of these arguments only where it is needed.
    pub(crate) const fn hiding(self, hidden: &'static [(&'static str, Need)]) -> Self {
        Self { hidden, ..self }
    }

    /// Lists the tool to oracles too, whatever others need.
    pub(crate) const fn listed_to_oracles(self) -> Self {
        Self { to_oracles: true, ..self }
    }

    pub(crate) const fn adapted(self, adapt: Adapt) -> Self {
        Self { adapt: Some(adapt), ..self }
    }

    /// Whether an agent of this kind, which may call the tool, is listed it.
    pub(crate) fn is_listed(&self, kind: AgentKind, in_use: FeaturesInUse) -> bool {
        match kind {
            AgentKind::Oracle => self.to_oracles,
            _ => self.need.is_met(in_use) && !self.unlisted.contains(&kind),
        }
    }

    /// Rewrites a listed tool for an agent of this kind.
    pub(crate) fn rewrite(&self, kind: AgentKind, in_use: FeaturesInUse, tool: &mut Tool, properties: &mut JsonObject) {
        // Its client asks nobody for permission, and runs only tools that read at the same time.
        tool.annotations = tool.annotations.take().filter(|hints| hints.read_only_hint == Some(true));
        for (argument, _) in self.hidden.iter().filter(|(_, need)| !need.is_met(in_use)) {
            properties.remove(*argument);
        }
        if let Some(adapt) = self.adapt {
            tool.description = Some(adapt(kind, properties).into());
        }
    }
}

/// Removes the descriptions of arguments that the tool's description or the prompt explains.
pub(crate) fn remove_descriptions(properties: &mut JsonObject) {
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        property.remove("description");
        property.remove("default");
    }
}

impl Need {
    fn is_met(self, in_use: FeaturesInUse) -> bool {
        match self {
            Self::Always => true,
            Self::Goals => in_use.goals,
            Self::Handshake => in_use.handshakes,
            Self::ClaimWait => in_use.claim_waits,
            Self::ExternalAgents => in_use.external_agents,
            Self::Memory => in_use.memory,
            Self::RaidLog => in_use.raid_log,
            Self::Oracle => in_use.oracles,
            Self::Hook | Self::Never => false,
        }
    }
}
