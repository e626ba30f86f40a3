//! The briefing of an agent that starts without memory: the state of the project, and what its predecessor left.
//!
//! It must not know how it is worded.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::warroom::battle_plan::BattlePlan;
use crate::warroom::claim::queue::Claims;
use crate::warroom::handover::Handover;
use crate::warroom::knowledge::KnowledgeKind;
use crate::warroom::party::PartyTask;
use crate::warroom::raid_log::RaidLogEntry;
use crate::warroom::trigger::Trigger;

/// The most open tasks, log entries and waiting handovers of a briefing.
pub const MAX_TASKS: u32 = 20;
pub const MAX_ENTRIES: u32 = 10;
pub const MAX_WAITING: u32 = 10;
/// The most topics of each kind of knowledge, and the characters of each.
pub const MAX_TOPICS: u32 = 8;
pub const MAX_EXCERPT: usize = 80;

/// The facts that an agent needs before it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Briefing {
    /// The active plan of the project.
    pub plan: Option<BattlePlan>,
    /// The orders that are active.
    pub triggers: Vec<Trigger>,
    /// The newest entries of high and critical priority.
    pub log: Vec<RaidLogEntry>,
    /// Open tasks: those of the agent, or all for a lead.
    pub tasks: Vec<PartyTask>,
    /// The files that the agent holds and waits for.
    pub claims: Claims,
    /// The handover of the predecessor. It is never shown again.
    pub handover: Option<Handover>,
    /// Agents that left a handover which nobody has continued.
    pub waiting: Vec<WaitingHandover>,
    /// The newest live traps, and the newest intel that the agent has not read.
    pub knowledge: Vec<KnowledgeTopic>,
}

/// Knowledge that `read_intel` returns in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnowledgeTopic {
    pub kind: KnowledgeKind,
    pub topic: String,
    /// The beginning of its body.
    pub excerpt: String,
}

/// A handover without a successor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingHandover {
    pub agent: String,
    pub created_at: Timestamp,
}
