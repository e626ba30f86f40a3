//! Every state that a card can show, with its words.

use domain::board::attention::Attention;
use domain::board::card::CurrentRun;
use domain::board::project::summary::{AgentAtWork, TaskCounts};
use domain::board::status::CancelReason;
use domain::id::{ProjectId, RunId};
use domain::runs::evidence::Sha;
use domain::runs::publication::pull_request::PullRequestStatus;
use domain::runs::publication::task_pull_request::TaskPullRequest;

use super::*;
use crate::testing;

fn card(status: Status) -> Card {
    Card { cost_micro_usd: 0, tokens: 0, ..testing::card(1, status) }
}

fn run(phase: AgentKind) -> Option<CurrentRun> {
    Some(CurrentRun {
        id: RunId::new(1),
        phase,
        attempt: 1,
        started_at: Timestamp::from_milliseconds(0),
        stopping: false,
        port: None,
        low_context: None,
    })
}

fn shown(of: &Card) -> (CardState, String) {
    (CardState::of(of), meta(of, |_| "14:05".to_owned(), None))
}

fn waits(reason: WaitReason) -> Card {
    Card { wait_reason: Some(reason), ..card(Status::Backlog) }
}

#[test]
fn waiting_card_says_when_it_goes_on() {
    let text = |words: &str| words.to_owned();
    assert_eq!(shown(&card(Status::Backlog)), (CardState::Ready, text("Starts next")));
    let blocked = waits(WaitReason::BlockedBy { tasks: vec![TaskId::new(6), TaskId::new(8)] });
    assert_eq!(shown(&blocked), (CardState::Blocked, text("After TASK-006, TASK-008")));
    assert_eq!(shown(&waits(WaitReason::NoFreeSlot { limit: 4 })), (CardState::Waiting, text("No free slot: 4 agents running")));
    let held = Card { held_by: Some(HeldBy::Human), ..waits(WaitReason::Held { by: HeldBy::Human }) };
    assert_eq!(shown(&held), (CardState::Held, text("Held by you")));
}

#[test]
fn card_at_work_names_its_agent_and_cost() {
    let coding = Card { run: run(AgentKind::Coder), cost_micro_usd: 1_840_000, ..card(Status::InProgress) };
    assert_eq!(shown(&coding), (CardState::Working, "Coder · $1.84".to_owned()));
    let reviewed = Card { run: run(AgentKind::Reviewer), ..card(Status::InReview) };
    assert_eq!(shown(&reviewed), (CardState::InReview, "Reviewer".to_owned()));
    let planning = Card { phase: AgentKind::Planner, run: run(AgentKind::Planner), ..card(Status::InProgress) };
    assert_eq!(shown(&planning), (CardState::Working, "Planner".to_owned()));
}

#[test]
fn card_that_needs_a_person_says_so_by_its_tone() {
    let with = |kind| Card { attention: Some(Attention::new(kind, "why")), ..card(Status::InProgress) };
    for kind in AttentionKind::ALL {
        let state = CardState::of(&with(*kind));
        assert!(state.needs_person(), "{kind:?}");
        assert!(matches!(state.tone(), Tone::Warn | Tone::Bad), "{kind:?}");
    }
    assert_eq!(CardState::of(&with(AttentionKind::NeedsInput)), CardState::Question);
    assert_eq!(CardState::of(&with(AttentionKind::Failed)), CardState::Failed);
}

#[test]
fn finished_card_says_how_it_ended() {
    let approved = Some(Sha::from("abc"));
    let queued = Card { approved_sha: approved.clone(), ..card(Status::InReview) };
    assert_eq!(shown(&queued), (CardState::Approved, "Merges next".to_owned()));
    let address = "https://github.com/ann/shop/pull/7".to_owned();
    let opened = TaskPullRequest { address, branch: "vr/TASK-001/work".to_owned(), sha: "abc".into(), status: PullRequestStatus::default() };
    let on_its_host = Card { pull_request: Some(opened), ..queued };
    assert_eq!(shown(&on_its_host), (CardState::Approved, "Open on its host".to_owned()));
    let merged = Card { approved_sha: approved, ..card(Status::Done) };
    assert_eq!(shown(&merged), (CardState::Done, "Merged 14:05".to_owned()));
}

#[test]
fn cancelled_card_is_no_longer_needed_and_not_obsolete() {
    let cancelled = Card { cancel_reason: Some(CancelReason::Obsolete), ..card(Status::Cancelled) };
    assert_eq!(shown(&cancelled), (CardState::Cancelled, "No longer needed".to_owned()));
}

#[test]
fn reviewer_of_another_project_is_named_on_a_card_that_waits_for_it() {
    let waiting = waits(WaitReason::KindLimitReached { phase: AgentKind::Reviewer });
    let summary = |number: u64, title: &str, phase: AgentKind| {
        let project =
            domain::board::project::Project { id: ProjectId::new(number), title: title.to_owned(), ..testing::board(Vec::new()).board.project };
        let (started_at, title) = (Timestamp::from_milliseconds(0), String::new());
        let agent = AgentAtWork { run_id: RunId::new(number), task_id: TaskId::new(number + 10), title, phase, started_at };
        ProjectSummary {
            project,
            tasks: TaskCounts::default(),
            agents: vec![agent],
            needs_you: 0,
            planned_tasks: 0,
            cost_micro_usd: 0,
            ready_to_land: None,
            last_event: None,
        }
    };
    let others = [summary(2, "Letters", AgentKind::Coder), summary(3, "Numbers", AgentKind::Reviewer)];
    let named = busy_elsewhere(&waiting, &others);
    assert_eq!(named.as_deref(), Some("Waits for the reviewer of TASK-013 in Numbers"));
    assert_eq!(meta(&waiting, |_| String::new(), named), "Waits for the reviewer of TASK-013 in Numbers");
    assert_eq!(busy_elsewhere(&waiting, &[summary(1, "Own", AgentKind::Reviewer)]), None, "its own board shows it");
    assert_eq!((busy_elsewhere(&waiting, &[]), busy_elsewhere(&card(Status::Backlog), &others)), (None, None));
}
