//! Why an agent at work is told to hand over: its run ends, and its task continues in another one.
//!
//! Must not know how it is told.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::limit::LimitUse;
use crate::warroom::trigger::TriggerWord;

/// The reason why an agent was told to hand over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum HandOverReason {
    /// A limit is reached.
    Limit { limit: LimitUse },
    /// A lead or a person ordered it.
    Ordered { word: TriggerWord, by: String },
}

impl HandOverReason {
    /// The limit, if one is the reason.
    pub const fn limit(&self) -> Option<LimitUse> {
        match self {
            Self::Limit { limit } => Some(*limit),
            Self::Ordered { .. } => None,
        }
    }

    /// Describes the reason: "human ordered retreat".
    pub fn sentence(&self) -> String {
        match self {
            Self::Limit { limit } => limit.sentence(),
            Self::Ordered { word, by } => format!("{by} ordered {word}"),
        }
    }
}
