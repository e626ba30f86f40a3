//! Pauses: a person keeps new agents from starting, in one project or in all. Must not know outages, which are in `parking`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::time::Timestamp;

/// `POST /api/pause` and `POST /api/resume`: whether all projects are paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PauseStatus {
    pub paused_at: Option<Timestamp>,
}

events! {
    /// A change of the pause of all projects. Those of one project are in `ProjectEvent`.
    PauseEvent {
        Paused "work_paused" {}
        Resumed "work_resumed" {}
    }
}
