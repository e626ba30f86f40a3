//! Agents that do not do their part: they are tried again, reminded or refused, always a bounded number of times, then the person is asked.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::output::OutputKind;
use domain::runs::run::Run;
use domain::wire::TaskView;
use serde_json::json;
use tests::relay::Relay;

use crate::scene::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/failing.json");

async fn standing_board(max_attempts: u32) -> (Relay, ProjectId) {
    let change = |setting: &mut tests::relay::Setting| {
        setting.config.max_attempts = max_attempts;
        setting.config.max_review_rounds = 2;
    };
    let relay = scene::scripted_with(SCENARIO, change).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    (relay, project)
}

async fn needs_the_person(relay: &Relay, project: &ProjectId, task: &TaskId) -> Attention {
    let board = relay.until(project, "the person is asked", |board: &Board| board.card(task).unwrap().attention.is_some()).await;
    board.card(task).unwrap().attention.clone().unwrap()
}

fn ends(runs: &[Run]) -> Vec<(AgentKind, Option<EndClass>, Option<FailureClass>)> {
    runs.iter().map(|run| (run.phase, run.end_class, run.failure)).collect()
}

const CODED: (AgentKind, Option<EndClass>, Option<FailureClass>) = (AgentKind::Coder, Some(EndClass::Finished), None);
const REVIEWED: (AgentKind, Option<EndClass>, Option<FailureClass>) = (AgentKind::Reviewer, Some(EndClass::Finished), None);
const CRASHED: (AgentKind, Option<EndClass>, Option<FailureClass>) = (AgentKind::Coder, Some(EndClass::Failed), Some(FailureClass::Crashed));

#[tokio::test]
async fn a_crash_is_tried_again_until_the_attempts_are_used_up_then_retry_begins_anew() {
    let (relay, project) = standing_board(2).await;
    let task = add(&relay, &project, "Crash twice").await;
    let waits = |board: &Board| matches!(board.card(&task).unwrap().wait_reason, Some(WaitReason::Backoff { after: FailureClass::Crashed, .. }));
    relay.until(&project, "it waits before the second attempt", waits).await;
    let attention = needs_the_person(&relay, &project, &task).await;
    assert_eq!(attention.kind, AttentionKind::Failed);
    assert!(attention.detail.starts_with("2 attempts failed") && attention.detail.contains("Retry"), "{}", attention.detail);
    assert_eq!(ends(&relay.runs(&task).await.unwrap()), [CRASHED, CRASHED]);

    let _: TaskView = relay.post(&format!("/api/tasks/{task}/retry"), &json!({})).await.unwrap();
    done(&relay, &project, &task).await;
    let runs = relay.runs(&task).await.unwrap();
    assert_eq!(ends(&runs), [CRASHED, CRASHED, CODED, REVIEWED]);
    assert!(runs[..3].windows(2).all(|pair| pair[0].session_id == pair[1].session_id), "the session goes on: {runs:#?}");
}

#[tokio::test]
async fn an_agent_that_leaves_its_card_is_reminded_once() {
    let (relay, project) = standing_board(1).await;
    let [once, always] = [add(&relay, &project, "Forget once").await, add(&relay, &project, "Forget always").await];
    done(&relay, &project, &once).await;
    assert_eq!(ends(&relay.runs(&once).await.unwrap()), [CODED, REVIEWED]);

    let attention = needs_the_person(&relay, &project, &always).await;
    assert_eq!(attention.kind, AttentionKind::NoOutcome);
    let forgot = (AgentKind::Coder, Some(EndClass::Failed), Some(FailureClass::NoOutcome));
    assert_eq!(ends(&relay.runs(&always).await.unwrap()), [forgot]);
    let events = relay.events(&project).await.unwrap();
    for task in [&once, &always] {
        let reminders = events.iter().filter(|envelope| envelope.task_id.as_ref() == Some(task) && envelope.event == Event::RunReminded {});
        assert_eq!(reminders.count(), 1, "{task} was reminded once");
    }
}

#[tokio::test]
async fn done_is_checked_and_sending_back_has_an_end() {
    let (relay, project) = standing_board(1).await;
    let task = add(&relay, &project, "Cut corners").await;
    let attention = needs_the_person(&relay, &project, &task).await;
    assert_eq!(attention.kind, AttentionKind::ReviewLimit);
    assert!(attention.detail.contains("sent back 2 times"), "{}", attention.detail);
    let view = relay.task(&task).await.unwrap();
    assert_eq!((view.task.card.status, view.task.review_rounds), (Status::InProgress, 2));
    let runs = relay.runs(&task).await.unwrap();
    assert_eq!(ends(&runs), [CODED, REVIEWED, CODED, REVIEWED]);

    let first = relay.output(&runs[0].id).await.unwrap().lines;
    let refused = first.iter().find(|line| line.kind == OutputKind::ToolError).unwrap();
    assert!(format!("{refused:?}").contains("1 files that are not committed: draft.txt"), "{refused:?}");
    assert!(first.iter().any(|line| line.text == "Refused: draft.txt."), "the agent was told which file");
}
