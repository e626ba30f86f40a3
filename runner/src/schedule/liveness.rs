//! Liveness of a task's external assignee, and the text for the human when it stops responding.
//!
//! It must not know where heartbeats come from.

use db::{AssigneePresence, TaskSnapshot};
use domain::board::status::Status;
use domain::team::agent::Health;
use domain::time::Timestamp;

/// Liveness of a task's assignee.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AssigneeLiveness {
    /// It responds, or the task does not wait for it. It may become unresponsive at `recheck_at`.
    Responsive {
        recheck_at: Option<Timestamp>,
    },
    /// No heartbeat arrived, and it is too early to call it unresponsive. An earlier flag stays.
    Unknown {
        recheck_at: Timestamp,
    },
    Unresponsive {
        name: String,
        detail: String,
    },
}

/// Determines the liveness of an open task's assignee. `tracking_since` is when its silence began to count at the earliest, and `waits` says
/// whether the task waits for something other than its assignee.
pub(super) fn assignee_liveness(known: &TaskSnapshot, tracking_since: Timestamp, waits: bool, now: Timestamp) -> AssigneeLiveness {
    let card = &known.task.card;
    // A submission waits for a lead.
    let awaits_assignee = !waits && card.status != Status::InReview;
    let (Some(AssigneePresence { connected: false, last_seen }), Some(name), true) =
        (known.assignee, &card.contributors.assigned_to, awaits_assignee)
    else {
        return AssigneeLiveness::Responsive { recheck_at: None };
    };
    // The last update is taken for the time of the assignment: little else changes a task that nobody works on.
    let unresponsive_at = Health::unresponsive_at(last_seen, card.updated_at, tracking_since);
    if unresponsive_at <= now {
        return AssigneeLiveness::Unresponsive { name: name.clone(), detail: detail(name, last_seen) };
    }
    match Health::of(last_seen, now) {
        Health::Healthy | Health::Stale => AssigneeLiveness::Responsive { recheck_at: Some(unresponsive_at) },
        Health::Dead | Health::Unknown => AssigneeLiveness::Unknown { recheck_at: unresponsive_at },
    }
}

fn detail(name: &str, last_seen: Option<Timestamp>) -> String {
    let (state, verb) = match last_seen {
        Some(at) => (format!("unresponsive since {}", at.clock()), "Wake"),
        None => ("not connected yet".to_owned(), "Start"),
    };
    format!("Assigned to {name}, {state}. {verb} {name}, assign another agent, or unassign the task and press Start.")
}
