//! Why a project may not get another repository folder, be archived or be deleted.

use crate::id::{ProjectId, RunId, TaskId};
use crate::refusal::category::refusals;

refusals! {
    /// Why a project cannot be changed.
    ProjectRefusal {
        #[error("agents are running in the repository of {project}: {}", runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", "))]
        AgentsWork { project: ProjectId, runs: Vec<RunId> } => Conflict "agents-work",
        #[error("{project} has running agents or tasks that people took over: {}", names(runs, taken_over))]
        AtWork { project: ProjectId, runs: Vec<RunId>, taken_over: Vec<TaskId> } => Conflict "project-at-work",
        #[error("{project} was deleted and cannot be restored")]
        IsDeleted { project: ProjectId } => Conflict "project-deleted",
        #[error("{path} is not the repository of {project}: it lacks {}; nothing was changed", missing.join(", "))]
        OtherRepository { project: ProjectId, path: String, missing: Vec<String> } => Unprocessable "other-repository",
    }
}

impl ProjectRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::AtWork { .. } => "Stop the agents and give back the tasks, then try again.",
            Self::IsDeleted { .. } => "Create another project on the repository. Its branches still exist.",
            Self::AgentsWork { .. } => "Stop their tasks, then try again.",
            Self::OtherRepository { .. } => {
                "Name the folder that the repository was moved to. If it is a new clone, first fetch what it lacks from the old repository."
            }
        }
        .to_owned()
    }
}

fn names(runs: &[RunId], taken_over: &[TaskId]) -> String {
    runs.iter().map(RunId::as_str).chain(taken_over.iter().map(TaskId::as_str)).collect::<Vec<_>>().join(", ")
}
