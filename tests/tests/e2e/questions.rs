//! Agents that wait for the human: a coder with a question, and a planner with a plan to approve.

use domain::board::attention::AttentionKind;
use domain::board::project::{PlanApproval, Project};
use domain::board::reducer::Board;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::wait_reason::WaitReason;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::wire::{NewProject, TaskView};
use serde_json::json;
use tests::git::git;
use tests::server::{TestServer, card};

use crate::support::{self, add, at_work, complete, done};

const SCENARIO: &str = include_str!("../../scenarios/questions.json");

#[tokio::test]
async fn open_question_frees_the_slot_of_the_scripted_agent() {
    question(support::scripted_with(SCENARIO, |options| options.config.max_parallel_agents = 1).await).await;
}

#[tokio::test]
async fn open_question_frees_the_slot_of_the_real_agent() {
    let (server, _model) = support::real_with(SCENARIO, |options, _| options.config.max_parallel_agents = 1).await;
    question(server).await;
}

/// Expects a server with one slot.
async fn question(server: TestServer) {
    let project = server.project("Errands", None).await.unwrap().id;
    let asks = add(&server, &project, "Choose the paint").await;
    at_work(&server, &asks).await;
    let other = add(&server, &project, "Tidy up").await;
    let waits = |board: &Board| board.card(&other).is_some_and(|card| card.wait_reason == Some(WaitReason::NoFreeSlot { limit: 1 }));
    server.until(&project, "the other task waits for the slot", waits).await;
    support::open(&server, asks.as_str());

    done(&server, &project, &other).await;
    let view = server.task(&asks).await.unwrap();
    let question = view.question.unwrap();
    assert_eq!((question.question.as_str(), question.options.as_slice()), ("Which colour?", &["Violet".to_owned(), "Teal".to_owned()][..]));
    let card = view.task.card;
    assert_eq!((card.status, card.wait_reason, card.run), (Status::InProgress, Some(WaitReason::NeedsAttention), None));
    assert_eq!(card.attention.unwrap().kind, AttentionKind::NeedsInput);

    let _: TaskView = server.post(&format!("/api/tasks/{asks}/answer"), &json!({"content": "Violet"})).await.unwrap();
    done(&server, &project, &asks).await;
    let runs = server.runs(&asks).await.unwrap();
    let told: Vec<(AgentKind, Option<EndClass>)> = runs.iter().map(|run| (run.phase, run.end_class)).collect();
    let finished = Some(EndClass::Finished);
    assert_eq!(told, [(AgentKind::Coder, Some(EndClass::AwaitingAnswer)), (AgentKind::Coder, finished), (AgentKind::Reviewer, finished)]);
    assert_eq!(runs[0].session_id, runs[1].session_id, "the session that asked goes on");
    assert_eq!(git(&server.repository(), &["show", "vibe-relay/PROJ-001:paint.txt"]).unwrap(), "violet", "with the answer");
    let again = server.request(reqwest::Method::POST, &format!("/api/tasks/{asks}/answer")).json(&json!({"content": "Teal"}));
    assert_eq!(server.refusal(again).await.unwrap().code, "no-question");
}

#[tokio::test]
async fn plan_is_revised_on_feedback_and_starts_on_approval() {
    let mut server = support::scripted(SCENARIO).await;
    let new = NewProject { title: "A text".to_owned(), description: Some("Write it.".to_owned()), ..NewProject::default() };
    let new = NewProject { plan_approval: Some(PlanApproval::Ask), ..new };
    let project = server.post::<Project>("/api/projects", &new).await.unwrap().id;
    let plan_waits = |board: &Board| board.cards[0].status == Status::Done && board.cards[0].run.is_none() && !board.plan().is_empty();
    let board = server.until(&project, "the plan waits", plan_waits).await;
    assert_eq!(board.plan().iter().map(|card| card.title.as_str()).collect::<Vec<_>>(), ["Write everything at once"]);
    let first = board.cards[0].id.clone();

    let words = json!({"content": "Make it two tasks."});
    let _: Project = server.post(&format!("/api/projects/{project}/plan/revise"), &words).await.unwrap();
    let board = server.until(&project, "the new plan waits", |board| plan_waits(board) && board.plan().len() == 2).await;
    let dropped = card(&board, "Write everything at once");
    assert_eq!((dropped.status, dropped.cancel_reason), (Status::Cancelled, Some(CancelReason::Obsolete)));
    let planned = server.runs(&first).await.unwrap();
    assert_eq!(planned.iter().map(|run| run.phase).collect::<Vec<_>>(), [AgentKind::Planner, AgentKind::Planner]);
    assert_eq!(planned[0].session_id, planned[1].session_id, "the planner that made the plan mends it");

    // No task of a waiting plan starts by itself, not even after a restart.
    server.kill().await.unwrap();
    server.serve().await.unwrap();
    let errand = add(&server, &project, "An errand beside the plan").await;
    done(&server, &project, &errand).await;
    for waiting in server.board(&project).await.unwrap().plan() {
        assert_eq!((waiting.runs, &waiting.wait_reason), (0, &Some(WaitReason::Held { by: HeldBy::Plan })));
    }

    let _: Project = server.post(&format!("/api/projects/{project}/plan/approve"), &json!({})).await.unwrap();
    let board = server.until(&project, "the project is complete", |board| {
        let left: Vec<_> = board.cards.iter().filter(|card| card.status != Status::Cancelled).cloned().collect();
        complete(&Board { cards: left, ..board.clone() })
    });
    let board = board.await;
    for half in ["first half", "second half"] {
        assert_eq!(card(&board, half).runs, 2, "coder and reviewer");
    }
    let again = server.request(reqwest::Method::POST, &format!("/api/projects/{project}/plan/approve")).json(&json!({}));
    assert_eq!(server.refusal(again).await.unwrap().code, "no-plan-waiting");
}
