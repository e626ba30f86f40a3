//! A requested move of a task, and the change that it makes. Must not decide whether the move is legal.

use domain::board::attention::Attention;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::transition::Mover;
use domain::runs::evidence::Sha;

/// A requested move of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveRequest {
    pub to: Status,
    /// The reason: when sending back, what to change; when cancelling, one of the four cancel reasons.
    pub reason: Option<String>,
    /// Whether the branch is merged, for a person's move to done.
    pub merge: bool,
}

impl MoveRequest {
    pub fn to(to: Status) -> Self {
        Self { to, reason: None, merge: true }
    }
}

/// The change that a legal move makes.
pub(crate) struct Change {
    pub(crate) to: Status,
    /// As what the caller moves the task.
    pub(crate) who: Mover,
    pub(crate) held_by: Option<HeldBy>,
    pub(crate) cancel: Option<CancelReason>,
    pub(crate) approved: Option<Sha>,
    pub(crate) approver: Option<String>,
    /// Whether it was approved before, and that still holds.
    pub(crate) is_approved_before: bool,
    pub(crate) verified: Option<String>,
    pub(crate) attention: Option<Attention>,
    pub(crate) reason: Option<String>,
}
