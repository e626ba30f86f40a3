//! Activity: the history of a project from the event log, in plain words.
//!
//! Must not know how the log is stored.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::event::sentence::sentence;
use crate::event::{Envelope, Event, Seq};
use crate::id::{RunId, TaskId};
use crate::runs::run::RunChange;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The part of a history that an event belongs to.
    Topic, "topic" {
        /// Tasks, attempts and merges.
        Work = "work",
        /// Decisions of people and reviewers, and requests for them.
        Decisions = "decisions",
        /// Comments, messages, handshakes and findings.
        Messages = "messages",
        /// Failed attempts, refusals of the sandbox, outages and limits.
        Failures = "failures",
        /// The project itself, its goals, its branches and its team.
        Project = "project",
    }
}

impl Topic {
    /// Returns the topic of a kind of event. `has_failure` says whether it is the end of an attempt that failed.
    pub fn of(kind: &str, has_failure: bool) -> Self {
        match kind {
            "run_ended" if has_failure => Self::Failures,
            "agents_parked"
            | "agents_resumed"
            | "approval_voided"
            | "limit_near"
            | "run_access_refused"
            | "run_checkout_left"
            | "run_condition"
            | "run_hand_over_requested" => Self::Failures,
            "plan_approved"
            | "plan_revised"
            | "task_approved"
            | "task_verified"
            | "task_needs_you"
            | "task_settled"
            | "task_held"
            | "task_released"
            | "task_aged"
            | "question_asked"
            | "question_answered"
            | "permission_asked"
            | "permission_answered"
            | "permission_closed"
            | "run_interrupted"
            | "run_stop_requested"
            | "limit_raised"
            | "sandbox_chosen"
            | "rescue_restored"
            | "rescue_dropped"
            | "project_landed"
            | "project_landing_undone"
            | "pull_request_sent_back"
            | "pull_request_needs_you"
            | "pull_request_merged"
            | "pull_request_closed"
            | "pull_request_settled"
            | "project_published"
            | "project_paused"
            | "project_resumed"
            | "work_paused"
            | "work_resumed"
            | "battle_plan_set"
            | "battle_plan_ended"
            | "trigger_given"
            | "trigger_ended"
            | "zone_set"
            | "zone_removed"
            | "war_room_session_ended" => Self::Decisions,
            "raid_logged" | "debrief_filed" | "inbox_read" | "message_queued" | "message_delivered" | "message_sent" | "message_read"
            | "intel_written" | "intel_archived" | "trap_written" | "trap_resolved" | "note_written" | "oracle_asked" | "oracle_answered" => {
                Self::Messages
            }
            _ if kind.starts_with("comment_") || kind.starts_with("handshake_") || kind.starts_with("session_") || kind.starts_with("memory_") => {
                Self::Messages
            }
            "hat_assigned" | "spawn_policy_set" | "token_made" | "event_erased" => Self::Project,
            _ if ["project_", "goal_", "contract_", "agent_", "person_", "browser_session_"].iter().any(|start| kind.starts_with(start)) => {
                Self::Project
            }
            _ => Self::Work,
        }
    }
}

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
    pub topic: Topic,
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
            topic: Topic::of(envelope.event.kind(), matches!(envelope.event, Event::Run(RunChange::Ended { failure: Some(_), .. }))),
            sentence: sentence(envelope, reader),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_topic_and_failed_attempts_are_failures() {
        let topic_of = |kind: &str| Topic::of(kind, false);
        let mut told = String::new();
        for topic in Topic::ALL {
            let kinds: Vec<&str> = Event::kinds().into_iter().filter(|kind| topic_of(kind) == *topic).collect();
            told += &format!("{topic}: {}\n", kinds.join(", "));
        }
        insta::assert_snapshot!(told);
        assert_eq!((topic_of("run_ended"), Topic::of("run_ended", true)), (Topic::Work, Topic::Failures));
    }
}
