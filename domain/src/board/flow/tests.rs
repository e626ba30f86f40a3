//! The state of a flow and its facts, for each thing that can hold a project up.

use super::*;
use crate::board::attention::{Attention, AttentionKind};
use crate::board::card::CurrentRun;
use crate::board::project::tests::{card, project};
use crate::id::{RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::failure::FailureClass;
use crate::runs::parking::{ParkReason, Parking};

fn at(minute: i64) -> Timestamp {
    Timestamp::from_milliseconds(1_769_850_300_000 + minute * 60_000)
}

fn runner(live: u64) -> RunnerHealth {
    RunnerHealth {
        ticking_since: at(0),
        last_tick_at: Some(at(9)),
        is_ticking: true,
        max_agents: 4,
        live_runs: (1..=live).map(RunId::new).collect(),
        parked: Vec::new(),
    }
}

fn waiting(number: u64, reason: WaitReason) -> Card {
    Card { wait_reason: Some(reason), ..card(number, AgentKind::Coder, Status::Backlog) }
}

fn running(number: u64) -> Card {
    let run =
        CurrentRun { id: RunId::new(number), phase: AgentKind::Coder, attempt: 1, started_at: at(0), stopping: false, port: None, low_context: None };
    Card { run: Some(run), ..card(number, AgentKind::Coder, Status::InProgress) }
}

fn needing(number: u64) -> Card {
    Card { attention: Some(Attention::new(AttentionKind::Failed, "")), ..card(number, AgentKind::Coder, Status::InProgress) }
}

fn in_review(number: u64, since: Timestamp) -> Card {
    let wait_reason = Some(WaitReason::KindLimitReached { phase: AgentKind::Reviewer });
    Card { wait_reason, updated_at: since, ..card(number, AgentKind::Coder, Status::InReview) }
}

fn blocked(number: u64) -> Card {
    waiting(number, WaitReason::BlockedBy { tasks: vec![TaskId::new(number - 1)] })
}

#[test]
fn state_is_the_first_thing_to_know() {
    let held = || waiting(5, WaitReason::Held { by: HeldBy::Human });
    let planned = waiting(6, WaitReason::Held { by: HeldBy::Plan });
    let backoff = waiting(7, WaitReason::Backoff { until: at(20), after: FailureClass::Crashed });
    let no_slot = waiting(8, WaitReason::NoFreeSlot { limit: 4 });
    let done = card(9, AgentKind::Coder, Status::Done);
    for (cards, expected) in [
        (vec![], FlowState::Idle),
        (vec![done], FlowState::Idle),
        (vec![running(1), needing(2), blocked(3)], FlowState::Working),
        (vec![no_slot, needing(2)], FlowState::Ready),
        (vec![card(1, AgentKind::Coder, Status::Backlog)], FlowState::Ready),
        (vec![backoff, needing(2), blocked(3)], FlowState::Waiting),
        (vec![needing(2), blocked(3)], FlowState::NeedsYou),
        (vec![held(), blocked(6)], FlowState::NeedsYou),
        (vec![planned], FlowState::NeedsYou),
        (vec![running(1), waiting(2, WaitReason::Paused)], FlowState::Paused),
    ] {
        assert_eq!(Flow::of(&cards).state(&runner(0)), expected, "{cards:?}");
    }
    let parking = Parking { reason: ParkReason::SignedOut, since: at(0), until: at(20), detail: String::new(), failed_probes: 1 };
    let parked = RunnerHealth { parked: vec![parking], ..runner(0) };
    assert_eq!(Flow::of(&[running(1)]).state(&parked), FlowState::Parked, "what runs still runs, and then nothing more starts");
    assert_eq!(Flow::of(&[running(1)]).state(&RunnerHealth { is_ticking: false, ..parked }), FlowState::Stopped);
}

#[test]
fn facts_count_what_moves_and_what_does_not() {
    let approved = Card { approved_sha: Some("a".to_owned()), wait_reason: Some(WaitReason::MergeQueued), ..in_review(6, at(1)) };
    let cards = [
        running(1),
        needing(2),
        blocked(3),
        blocked(4),
        waiting(5, WaitReason::Held { by: HeldBy::Human }),
        approved,
        in_review(7, at(5)),
        in_review(8, at(3)),
    ];
    let project = Project { merged_at: Some(at(-50)), ..project() };
    let facts = Flow::of(&cards).facts(&runner(3), &project, at(10));
    assert_eq!(
        facts,
        [
            "1 of 4 agents at work, 2 on other projects",
            "2 ready",
            "1 needs you",
            "4 waiting (2 blocked by other tasks; 1 held until someone presses Start; 1 approved: waiting for the merge)",
            "2 to review, the oldest submitted 7 min ago",
            "last merge 1 h ago",
        ]
    );
}

#[test]
fn facts_of_an_idle_project_are_short() {
    assert_eq!(Flow::of(&[]).facts(&runner(0), &project(), at(10)), ["0 of 4 agents at work"]);
    let parking = Parking { reason: ParkReason::SignedOut, since: at(0), until: at(20), detail: String::new(), failed_probes: 1 };
    let facts = Flow::of(&[]).facts(&RunnerHealth { parked: vec![parking], ..runner(0) }, &project(), at(10));
    assert_eq!(facts[0], "the agent program is not signed in, noticed 10 min ago");
}
