//! Properties of the schedule of every board.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::board::attention::{Attention, AttentionKind};
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::parking::{ParkReason, Parking};
use proptest::prelude::*;
use proptest::sample::select;

use super::scene::{Draft, Scene, at, id, noon, scene, task};
use crate::schedule::Action;

fn draft(number: u64) -> impl Strategy<Value = Draft> {
    let place = (select(AgentKind::ALL), select(Status::ALL), select(CancelReason::ALL), any::<bool>());
    let marks = (proptest::option::weighted(0.2, select(HeldBy::ALL)), proptest::bool::weighted(0.2), any::<bool>(), 0u32..6, -1i64..2);
    let edges = (proptest::option::weighted(0.3, 1..=number), prop::collection::vec(1u64..12, 0..3));
    let work = (proptest::option::weighted(0.3, select(AgentKind::ALL)), any::<bool>(), proptest::option::weighted(0.2, 0i64..24));
    // Connected, or with a last heartbeat, if any.
    let assigned = proptest::option::weighted(0.3, proptest::option::of(proptest::option::of((0i64..12, 0i64..60))));
    let unresponsive = proptest::bool::weighted(0.1);
    let asks = proptest::bool::weighted(0.03);
    (place, marks, edges, work, (assigned, unresponsive, asks)).prop_map(move |(place, marks, edges, work, (assigned, unresponsive, asks))| {
        let ((phase, status, reason, checkout), (held, attention, approved, rounds, priority)) = (place, marks);
        let ((parent, after), (run, stopping, retry)) = (edges, work);
        let mut draft = task(number).phase(phase).priority(priority).after(&after).rejected(rounds).status(status);
        if unresponsive {
            draft = draft.attention(AttentionKind::AssigneeUnresponsive);
        }
        if asks {
            draft = draft.awaits_branch_decision();
        }
        if status == Status::Cancelled {
            draft = draft.cancelled(reason);
        }
        if approved && status == Status::InReview {
            draft = draft.approved();
        }
        if let Some(by) = held {
            draft = draft.held(by);
        }
        if attention {
            draft = draft.flagged();
        }
        if let Some(parent) = parent {
            draft = draft.parent(parent);
        }
        if let Some(hour) = retry {
            draft = draft.retry_at(at(hour, 0));
        }
        if checkout {
            draft = draft.checkout();
        }
        draft = match assigned {
            Some(None) => draft.assigned("mara"),
            Some(Some(last_seen)) => draft.assigned_offline("mara", last_seen.map(|(hour, minute)| at(hour, minute))),
            None => draft,
        };
        match run {
            Some(phase) if stopping => draft.stopping(phase),
            Some(phase) => draft.running(phase),
            None => draft,
        }
    })
}

fn boards() -> impl Strategy<Value = Scene> {
    let drafts = (1u64..12).map(draft).collect::<Vec<_>>();
    let limits = (1u32..5, 1u32..3);
    let busy = prop::collection::vec(1u64..12, 0..6);
    let near = (0u64..40).prop_map(|seconds| noon().before(Duration::from_secs(20)).after(Duration::from_secs(seconds)));
    let until = prop_oneof![(0i64..24).prop_map(|hour| at(hour, 30)), near];
    let parkings = prop::collection::vec((select(ParkReason::ALL), until), 0..3);
    (drafts, limits, busy, parkings).prop_map(|(drafts, (agents, reviewers), busy, parkings)| {
        let parked = |scene: Scene, (reason, until)| scene.parked(reason, until);
        parkings.into_iter().fold(scene(drafts).slots(agents, reviewers).busy(&busy), parked)
    })
}

