//! Derived stages, and the changes to them.

use super::*;
use crate::board::attention::Attention;
use crate::board::card::{Contributors, CurrentRun};
use crate::board::project::tests::card;
use crate::board::status::HeldBy;
use crate::id::{RunId, TaskId};
use crate::time::Timestamp;
use crate::warroom::old_task::{OldTask, OldTaskDecision};

fn coder(status: Status) -> Card {
    card(1, AgentKind::Coder, status)
}

#[test]
fn every_stage_is_derived_from_some_card() {
    let at = Timestamp::from_milliseconds(0);
    let run =
        Some(CurrentRun { id: RunId::new(1), phase: AgentKind::Coder, attempt: 1, started_at: at, stopping: false, port: None, low_context: None });
    let cancelled = |reason| Card { cancel_reason: reason, ..coder(Status::Cancelled) };
    let attention = |kind| Card { attention: Some(Attention::new(kind, "")), ..coder(Status::InProgress) };
    let waiting = |reason| Card { wait_reason: Some(reason), ..coder(Status::Backlog) };
    let cases = [
        (Card { held_by: Some(HeldBy::Human), ..waiting(WaitReason::BlockedBy { tasks: vec![TaskId::new(2)] }) }, Stage::Pending),
        (waiting(WaitReason::BlockedBy { tasks: vec![TaskId::new(2)] }), Stage::Blocked),
        (waiting(WaitReason::PlanUnfinished { task: TaskId::new(2) }), Stage::Blocked),
        (waiting(WaitReason::NoFreeSlot { limit: 3 }), Stage::Ready),
        (coder(Status::Backlog), Stage::Ready),
        (coder(Status::InProgress), Stage::Assigned),
        (Card { run, ..coder(Status::InProgress) }, Stage::InProgress),
        (coder(Status::InReview), Stage::Review),
        (Card { approved_sha: Some("a".to_owned()), ..coder(Status::InReview) }, Stage::Approved),
        (coder(Status::Done), Stage::Completed),
        (
            Card { contributors: Contributors { verified_by: Some("ann".to_owned()), ..Contributors::default() }, ..coder(Status::Done) },
            Stage::Verified,
        ),
        (card(1, AgentKind::Planner, Status::Done), Stage::Closed),
        (attention(AttentionKind::Failed), Stage::Failed),
        (attention(AttentionKind::NoOutcome), Stage::Failed),
        (attention(AttentionKind::ReviewLimit), Stage::Stale),
        (attention(AttentionKind::NoProgress), Stage::Stale),
        (attention(AttentionKind::AssigneeUnresponsive), Stage::Stale),
        (attention(AttentionKind::AssigneeRemoved), Stage::Stale),
        (attention(AttentionKind::NeedsInput), Stage::Assigned),
        (Card { old: Some(OldTask::Unreviewed), held_by: Some(HeldBy::Human), ..coder(Status::Backlog) }, Stage::Stale),
        (Card { attention: Some(Attention::new(AttentionKind::Failed, "")), ..coder(Status::InReview) }, Stage::Failed),
        (Card { attention: Some(Attention::new(AttentionKind::EmptyPlan, "")), ..card(1, AgentKind::Planner, Status::Done) }, Stage::Closed),
        (cancelled(Some(CancelReason::Failed)), Stage::Failed),
        (cancelled(Some(CancelReason::Abandoned)), Stage::Abandoned),
        (cancelled(None), Stage::Abandoned),
        (cancelled(Some(CancelReason::Obsolete)), Stage::Obsolete),
        (cancelled(Some(CancelReason::Duplicate)), Stage::Obsolete),
    ];
    for (card, stage) in &cases {
        assert_eq!(Stage::of(card), *stage, "{card:?}");
        assert!(stage.statuses().contains(&card.status), "{card:?}");
    }
    // The derivation reads the status, the attention and these facts; every combination must agree with `statuses`.
    let attentions = AttentionKind::ALL.iter().map(|kind| Some(Attention::new(*kind, ""))).chain([None]);
    for attention in attentions {
        for (status, (card, _)) in Status::ALL.iter().flat_map(|status| cases.iter().map(move |case| (*status, case))) {
            let card = Card { status, attention: attention.clone(), ..card.clone() };
            assert!(Stage::of(&card).statuses().contains(&status), "{card:?}");
        }
    }
    let missing: Vec<&Stage> = Stage::ALL.iter().filter(|stage| !cases.iter().any(|(_, reached)| reached == *stage)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn stage_change_is_a_move_to_its_status() {
    let failed = Card { cancel_reason: Some(CancelReason::Failed), ..coder(Status::Cancelled) };
    let planner = card(1, AgentKind::Planner, Status::Backlog);
    let cases = [
        (coder(Status::Backlog), Stage::Assigned, Some(Status::Backlog)),
        (failed, Stage::Assigned, Some(Status::Backlog)),
        (coder(Status::Cancelled), Stage::Assigned, None),
        (planner, Stage::Assigned, None),
        (coder(Status::Backlog), Stage::InProgress, Some(Status::InProgress)),
        (coder(Status::InProgress), Stage::InProgress, None),
        (coder(Status::InProgress), Stage::Review, Some(Status::InReview)),
        (coder(Status::InReview), Stage::Review, None),
        (coder(Status::InReview), Stage::Completed, Some(Status::Done)),
        (coder(Status::InReview), Stage::Verified, None),
        (coder(Status::Done), Stage::Completed, None),
        (coder(Status::Done), Stage::Verified, Some(Status::Done)),
        (coder(Status::InProgress), Stage::Failed, Some(Status::Cancelled)),
        (coder(Status::Done), Stage::Failed, None),
        (coder(Status::Backlog), Stage::Ready, None),
        (coder(Status::Backlog), Stage::Obsolete, Some(Status::Cancelled)),
        (coder(Status::InProgress), Stage::Obsolete, None),
    ];
    for (card, stage, status) in cases {
        assert_eq!(stage.target_status(&card), status, "{} -> {stage}", card.status);
    }
}

#[test]
fn reachable_stages_come_from_the_table() {
    let reachable = |status, movers: &[Mover]| Stage::reachable(&coder(status), movers);
    assert_eq!(reachable(Status::Backlog, &[Mover::Lead]), [Stage::Assigned, Stage::Abandoned, Stage::Obsolete]);
    assert_eq!(reachable(Status::Backlog, &[Mover::Assignee]), [Stage::InProgress]);
    assert_eq!(reachable(Status::InReview, &[Mover::Lead, Mover::Verifier]), [Stage::InProgress, Stage::Completed]);
    assert_eq!(reachable(Status::Done, &[Mover::Verifier]), [Stage::InProgress, Stage::Verified]);
    assert_eq!(reachable(Status::Done, &[]), []);
}

#[test]
fn old_task_is_decided_by_three_stages() {
    let decided: Vec<(&str, OldTaskDecision)> =
        Stage::ALL.iter().filter_map(|stage| stage.old_task_decision().map(|decision| (stage.as_str(), decision))).collect();
    assert_eq!(decided, [("pending", OldTaskDecision::Open), ("ready", OldTaskDecision::Open), ("stale", OldTaskDecision::Stale)]);
}
