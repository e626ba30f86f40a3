//! Refusals of questions to oracles.

use crate::id::TaskId;
use crate::refusal::category::refusals;

refusals! {
    /// Why nobody can be asked.
    OracleRefusal {
        #[error("{given} is neither a zone nor a file in one")]
        NoZone { given: String } => NotFound "no-zone",
        #[error("the zone {zone} has no oracle")]
        NoOracle { zone: String } => Conflict "zone-without-oracle",
        #[error("you are the oracle of the zone {zone}")]
        OwnZone { zone: String } => Conflict "own-zone",
        #[error("{task} has questions that are not answered ({open})")]
        Unanswered { task: TaskId, open: u32 } => Conflict "questions-open",
        #[error("the oracle of the zone {zone} is started by the runner, and only answers questions")]
        NoMailbox { zone: String } => Conflict "managed-oracle",
    }
}

impl OracleRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoZone { .. } => "Call get_zones, and name a zone that has an oracle; or read the files yourself.".to_owned(),
            Self::NoOracle { .. } => "Read the files yourself, or ask a lead to name an oracle with set_zone.".to_owned(),
            Self::Unanswered { .. } => "Answer each with send and reply_to; a person may cancel the task instead.".to_owned(),
            Self::NoMailbox { .. } => "Ask it with ask_oracle, or name the agent that works there.".to_owned(),
            Self::OwnZone { .. } => "Answer from your notes and the code. read_intel returns what is new.".to_owned(),
        }
    }
}
