//! Places in the shared context of a project, as parameters of an address.

use domain::context::session::ContextSessionId;
use domain::id::TaskId;

/// A place in the shared context of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContextPlace {
    pub(crate) session: Option<ContextSessionId>,
    /// A message of that session.
    pub(crate) message: Option<i64>,
    /// The task whose session is meant.
    pub(crate) task: Option<TaskId>,
    /// An entry of the memory of agents.
    pub(crate) memory: Option<i64>,
}

impl ContextPlace {
    pub(super) fn parse(parameter: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            session: parameter("session").and_then(|session| session.parse().ok()),
            message: parameter("message").and_then(|message| message.parse().ok()),
            task: parameter("task").and_then(|task| task.parse().ok()),
            memory: parameter("memory").and_then(|memory| memory.parse().ok()),
        }
    }

    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        let session = self.session.as_ref().map(|session| ("session", session.to_string()));
        let message = self.message.map(|message| ("message", message.to_string()));
        let task = self.task.as_ref().map(|task| ("task", task.to_string()));
        let memory = self.memory.map(|memory| ("memory", memory.to_string()));
        session.into_iter().chain(message).chain(task).chain(memory).collect()
    }

    /// Whether a session is named, by itself or by a task.
    pub(crate) const fn is_thread(&self) -> bool {
        self.session.is_some() || self.task.is_some()
    }
}
