//! Projects and tasks with checks. Must not know what the schedule does with them.

use domain::board::status::Status;
use domain::id::ProjectId;
use domain::runs::check::{CheckStage, CheckState, TaskChecks};
use domain::runs::profile::PullRequests;
use domain::runs::publication::pull_request::{PullRequestState, PullRequestStatus};
use domain::runs::publication::task_pull_request::TaskPullRequest;

use super::{Draft, Scene};

impl Draft {
    /// Submitted, and waiting for its review.
    pub(in crate::schedule::tests) fn submitted(mut self) -> Self {
        self.known.submitted_sha = Some("head".to_owned());
        self.status(Status::InReview)
    }

    /// Approved, with its pull request in this state.
    pub(in crate::schedule::tests) fn in_pull_request(self, state: PullRequestState) -> Self {
        let status = PullRequestStatus { state, ..PullRequestStatus::default() };
        let address = "https://github.com/ann/site/pull/7".to_owned();
        let known = |sha| TaskPullRequest { address, branch: "vr/TASK-001/work".to_owned(), sha, status };
        self.approved().card(|card| card.pull_request = card.approved_sha.clone().map(known))
    }

    /// Approved at a newer commit.
    pub(in crate::schedule::tests) fn approved_again(self) -> Self {
        self.card(|card| card.approved_sha = Some("b".repeat(40)))
    }

    pub(in crate::schedule::tests) fn checked(self, stage: CheckStage, state: CheckState) -> Self {
        let checks = TaskChecks { stage, state, sha: "head".to_owned(), tree: "tree".to_owned(), profile_version: 1 };
        self.card(|card| card.checks.push(checks))
    }
}

impl Scene {
    /// Lets a project open a pull request for each task.
    pub(in crate::schedule::tests) fn pull_requests(mut self, project: u64) -> Self {
        self.state.projects.get_mut(&ProjectId::new(project)).unwrap().profile.pull_requests = PullRequests::Task;
        self
    }

    /// Gives a project one check at each stage.
    pub(in crate::schedule::tests) fn checks(mut self, project: u64) -> Self {
        let project = self.state.projects.get_mut(&ProjectId::new(project)).unwrap();
        project.profile.checks.quick.commands = vec!["lint".to_owned()];
        project.profile.checks.full.commands = vec!["test".to_owned()];
        self
    }
}
