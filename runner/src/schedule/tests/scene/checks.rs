//! Projects and tasks with checks. Must not know what the schedule does with them.

use domain::board::status::Status;
use domain::id::ProjectId;
use domain::runs::check::{CheckStage, CheckState, TaskChecks};

use super::{Draft, Scene};

impl Draft {
    /// Submitted, and waiting for its review.
    pub(in crate::schedule::tests) fn submitted(mut self) -> Self {
        self.known.submitted_sha = Some("head".to_owned());
        self.status(Status::InReview)
    }

    pub(in crate::schedule::tests) fn checked(self, stage: CheckStage, state: CheckState) -> Self {
        let checks = TaskChecks { stage, state, sha: "head".to_owned(), tree: "tree".to_owned(), profile_version: 1 };
        self.card(|card| card.checks.push(checks))
    }
}

impl Scene {
    /// Gives a project one check at each stage.
    pub(in crate::schedule::tests) fn checks(mut self, project: u64) -> Self {
        let project = self.state.projects.get_mut(&ProjectId::new(project)).unwrap();
        project.profile.checks.quick.commands = vec!["lint".to_owned()];
        project.profile.checks.full.commands = vec!["test".to_owned()];
        self
    }
}
