//! Why a project may not get another repository folder.

use crate::id::{ProjectId, RunId};
use crate::refusal::category::refusals;

refusals! {
    /// Why a project cannot be changed.
    ProjectRefusal {
        #[error("agents work in the repository of {project}: {}", runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", "))]
        AgentsWork { project: ProjectId, runs: Vec<RunId> } => Conflict "agents-work",
        #[error("{path} is not the repository of {project}: it lacks {}; nothing was changed", missing.join(", "))]
        OtherRepository { project: ProjectId, path: String, missing: Vec<String> } => Unprocessable "other-repository",
    }
}

impl ProjectRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::AgentsWork { .. } => "Stop their tasks, then repeat.",
            Self::OtherRepository { .. } => {
                "Name the folder that the repository was moved to. Into a new clone, first fetch from the old repository what it lacks."
            }
        }
        .to_owned()
    }
}
