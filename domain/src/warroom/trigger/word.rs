//! The trigger words. Must not know messages.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// A short order.
    TriggerWord, "trigger word" {
        /// One agent hands over and continues with an empty context.
        FenixDown = "fenix_down",
        /// One agent hands over and leaves.
        StandDown = "stand_down",
        /// One agent reports its context and its state.
        Sitrep = "sitrep",
        /// All agents look into their inboxes.
        Rally = "rally",
        /// All agents finish their turn and hand over; nothing starts.
        Retreat = "retreat",
        /// All agents hand over now; nothing starts.
        MoonCrash = "moon_crash",
        /// A zone comes first.
        HotZone = "hot_zone",
        /// One agent investigates something and reports.
        Recon = "recon",
    }
}

/// The target that a trigger word has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerTarget {
    All,
    Agent,
    Zone,
    AgentAndSubject,
}

impl TriggerWord {
    pub const fn target(self) -> TriggerTarget {
        match self {
            Self::FenixDown | Self::StandDown | Self::Sitrep => TriggerTarget::Agent,
            Self::Rally | Self::Retreat | Self::MoonCrash => TriggerTarget::All,
            Self::HotZone => TriggerTarget::Zone,
            Self::Recon => TriggerTarget::AgentAndSubject,
        }
    }

    /// The instruction of the word, as agents read it below the order.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::FenixDown => "Record what you know with fenix_down, then continue with an empty context.",
            Self::StandDown => "Stop working, record what you know with fenix_down, and leave.",
            Self::Sitrep => "Report your context with set_context and send your state now.",
            Self::Rally => "Read your inbox now.",
            Self::Retreat => "Finish your turn, then record what you know with fenix_down. Nothing new starts.",
            Self::MoonCrash => "Record what you know with fenix_down now: the session ends, and nothing new starts.",
            Self::HotZone => "Work in this zone first.",
            Self::Recon => "Investigate this and report.",
        }
    }

    /// Whether no agent starts while the order is active.
    pub const fn stops_starts(self) -> bool {
        matches!(self, Self::Retreat | Self::MoonCrash)
    }

    /// Whether the order stays active after it was given: until it is withdrawn, or for `sitrep`, until it is answered.
    pub const fn lasts(self) -> bool {
        self.stops_starts() || matches!(self, Self::HotZone | Self::Sitrep)
    }
}
