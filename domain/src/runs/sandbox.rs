//! The sandbox of managed agents: its tiers, what it refused, and what a person allowed for a project.
//!
//! Must not know how a tier is enforced.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// How much of the machine an agent can reach. A later tier includes the protection of the earlier ones.
    SandboxTier, "sandbox" {
        /// The agent runs as the user and can do what the user can.
        None = "none",
        /// Own processes, a sealed home, and a repository in which only the task's own branch can be written. The network is open.
        Jail = "jail",
        /// The same, and only allowed hosts can be reached.
        JailNet = "jail+net",
    }
}

impl SandboxTier {
    /// Describes the tier in one sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::None => "agents run as you and can read and change whatever you can",
            Self::Jail => {
                "agents see only allowed parts of your home, and write only to their checkout, their branch, a /tmp of their own and caches of tools; the network is open"
            }
            Self::JailNet => {
                "agents see only allowed parts of your home, write only to their checkout, their branch, a /tmp of their own and caches of tools, and reach only allowed hosts"
            }
        }
    }
}

/// The sandbox of the next agents, as the runner found it out by trying.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SandboxStatus {
    /// The tier; `None` while no agent starts.
    pub tier: Option<SandboxTier>,
    /// The reason why there is no jail, or why no agent starts, with the cure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The tiers that the owner has to choose from before agents start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<SandboxTier>,
}

impl SandboxStatus {
    /// The status once the owner chose `tier`, before the runner applied it.
    pub fn with_choice(self, tier: Option<SandboxTier>) -> Self {
        match tier.filter(|tier| self.choices.contains(tier)) {
            Some(tier) => Self { tier: Some(tier), detail: None, choices: Vec::new() },
            None => self,
        }
    }
}

events! {
    /// A change of the sandbox of all agents.
    SandboxEvent {
        /// The owner answered which tier agents get.
        Chosen "sandbox_chosen" { tier: SandboxTier }
    }
}

vocabulary! {
    /// The kind of access that a jail refused or a person allowed.
    AccessKind, "access" {
        Read = "read",
        Write = "write",
        /// A network connection to `host` or `host:port`.
        Host = "host",
        /// Signing commits, whose keys are hidden. It cannot be allowed.
        Sign = "sign",
    }
}

/// An access to a path or a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
pub struct Access {
    pub kind: AccessKind,
    /// A path, with `~` for the home folder, or a host.
    pub target: String,
}

impl Access {
    pub fn new(kind: AccessKind, target: impl Into<String>) -> Self {
        Self { kind, target: target.into() }
    }

    /// Says that a jail refused it.
    pub fn refused(&self) -> String {
        match self.kind {
            AccessKind::Read => format!("{} is hidden by the jail", self.target),
            AccessKind::Write => format!("the jail refused to write {}", self.target),
            AccessKind::Host => format!("the jail refused a connection to {}", self.target),
            AccessKind::Sign => "commits are not signed in the jail, because it hides the keys".to_owned(),
        }
    }

    /// Whether a person may allow it: a host, or a path that is neither a whole home nor the whole machine.
    pub fn is_allowable(&self) -> bool {
        let target = self.target.as_str();
        if target.ends_with('/') || target.len() > 4096 || target.chars().any(char::is_control) {
            return false;
        }
        match self.kind {
            AccessKind::Read | AccessKind::Write => {
                let has_parts = target.strip_prefix("~/").or_else(|| target.strip_prefix('/')).is_some_and(|rest| !rest.is_empty());
                has_parts && !target.split('/').any(|part| matches!(part, "." | "..")) && target != "/home"
            }
            AccessKind::Host => {
                !target.is_empty() && target.chars().all(|character| character.is_ascii_alphanumeric() || ".-_[]:".contains(character))
            }
            AccessKind::Sign => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_and_hosts_can_be_allowed() {
        for (kind, target, allowed) in [
            (AccessKind::Read, "~/.config/tool", true),
            (AccessKind::Write, "/srv/cache", true),
            (AccessKind::Host, "registry.npmjs.org:443", true),
            (AccessKind::Read, "~", false),
            (AccessKind::Write, "/", false),
            (AccessKind::Write, "/home", false),
            (AccessKind::Read, "~/../ann", false),
            (AccessKind::Read, "code", false),
            (AccessKind::Host, "https://x", false),
            (AccessKind::Host, "", false),
            (AccessKind::Sign, "commits", false),
        ] {
            assert_eq!(Access::new(kind, target).is_allowable(), allowed, "{kind} {target}");
        }
    }

    #[test]
    fn choice_answers_only_an_open_question() {
        let asked = SandboxStatus { tier: None, detail: Some("choose".to_owned()), choices: vec![SandboxTier::Jail, SandboxTier::None] };
        assert_eq!(asked.clone().with_choice(None), asked);
        assert_eq!(asked.clone().with_choice(Some(SandboxTier::JailNet)), asked, "it is not offered");
        let answered = asked.with_choice(Some(SandboxTier::None));
        assert_eq!((answered.tier, answered.choices.is_empty()), (Some(SandboxTier::None), true));
        let settled = SandboxStatus { tier: Some(SandboxTier::Jail), detail: None, choices: Vec::new() };
        assert_eq!(settled.clone().with_choice(Some(SandboxTier::None)), settled, "an earlier answer changes nothing");
    }

    #[test]
    fn later_tier_is_stronger() {
        assert!(SandboxTier::None < SandboxTier::Jail && SandboxTier::Jail < SandboxTier::JailNet);
    }
}
