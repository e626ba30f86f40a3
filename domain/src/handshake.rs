//! Handshakes: a lead tells a plan, and goes on when everybody it was told to has acknowledged it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::ProjectId;
use crate::time::Timestamp;
use crate::word::words;

words! {
    HandshakeStatus, "handshake status" {
        Pending = "pending",
        Completed = "completed",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Handshake {
    pub id: i64,
    pub project_id: ProjectId,
    pub initiated_by: String,
    pub message: String,
    pub status: HandshakeStatus,
    /// Exactly those who were asked, in the order of their names.
    pub targets: Vec<Target>,
    pub created_at: Timestamp,
    pub completed_at: Option<Timestamp>,
}

/// Somebody who is asked to acknowledge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = HandshakeTarget)]
pub struct Target {
    pub agent_name: String,
    pub acked_at: Option<Timestamp>,
    /// Whether it left before it could: nobody waits for it.
    pub left: bool,
}

impl Handshake {
    /// Who is still waited for.
    pub fn pending(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter(|target| target.acked_at.is_none() && !target.left).map(|target| target.agent_name.as_str())
    }

    pub fn acknowledged(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().filter(|target| target.acked_at.is_some()).map(|target| target.agent_name.as_str())
    }
}