fn subject(action: &Action) -> Option<&TaskId> {
    match action {
        Action::Start { task, .. } | Action::Adopt { task, .. } | Action::Merge { task, .. } => Some(task),
        Action::Check { task } | Action::Clean { task } | Action::RequestAttention { task, .. } | Action::FlagLimit { task, .. } => Some(task),
        Action::SettleLimit { task } => Some(task),
        Action::FlagUnresponsiveAssignee { task, .. } | Action::ClearUnresponsiveAssignee { task } | Action::RecheckBranch { task } => Some(task),
        Action::Resume { .. }
        | Action::CompleteHandshake { .. }
        | Action::ExpireClaims { .. }
        | Action::ExpireTrigger { .. }
        | Action::HandOver { .. }
        | Action::WarnOfLimit { .. } => None,
        Action::RemoveProject { .. } => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn same_board_has_same_schedule(board in boards()) {
        prop_assert_eq!(board.schedule(), board.schedule());
    }

    /// The facts that [`Scene::narrowed`] keeps are all that the schedule reads of finished tasks.
    #[test]
    fn finished_tasks_matter_only_as_references(board in boards()) {
        prop_assert_eq!(board.clone().narrowed().schedule(), board.schedule());
    }

    #[test]
    fn agents_never_exceed_slots(board in boards()) {
        let schedule = board.schedule();
        let starts = schedule.actions.iter().filter(|action| matches!(action, Action::Start { .. })).count();
        let live = board.state.live.len();
        prop_assert!(starts == 0 || starts + live <= board.config.max_parallel_agents as usize);
        let reviews = schedule.actions.iter().filter(|action| matches!(action, Action::Start { phase: AgentKind::Reviewer, .. })).count();
        let reviewing = board.state.live.iter().filter(|run| run.phase == AgentKind::Reviewer).count();
        prop_assert!(reviews == 0 || reviews + reviewing <= board.config.agents.reviewer.max_parallel.unwrap() as usize);
        let tried = |parking: &Parking| parking.needs_probe() && parking.until <= noon();
        prop_assert!(starts == 0 || board.state.parkings.iter().all(tried));
        prop_assert!(starts <= 1 || board.state.parkings.is_empty());
    }

    #[test]
    fn task_gets_at_most_one_action_and_none_while_busy(board in boards()) {
        let schedule = board.schedule();
        let subjects: Vec<&TaskId> = schedule.actions.iter().filter_map(subject).collect();
        let distinct: BTreeSet<&TaskId> = subjects.iter().copied().collect();
        prop_assert_eq!(distinct.len(), subjects.len());
        prop_assert!(distinct.iter().all(|task| !board.busy.contains(*task)));
    }

    #[test]
    fn only_startable_tasks_are_started(board in boards()) {
        for action in board.schedule().actions {
            let Action::Start { task, phase, status } = action else { continue };
            let card = &board.state.tasks.iter().find(|known| known.task.card.id == task).unwrap().task.card;
            prop_assert!(card.run.is_none() && card.held_by.is_none() && card.attention.is_none());
            prop_assert!(card.contributors.assigned_to.is_none());
            prop_assert!(card.status == status && status.is_open() && !card.is_approved());
            prop_assert_eq!(phase == AgentKind::Reviewer, status == Status::InReview || card.phase == AgentKind::Reviewer);
        }
    }

    #[test]
    fn open_task_without_run_starts_or_has_a_wait_reason(board in boards()) {
        let schedule = board.schedule();
        for number in 1..12 {
            let card = &board.state.tasks.iter().find(|known| known.task.card.id == id(number)).unwrap().task.card;
            if !card.status.is_open() || card.run.is_some() || board.busy.contains(&card.id) {
                continue;
            }
            let starts = schedule.actions.iter().any(|action| matches!(action, Action::Start { task, .. } if *task == card.id));
            let wait_reasons = schedule.wait_reasons.iter().filter(|(task, why)| *task == card.id && why.is_some()).count();
            prop_assert_eq!(wait_reasons, usize::from(!starts), "{} in {:?}", card.id, schedule);
        }
    }

    /// After a flag is set or cleared, the next schedule neither repeats nor reverts it.
    #[test]
    fn assignee_flag_changes_once(mut board in boards()) {
        for action in board.schedule().actions {
            let (task, attention) = match action {
                Action::FlagUnresponsiveAssignee { task, detail, .. } => (task, Some(Attention::new(AttentionKind::AssigneeUnresponsive, detail))),
                Action::ClearUnresponsiveAssignee { task } => (task, None),
                _ => continue,
            };
            let card = &mut board.state.tasks.iter_mut().find(|known| known.task.card.id == task).unwrap().task.card;
            prop_assert!(card.run.is_none() && card.attention.is_some() == attention.is_none());
            // As the store does.
            (card.attention, card.updated_at) = (attention, noon());
        }
        let next = board.schedule().actions;
        prop_assert!(!next.iter().any(|action| matches!(action, Action::FlagUnresponsiveAssignee { .. } | Action::ClearUnresponsiveAssignee { .. })), "{:?}", next);
    }

    /// Stored wait reasons do not change in the next schedule.
    #[test]
    fn wait_reasons_are_stable(mut board in boards()) {
        for (task, why) in board.schedule().wait_reasons {
            let known = board.state.tasks.iter_mut().find(|known| known.task.card.id == task).unwrap();
            known.task.card.wait_reason = why;
        }
        prop_assert_eq!(board.schedule().wait_reasons, []);
    }
}
