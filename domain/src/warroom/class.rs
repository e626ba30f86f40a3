//! The class of an agent: what it can do. Its roles say what it is assigned to do.

pub mod refusal;

use std::time::Duration;

use crate::runs::agent_kind::AgentKind;
use crate::team::role::{Role, is_lead};
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The capabilities of an agent, which never change.
    AgentClass, "class" {
        /// Coordinates and assigns work. Reads the code, and does not change it.
        Lead = "lead",
        /// Changes the code. No other class does.
        Coder = "coder",
        /// Builds, tests and runs commands.
        Builder = "builder",
        /// Knows a part of the code and answers questions about it.
        Oracle = "oracle",
        /// Investigates one question and reports.
        Recon = "recon",
    }
}

impl AgentClass {
    /// The class of a managed agent, which its kind decides. A reviewer builds and tests what others wrote, and changes nothing.
    pub const fn of(kind: AgentKind) -> Self {
        match kind {
            AgentKind::Planner | AgentKind::Orchestrator => Self::Lead,
            AgentKind::Coder => Self::Coder,
            AgentKind::Reviewer => Self::Builder,
            AgentKind::Oracle => Self::Oracle,
        }
    }

    /// The class of an external agent: the one that it named, or else the one of its roles.
    pub fn of_external(named: Option<Self>, roles: &[Role]) -> Self {
        named.unwrap_or(if roles.contains(&Role::Lead) { Self::Lead } else { Self::Coder })
    }

    /// Whether an external agent leads: it is trusted, has the role, and did not name another class.
    pub fn leads(named: Option<Self>, trusted: bool, roles: &[Role]) -> bool {
        is_lead(trusted, roles) && Self::of_external(named, roles) == Self::Lead
    }

    /// Whether it may be assigned a task that changes code, and submit it. A lead may, because the lead of a small team also works.
    pub const fn takes_coder_tasks(self) -> bool {
        self.edits() || matches!(self, Self::Lead)
    }

    /// Whether it may change files of the repository.
    pub const fn edits(self) -> bool {
        matches!(self, Self::Coder)
    }

    /// Whether it may run commands in a checkout.
    pub const fn runs_commands(self) -> bool {
        !matches!(self, Self::Oracle)
    }

    /// How old the report of an agent about its own context may be before its messages are refused. Classes that work all the time use up their
    /// context faster than those that wait for questions.
    pub const fn report_due(self) -> Duration {
        let minutes = match self {
            Self::Coder | Self::Builder | Self::Recon => 5,
            Self::Lead => 15,
            Self::Oracle => 30,
        };
        Duration::from_secs(minutes * 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_coders_edit_and_only_oracles_run_nothing() {
        let [edit, idle] = [AgentClass::edits, |class: AgentClass| !class.runs_commands()]
            .map(|has| AgentClass::ALL.iter().copied().filter(|class| has(*class)).collect::<Vec<_>>());
        assert_eq!(edit, [AgentClass::Coder]);
        assert_eq!(idle, [AgentClass::Oracle]);
    }

    #[test]
    fn reports_are_due_by_class() {
        let minutes = AgentClass::ALL.iter().map(|class| (class.as_str(), class.report_due().as_secs() / 60)).collect::<Vec<_>>();
        assert_eq!(minutes, [("lead", 15), ("coder", 5), ("builder", 5), ("oracle", 30), ("recon", 5)]);
    }

    #[test]
    fn external_agents_are_coders_unless_they_lead_or_name_a_class() {
        assert_eq!(AgentClass::of_external(None, &[Role::Tester]), AgentClass::Coder);
        assert_eq!(AgentClass::of_external(None, &[Role::Lead, Role::Tester]), AgentClass::Lead);
        assert_eq!(AgentClass::of_external(Some(AgentClass::Oracle), &[Role::Lead]), AgentClass::Oracle);
        let takers = AgentClass::ALL.iter().filter(|class| class.takes_coder_tasks()).map(|class| class.as_str()).collect::<Vec<_>>();
        assert_eq!(takers, ["lead", "coder"]);
    }

    #[test]
    fn kind_of_a_managed_agent_decides_its_class() {
        let classes = AgentKind::ALL.iter().map(|kind| AgentClass::of(*kind)).collect::<Vec<_>>();
        assert_eq!(classes, [AgentClass::Lead, AgentClass::Coder, AgentClass::Builder, AgentClass::Lead, AgentClass::Oracle]);
    }
}
