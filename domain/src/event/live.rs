//! Events as a live board reads them: the changed card and project, and of the change itself its kind and little more.
//!
//! A page receives every event of every project, and its code is downloaded before it shows anything: decoding the fields of a hundred kinds
//! of events would be a tenth of it. Must not know how an event is shown.

use serde::Deserialize;

use crate::board::card::Card;
use crate::board::project::Project;
use crate::board::status::Status;
use crate::event::Seq;
use crate::id::{ProjectId, TaskId};

/// An [`Envelope`](crate::event::Envelope) without what a live board ignores.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct LiveEvent {
    pub seq: Seq,
    pub project_id: Option<ProjectId>,
    pub task_id: Option<TaskId>,
    event: Head,
    #[serde(default)]
    pub card: Option<Card>,
    #[serde(default)]
    pub project: Option<Project>,
}

/// The kind of a change, and the fields that decide how a live board follows it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Head {
    kind: String,
    /// Several kinds have it, each with a status of its own.
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    project: Option<ProjectId>,
}

impl LiveEvent {
    /// The kind of the change, one of [`Event::kinds`](crate::event::Event::kinds) unless the server is newer.
    pub fn kind(&self) -> &str {
        &self.event.kind
    }

    /// The column that a moved task left.
    pub fn moved_from(&self) -> Option<Status> {
        let from = self.event.from.as_deref().filter(|_| self.kind() == "task_moved")?;
        Status::ALL.iter().copied().find(|status| status.as_str() == from)
    }

    /// The project that is gone for good. Its event belongs to no project.
    pub fn removed_project(&self) -> Option<&ProjectId> {
        self.event.project.as_ref().filter(|_| self.kind() == "project_removed")
    }
}
