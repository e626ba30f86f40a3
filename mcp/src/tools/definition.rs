//! The definition of a tool: name, description, arguments, audience, effect and admission.
//!
//! List, dispatch, documentation and bridge read it. It must not know what a tool does.

use db::{Caller, FeaturesInUse};
use domain::refusal::Refusal;
use domain::team::person::Right;
use domain::team::token::TokenReach;
use rmcp::handler::server::router::tool::ToolRoute;

use crate::handler::Handler;
use crate::tools::managed::Managed;

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
    /// Reads at a cost of its own.
    Searches,
    Writes,
    /// Approves, verifies or finishes work, which a person's companion may not.
    Decides,
    /// Changes the caller's own token and nothing else, which nobody needs a permission for.
    Renews,
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
    pub(crate) managed: Managed,
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

/// The facts that decide, beside the caller itself, which tools it is listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ListingFacts {
    /// Of an external agent.
    pub(crate) is_trusted: bool,
    pub(crate) is_lead: bool,
    pub(crate) reach: TokenReach,
    /// Of the project of a managed agent.
    pub(crate) in_use: FeaturesInUse,
}

impl ToolDefinition {
    /// Whether the caller may call the tool.
    pub(crate) fn allows(&self, caller: &Caller) -> bool {
        self.audience.includes(caller) && !self.is_beyond(caller)
    }

    /// Whether the caller is listed the tool, because it can use it.
    pub(crate) fn shows(&self, caller: &Caller, facts: ListingFacts) -> bool {
        let can_use = match caller {
            Caller::Run(run) => self.audience.managed.is_listed(run.phase, facts.in_use),
            Caller::Agent(_) => match self.audience.external {
                External::Everyone => true,
                External::Trusted => facts.is_trusted,
                External::Leads => facts.is_lead,
                External::Nobody => false,
            },
            Caller::Person(_) | Caller::Runner | Caller::Invite(_) => true,
        };
        can_use && self.allows(caller)
    }

    /// Whether the tool changes something and the caller may only read, or it decides something and the caller makes no decisions.
    pub(crate) fn is_beyond(&self, caller: &Caller) -> bool {
        self.require_rights(caller).is_err()
    }

    /// # Errors
    /// When the caller lacks the right to call the tool, whatever it is about.
    pub(crate) fn require_rights(&self, caller: &Caller) -> Result<(), Refusal> {
        let action = format!("calling {}", self.name);
        match self.effect {
            Effect::Reads | Effect::Searches | Effect::Renews => Ok(()),
            Effect::Writes => caller.require_may_write(&action),
            Effect::Decides => {
                caller.require_may_write(&action)?;
                if caller.is_person() { Ok(caller.person(Right::Decide, &action).map(drop)?) } else { Ok(()) }
            }
        }
    }
}

impl Effect {
    /// Whether the tool only reads.
    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Reads | Self::Searches)
    }
}

impl Audience {
    /// Whether the tool is for callers of this kind.
    fn includes(&self, caller: &Caller) -> bool {
        match caller {
            Caller::Run(run) => self.managed.kinds.contains(&run.phase),
            Caller::Person(_) | Caller::Runner => self.human,
            Caller::Agent(_) => self.external != External::Nobody,
            Caller::Invite(_) => self.invite,
        }
    }
}
