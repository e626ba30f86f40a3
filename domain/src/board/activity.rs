//! Activity: the history of a project from the event log, in plain words.
//!
//! Must not know how the log is stored.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::event::sentence::sentence;
use crate::event::{Envelope, Seq};
use crate::id::{RunId, TaskId};
use crate::time::Timestamp;

/// One event of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Activity {
    pub seq: Seq,
    pub at: Timestamp,
    pub actor: Actor,
    pub task_id: Option<TaskId>,
    pub run_id: Option<RunId>,
    /// The kind of the event, as in `GET /api/events`.
    pub kind: String,
    /// The event in words, with the actor as its subject. The person who asks is "You".
    pub sentence: String,
}

impl Activity {
    pub fn of(envelope: &Envelope, reader: &Actor) -> Self {
        Self {
            seq: envelope.seq,
            at: envelope.at,
            actor: envelope.actor.clone(),
            task_id: envelope.task_id.clone(),
            run_id: envelope.run_id.clone(),
            kind: envelope.event.kind().to_owned(),
            sentence: sentence(envelope, reader),
        }
    }
}
