//! The condition of a live run that is not working normally, as its card says it.
//!
//! Must not know how the runner finds out.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::Timestamp;

/// A reason why a live run does no work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum RunCondition {
    /// It may be alive, but the runner cannot reach its process.
    Unreachable { detail: String },
    /// Since then it has printed nothing, used no CPU time and had no tool at work.
    Quiet { since: Timestamp },
    /// Its program repeats a request that the model's service did not answer.
    RetryingService { since: Timestamp, detail: String },
}

impl RunCondition {
    /// Whether both say the same, except for when it began.
    pub fn repeats(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Quiet { .. }, Self::Quiet { .. }) => true,
            (Self::RetryingService { detail: one, .. }, Self::RetryingService { detail: other, .. }) => one == other,
            _ => self == earlier,
        }
    }

    /// Describes it after the id of the run.
    pub fn sentence(&self) -> String {
        match self {
            Self::Unreachable { detail } => format!("cannot be reached: {detail}"),
            Self::Quiet { since } => format!("has shown no sign of work since {}", since.clock()),
            Self::RetryingService { since, detail } => format!("has waited for the model's service since {}: {detail}", since.clock()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_new_condition_replaces_the_earlier() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (one, two) = (at("2026-01-31T10:00:00.000Z"), at("2026-01-31T11:00:00.000Z"));
        let retrying = |since, detail: &str| RunCondition::RetryingService { since, detail: detail.to_owned() };
        assert!(RunCondition::Quiet { since: two }.repeats(&RunCondition::Quiet { since: one }));
        assert!(retrying(two, "529").repeats(&retrying(one, "529")));
        assert!(!retrying(two, "401").repeats(&retrying(one, "529")));
        assert!(!retrying(two, "401").repeats(&RunCondition::Quiet { since: one }));
    }
}
