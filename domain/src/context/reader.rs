//! Readers: a caller as shared context sees it. It writes and reads messages, and owns memory.
//!
//! Must not know tokens, which decide which reader a caller is.

use crate::id::{ProjectId, RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::run::Run;
use crate::team::person::{PersonRole, Right, participant};

/// A caller with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// A managed agent.
    Run { project: ProjectId, run: RunId, kind: AgentKind, task: TaskId },
    /// An external agent, and whether its token has the admin permission.
    Agent { project: ProjectId, name: String, admin: bool },
    /// A person, or an agent with the token of a person.
    Person { name: String, role: PersonRole },
}

impl Reader {
    /// Returns its name as a participant.
    pub fn name(&self) -> String {
        match self {
            Self::Run { kind, task, .. } => Run::agent_name(*kind, task),
            Self::Agent { name, .. } => name.clone(),
            Self::Person { name, role } => participant(*role, name),
        }
    }

    /// Returns the kind of sender that its messages name.
    pub const fn sender_type(&self) -> &'static str {
        match self {
            Self::Run { kind, .. } => kind.as_str(),
            Self::Agent { .. } => "agent",
            Self::Person { .. } => "human",
        }
    }

    /// Returns its only project, or `None` for a person.
    pub const fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Run { project, .. } | Self::Agent { project, .. } => Some(project),
            Self::Person { .. } => None,
        }
    }

    /// Whether it has the admin permission, which only a person gives.
    pub const fn is_admin(&self) -> bool {
        matches!(self, Self::Agent { admin: true, .. }) || self.is_owner()
    }

    /// Whether it is the owner of the board, who may read what is private to others.
    pub const fn is_owner(&self) -> bool {
        matches!(self, Self::Person { role, .. } if role.may(Right::Administer))
    }

    /// Returns what only this run, external agent or person is. No two readers of a project share it.
    pub fn own_key(&self) -> String {
        match self {
            Self::Run { run, .. } => format!("run:{run}"),
            Self::Agent { .. } | Self::Person { .. } => format!("name:{}", self.name()),
        }
    }

    /// Returns its lasting identity, which it shares with its successors: for a managed agent, the later agents of its kind; for a coder,
    /// those of its task. No name of an agent contains a colon.
    pub fn identity_key(&self) -> String {
        match self {
            Self::Run { kind: kind @ AgentKind::Coder, task, .. } => format!("kind:{kind}:{task}"),
            Self::Run { kind, .. } => format!("kind:{kind}"),
            Self::Agent { .. } | Self::Person { .. } => format!("name:{}", self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kind: AgentKind, run: u64, task: u64) -> Reader {
        Reader::Run { project: ProjectId::new(1), run: RunId::new(run), kind, task: TaskId::new(task) }
    }

    #[test]
    fn successors_share_the_identity_and_nothing_else() {
        let (first, next, other) = (run(AgentKind::Coder, 1, 7), run(AgentKind::Coder, 2, 7), run(AgentKind::Coder, 3, 8));
        assert_eq!(first.identity_key(), next.identity_key());
        assert_ne!(first.own_key(), next.own_key());
        assert_ne!(first.identity_key(), other.identity_key(), "the coder of another task is another agent");
        let (judge, later) = (run(AgentKind::Reviewer, 4, 7), run(AgentKind::Reviewer, 5, 8));
        assert_eq!(judge.identity_key(), later.identity_key(), "the reviewers of a project succeed each other");
        assert_ne!(judge.identity_key(), first.identity_key());
        let named = |name: &str| Reader::Agent { project: ProjectId::new(1), name: name.to_owned(), admin: false };
        assert_ne!(named("RUN-001").own_key(), first.own_key(), "a name cannot be mistaken for a run");
        assert_ne!(named("reviewer").identity_key(), judge.identity_key());
    }

    #[test]
    fn admin_permission_belongs_to_the_owner_and_to_agents_that_got_it() {
        let person = |role| Reader::Person { name: "ann".to_owned(), role };
        assert_eq!([PersonRole::Owner, PersonRole::Member, PersonRole::Viewer].map(|role| person(role).is_admin()), [true, false, false]);
        assert!(!run(AgentKind::Orchestrator, 1, 1).is_admin());
        let agent = |admin| Reader::Agent { project: ProjectId::new(1), name: "mara".to_owned(), admin };
        assert_eq!([false, true].map(|admin| (agent(admin).is_admin(), agent(admin).is_owner())), [(false, false), (true, false)]);
        assert_eq!((person(PersonRole::Owner).name(), person(PersonRole::Member).name()), ("human".to_owned(), "human/ann".to_owned()));
    }
}
