//! Every stage is reached, and what is more urgent hides what is less.

use super::*;
use crate::attention::Attention;
use crate::id::{RunId, TaskId};
use crate::project::tests::card;
use crate::task::{Hands, HeldBy, LiveRun};
use crate::time::Timestamp;

fn coder(status: Status) -> Card {
    card(1, Phase::Coder, status)
}

#[test]
fn every_stage_is_reached() {
    let at = Timestamp::from_milliseconds(0);
    let run = Some(LiveRun { id: RunId::new(1), phase: Phase::Coder, attempt: 1, started_at: at, stopping: false });
    let cancelled = |reason| Card { cancel_reason: reason, ..coder(Status::Cancelled) };
    let stuck = |kind| Card { attention: Some(Attention::new(kind, "")), ..coder(Status::InProgress) };
    let waits = |why| Card { why: Some(why), ..coder(Status::Backlog) };
    let cases = [
        (Card { held_by: Some(HeldBy::Human), ..waits(Why::BlockedBy { tasks: vec![TaskId::new(2)] }) }, Stage::Pending),
        (waits(Why::BlockedBy { tasks: vec![TaskId::new(2)] }), Stage::Blocked),
        (waits(Why::PlanOpen { task: TaskId::new(2) }), Stage::Blocked),
        (waits(Why::NoFreeSlot { most: 3 }), Stage::Ready),
        (coder(Status::Backlog), Stage::Ready),
        (coder(Status::InProgress), Stage::Assigned),
        (Card { run, ..coder(Status::InProgress) }, Stage::InProgress),
        (coder(Status::InReview), Stage::Review),
        (Card { approved_sha: Some("a".to_owned()), ..coder(Status::InReview) }, Stage::Approved),
        (coder(Status::Done), Stage::Completed),
        (Card { hands: Hands { verified_by: Some("ann".to_owned()), ..Hands::default() }, ..coder(Status::Done) }, Stage::Verified),
        (card(1, Phase::Planner, Status::Done), Stage::Closed),
        (stuck(AttentionKind::Failed), Stage::Failed),
        (stuck(AttentionKind::Protocol), Stage::Failed),
        (stuck(AttentionKind::Stalled), Stage::Stale),
        (stuck(AttentionKind::NeedsInput), Stage::Assigned),
        (Card { attention: Some(Attention::new(AttentionKind::Failed, "")), ..coder(Status::InReview) }, Stage::Failed),
        (Card { attention: Some(Attention::new(AttentionKind::EmptyPlan, "")), ..card(1, Phase::Planner, Status::Done) }, Stage::Closed),
        (cancelled(Some(CancelReason::Failed)), Stage::Failed),
        (cancelled(Some(CancelReason::Abandoned)), Stage::Abandoned),
        (cancelled(None), Stage::Abandoned),
        (cancelled(Some(CancelReason::Obsolete)), Stage::Obsolete),
        (cancelled(Some(CancelReason::Duplicate)), Stage::Obsolete),
    ];
    for (card, stage) in &cases {
        assert_eq!(Stage::of(card), *stage, "{card:?}");
    }
    let missing: Vec<&Stage> = Stage::ALL.iter().filter(|stage| !cases.iter().any(|(_, reached)| reached == *stage)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
