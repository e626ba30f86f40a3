//! Landing: merging the project branch into the base branch. Must not know how git does it.

use crate::refusal::category::refusals;

refusals! {
    /// Why a project branch may not be landed.
    LandRefusal {
        #[error("there is nothing to land: {detail}")]
        NothingToLand { detail: String } => Unprocessable "nothing-to-land",
    }
}

impl LandRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NothingToLand { .. } => "Wait until a task is merged into the project branch.".to_owned(),
        }
    }
}
