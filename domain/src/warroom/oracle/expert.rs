//! The experts of zones: participants, and oracles that the runner starts, each for one zone alone.
//!
//! It must not know how an oracle is started.

use super::super::zone::Zone;
use crate::board::wait_reason::WaitReason;
use crate::team::agent::MANAGED;

/// The oracle of a zone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expert {
    /// An agent of a person, or a person.
    Participant(String),
    /// An agent of the runner. Each zone has its own.
    Managed { zone: String },
}

impl Expert {
    /// The oracle of a zone, if it has one.
    pub fn of(zone: &Zone) -> Option<Self> {
        let name = zone.oracle.as_ref()?;
        Some(if name == MANAGED { Self::Managed { zone: zone.name.clone() } } else { Self::Participant(name.clone()) })
    }
}

/// The title of the task of a managed oracle.
pub fn task_title(zone: &str) -> String {
    format!("Questions about the zone {zone}")
}

/// Why a managed oracle is not started, for its asker.
pub fn waits_because(reason: &WaitReason) -> String {
    match reason {
        WaitReason::NeedsAttention => "a person has to decide about its task".to_owned(),
        reason => reason.sentence(),
    }
}

/// The answer of a managed oracle that cannot answer.
pub fn failed_answer(problem: &str) -> String {
    format!("The expert could not answer: {problem}. Read the files yourself, or ask again.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::status::HeldBy;

    #[test]
    fn asker_reads_why_the_oracle_waits() {
        assert_eq!(waits_because(&WaitReason::NeedsAttention), "a person has to decide about its task");
        assert_eq!(waits_because(&WaitReason::Paused), "paused by a human");
        assert_eq!(waits_because(&WaitReason::NoFreeSlot { limit: 3 }), "no free slot: 3 agents running");
        assert_eq!(waits_because(&WaitReason::Held { by: HeldBy::Stop }), "stopped until someone presses Start or Retry");
        assert_eq!(failed_answer("it crashed"), "The expert could not answer: it crashed. Read the files yourself, or ask again.");
    }
}
