//! Handshakes: plans that each target must acknowledge.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::ProjectId;
use crate::refusal::category::refusals;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// Whether a handshake has all its answers.
    HandshakeStatus, "handshake status" {
        Pending = "pending",
        Completed = "completed",
    }
}

/// A plan and its targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Handshake {
    pub id: i64,
    pub project_id: ProjectId,
    pub initiated_by: String,
    pub message: String,
    pub status: HandshakeStatus,
    /// In the order of their names.
    pub targets: Vec<HandshakeTarget>,
    pub created_at: Timestamp,
    pub completed_at: Option<Timestamp>,
}

/// A participant that must acknowledge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = HandshakeTarget)]
pub struct HandshakeTarget {
    pub agent_name: String,
    pub acked_at: Option<Timestamp>,
    /// Whether it left or became unresponsive first. The handshake does not wait for it.
    pub left: bool,
}

impl Handshake {
    /// Returns the targets that have not answered.
    pub fn pending(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter(|target| target.acked_at.is_none() && !target.left).map(|target| target.agent_name.as_str())
    }

    /// Returns the targets that have acknowledged.
    pub fn acknowledged(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter(|target| target.acked_at.is_some()).map(|target| target.agent_name.as_str())
    }
}

events! {
    /// A change of a handshake.
    HandshakeEvent {
        Initiated "handshake_begun" { handshake: i64 }
        Acknowledged "handshake_acknowledged" { handshake: i64, agent: String }
        Completed "handshake_completed" { handshake: i64 }
    }
}

refusals! {
    /// Why a handshake may not be acknowledged.
    HandshakeRefusal {
        #[error("{agent} already acknowledged handshake #{handshake}")]
        AlreadyAcknowledged { handshake: i64, agent: String } => Conflict "acknowledged-before",
        #[error("{agent} is not a target of handshake #{handshake}")]
        NotATarget { handshake: i64, agent: String } => Forbidden "not-asked",
    }
}

impl HandshakeRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::AlreadyAcknowledged { .. } => "No further answer is needed; handshake_status shows who has not answered.".to_owned(),
            Self::NotATarget { .. } => "Leave it to the targets; handshake_status lists them.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_excludes_acknowledged_and_departed_targets() {
        let at = Timestamp::from_milliseconds(1_769_850_300_000);
        let target = |name: &str, acked_at, left| HandshakeTarget { agent_name: name.to_owned(), acked_at, left };
        let handshake = Handshake {
            id: 2,
            project_id: ProjectId::new(1),
            initiated_by: "ann".to_owned(),
            message: "The plan".to_owned(),
            status: HandshakeStatus::Pending,
            targets: vec![target("ida", None, true), target("mara", Some(at), false), target("ole", None, false)],
            created_at: at,
            completed_at: None,
        };
        assert_eq!(handshake.pending().collect::<Vec<_>>(), ["ole"]);
        assert_eq!(handshake.acknowledged().collect::<Vec<_>>(), ["mara"]);
        let text = serde_json::to_string(&handshake).unwrap();
        assert_eq!(serde_json::from_str::<Handshake>(&text).unwrap(), handshake);
        insta::assert_snapshot!(text, @r#"{"id":2,"project_id":"PROJ-001","initiated_by":"ann","message":"The plan","status":"pending","targets":[{"agent_name":"ida","acked_at":null,"left":true},{"agent_name":"mara","acked_at":"2026-01-31T09:05:00.000Z","left":false},{"agent_name":"ole","acked_at":null,"left":false}],"created_at":"2026-01-31T09:05:00.000Z","completed_at":null}"#);
    }
}
