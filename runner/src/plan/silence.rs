//! Whether the agent from outside that is to work on a task is still there, and what the person is told when it is not.
//!
//! Must not know where signs of life come from.

use db::{AssigneePresence, Snapshot, TaskSnapshot};
use domain::board::status::Status;
use domain::team::agent::Health;
use domain::time::Timestamp;

/// What is to be said of a task's assignee.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// None: it was heard of, or nobody waits for it. It may come about at that time.
    None { until: Option<Timestamp> },
    /// Nothing was heard of it, and it is not given up before that time. Whatever was said before stands.
    Unjudged { until: Timestamp },
    /// It is given up, in words for the person.
    Lost { name: String, detail: String },
}

/// Judges the assignee of an open task; `waits` is whether the task waits for something else than its assignee.
pub(super) fn silence(known: &TaskSnapshot, state: &Snapshot, waits: bool, now: Timestamp) -> Silence {
    let card = &known.task.card;
    // What was handed in waits for a lead.
    let wanted = !waits && card.status != Status::InReview;
    let (Some(AssigneePresence { connected: false, last_seen }), Some(name), true) = (known.assignee, &card.contributors.assigned_to, wanted) else {
        return Silence::None { until: None };
    };
    // Being given a task changes it, and so does little else that happens to one on which nobody works.
    let until = Health::unresponsive_at(last_seen, card.updated_at, state.tracking_since);
    if until <= now {
        return Silence::Lost { name: name.clone(), detail: detail(name, last_seen) };
    }
    match Health::of(last_seen, now) {
        Health::Healthy | Health::Stale => Silence::None { until: Some(until) },
        Health::Dead | Health::Unknown => Silence::Unjudged { until },
    }
}

fn detail(name: &str, last_seen: Option<Timestamp>) -> String {
    let (silent, wake) = match last_seen {
        Some(at) => (format!("silent since {}", at.clock()), "Wake"),
        None => ("never heard of yet".to_owned(), "Start"),
    };
    format!("Assigned to {name}, {silent}. {wake} {name}, assign it to another agent, or take it back from {name} and press Start.")
}
