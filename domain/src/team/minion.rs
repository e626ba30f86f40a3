//! Minions: helpers that an agent starts itself, and the policy that limits their number.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::refusal::category::refusals;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The scope of the policy for agents without their own policy.
pub const GLOBAL: &str = "global";

/// The maximum number of minions that a policy can allow.
pub const MAX_MINIONS: u32 = 100;

/// A limit on minions, set by a lead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SpawnPolicy {
    /// `global`, or the name of an agent, whose own policy takes precedence.
    pub scope: String,
    pub enabled: bool,
    /// The maximum number of minions at the same time.
    pub max_minions: u32,
    /// None for the default policy.
    pub set_by: Option<String>,
    pub set_at: Option<Timestamp>,
}

impl Default for SpawnPolicy {
    fn default() -> Self {
        Self { scope: GLOBAL.to_owned(), enabled: true, max_minions: 3, set_by: None, set_at: None }
    }
}

/// The current limit of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MinionQuota {
    pub agent_name: String,
    /// The scope of the policy that applies.
    pub scope: String,
    pub enabled: bool,
    pub max_minions: u32,
    pub active_minions: u32,
    pub can_spawn: bool,
}

impl MinionQuota {
    pub fn new(agent_name: &str, policy: &SpawnPolicy, active_minions: u32) -> Self {
        Self {
            agent_name: agent_name.to_owned(),
            scope: policy.scope.clone(),
            enabled: policy.enabled,
            max_minions: policy.max_minions,
            active_minions,
            can_spawn: policy.enabled && active_minions < policy.max_minions,
        }
    }
}

vocabulary! {
    /// The status of a minion.
    MinionStatus, "minion status" {
        Spawned = "spawned",
        Completed = "completed",
        Failed = "failed",
    }
}

/// A minion that its agent logged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Minion {
    pub id: i64,
    /// The agent that started it.
    pub pilot: String,
    pub task_description: String,
    pub status: MinionStatus,
    pub result: Option<String>,
    pub spawned_at: Timestamp,
    pub completed_at: Option<Timestamp>,
}

events! {
    /// A change of the helpers or of their limit.
    MinionEvent {
        SpawnPolicySet "spawn_policy_set" { scope: String }
        Logged "minion_logged" { minion: i64, status: MinionStatus }
    }
}

refusals! {
    /// Why an agent may not start a helper.
    MinionRefusal {
        #[error("{agent} cannot start a helper: {problem}")]
        LimitReached { agent: String, problem: String } => Conflict "no-minion",
    }
}

impl MinionRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::LimitReached { .. } => "Do the work yourself, or wait until a helper has ended and log it with log_minion.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_policy_allows_three_minions() {
        let can = |active| MinionQuota::new("mara", &SpawnPolicy::default(), active).can_spawn;
        assert_eq!([can(0), can(2), can(3), can(4)], [true, true, false, false]);
        let off = SpawnPolicy { enabled: false, ..SpawnPolicy::default() };
        assert!(!MinionQuota::new("mara", &off, 0).can_spawn);
    }

    #[test]
    fn minions_and_policies_have_a_stable_json_form() {
        let at = Timestamp::from_milliseconds(1_769_850_300_000);
        let minion = Minion {
            id: 4,
            pilot: "mara".to_owned(),
            task_description: "Looks around".to_owned(),
            status: MinionStatus::Spawned,
            result: None,
            spawned_at: at,
            completed_at: None,
        };
        let policy = SpawnPolicy { set_by: Some("ann".to_owned()), set_at: Some(at), ..SpawnPolicy::default() };
        let json = [serde_json::to_string(&minion), serde_json::to_string(&policy), serde_json::to_string(&MinionQuota::new("mara", &policy, 1))];
        let lines: Vec<String> = json.into_iter().map(Result::unwrap).collect();
        assert_eq!(serde_json::from_str::<Minion>(&lines[0]).unwrap(), minion);
        assert_eq!(serde_json::from_str::<SpawnPolicy>(&lines[1]).unwrap(), policy);
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"id":4,"pilot":"mara","task_description":"Looks around","status":"spawned","result":null,"spawned_at":"2026-01-31T09:05:00.000Z","completed_at":null}
        {"scope":"global","enabled":true,"max_minions":3,"set_by":"ann","set_at":"2026-01-31T09:05:00.000Z"}
        {"agent_name":"mara","scope":"global","enabled":true,"max_minions":3,"active_minions":1,"can_spawn":true}
        "#);
    }
}
