//! Requests about the past of a project: its history, its boards and its statistics.

use domain::board::activity::{Activity, Topic};
use domain::board::replay::ReplayPart;
use domain::board::statistics::ProjectStatistics;
use domain::event::Seq;
use domain::id::{ProjectId, TaskId};
use domain::wire::List;
use gloo_net::http::Request;

use super::{Client, Failure, project_path};

/// The part of a project's history to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ActivityFilter {
    pub(crate) topic: Option<Topic>,
    pub(crate) task: Option<TaskId>,
    /// A participant: a person, the runner or an agent.
    pub(crate) actor: Option<String>,
    /// Whether to include what only helps to understand a run or a wait.
    pub(crate) details: bool,
}

impl ActivityFilter {
    pub(crate) fn of_task(task: TaskId) -> Self {
        Self { task: Some(task), ..Self::default() }
    }

    /// The parameters of the address, and of the request, that have a value.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, String)> {
        let topic = self.topic.map(|topic| ("topic", topic.to_string()));
        let task = self.task.as_ref().map(|task| ("task", task.to_string()));
        let actor = self.actor.clone().map(|actor| ("actor", actor));
        let details = self.details.then(|| ("details", "true".to_owned()));
        topic.into_iter().chain(task).chain(actor).chain(details).collect()
    }
}

impl Client {
    /// A page of the history of a project, newest first.
    pub(crate) async fn activity(self, project: ProjectId, filter: ActivityFilter, before: Option<Seq>) -> Result<List<Activity>, Failure> {
        let mut query = filter.parameters();
        query.extend(before.map(|before| ("before", before.to_string())));
        self.finish(Request::get(&project_path(&project, "/activity")).query(query)).await
    }

    /// The part of the past of a project around an event, or around the last one.
    pub(crate) async fn replay(self, project: ProjectId, at: Option<Seq>) -> Result<ReplayPart, Failure> {
        self.finish(Request::get(&project_path(&project, "/replay")).query(at.map(|at| ("at", at.to_string())))).await
    }

    /// The sums of what each kind of agent consumed and finished on each of the last days.
    pub(crate) async fn statistics(self, project: ProjectId) -> Result<ProjectStatistics, Failure> {
        self.get(&project_path(&project, "/statistics")).await
    }
}
