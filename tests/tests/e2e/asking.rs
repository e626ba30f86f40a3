//! Agents that wait for the person's word: a coder with a question, a planner with a plan.

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
use tests::relay::{Relay, card};

use crate::scene::{self, add, at_work, complete, done};

const SCENARIO: &str = include_str!("../../scenarios/asking.json");

#[tokio::test]
async fn a_question_of_the_scripted_agent_frees_its_slot_until_it_is_answered() {
    question(scene::scripted_with(SCENARIO, |setting| setting.config.max_parallel_agents = 1).await).await;
}

#[tokio::test]
async fn a_question_of_the_real_agent_frees_its_slot_until_it_is_answered() {
    let (relay, _model) = scene::real_with(SCENARIO, |setting, _| setting.config.max_parallel_agents = 1).await;
    question(relay).await;
}

/// There is one slot.
async fn question(relay: Relay) {
    let project = relay.project("Errands", None).await.unwrap().id;
    let asks = add(&relay, &project, "Choose the paint").await;
    at_work(&relay, &asks).await;
    let other = add(&relay, &project, "Tidy up").await;
    let waits = |board: &Board| board.card(&other).is_some_and(|card| card.wait_reason == Some(WaitReason::NoFreeSlot { limit: 1 }));
    relay.until(&project, "the other task waits for the slot", waits).await;
    scene::open(&relay, asks.as_str());

    done(&relay, &project, &other).await;
    let view = relay.task(&asks).await.unwrap();
    let question = view.question.unwrap();
    assert_eq!((question.question.as_str(), question.options.as_slice()), ("Which colour?", &["Violet".to_owned(), "Teal".to_owned()][..]));
    let card = view.task.card;
    assert_eq!((card.status, card.wait_reason, card.run), (Status::InProgress, Some(WaitReason::NeedsAttention), None));
    assert_eq!(card.attention.unwrap().kind, AttentionKind::NeedsInput);

    let _: TaskView = relay.post(&format!("/api/tasks/{asks}/answer"), &json!({"content": "Violet"})).await.unwrap();
    done(&relay, &project, &asks).await;
    let runs = relay.runs(&asks).await.unwrap();
    let told: Vec<(AgentKind, Option<EndClass>)> = runs.iter().map(|run| (run.phase, run.end_class)).collect();
    let finished = Some(EndClass::Finished);
    assert_eq!(told, [(AgentKind::Coder, Some(EndClass::AwaitingAnswer)), (AgentKind::Coder, finished), (AgentKind::Reviewer, finished)]);
    assert_eq!(runs[0].session_id, runs[1].session_id, "the session that asked goes on");
    assert_eq!(git(&relay.repository(), &["show", "vibe-relay/PROJ-001:paint.txt"]).unwrap(), "violet", "with the answer");
    let again = relay.request(reqwest::Method::POST, &format!("/api/tasks/{asks}/answer")).json(&json!({"content": "Teal"}));
    assert_eq!(relay.refusal(again).await.unwrap().code, "no-question");
}

#[tokio::test]
async fn a_plan_waits_is_sent_back_with_words_and_starts_when_approved() {
    let mut relay = scene::scripted(SCENARIO).await;
    let new = NewProject { title: "A text".to_owned(), description: Some("Write it.".to_owned()), ..NewProject::default() };
    let new = NewProject { plan_approval: Some(PlanApproval::Ask), ..new };
    let project = relay.post::<Project>("/api/projects", &new).await.unwrap().id;
    let plan_waits = |board: &Board| board.cards[0].status == Status::Done && board.cards[0].run.is_none() && !board.plan().is_empty();
    let board = relay.until(&project, "the plan waits", plan_waits).await;
    assert_eq!(board.plan().iter().map(|card| card.title.as_str()).collect::<Vec<_>>(), ["Write everything at once"]);
    let first = board.cards[0].id.clone();

    let words = json!({"content": "Make it two tasks."});
    let _: Project = relay.post(&format!("/api/projects/{project}/plan/revise"), &words).await.unwrap();
    let board = relay.until(&project, "the new plan waits", |board| plan_waits(board) && board.plan().len() == 2).await;
    let dropped = card(&board, "Write everything at once");
    assert_eq!((dropped.status, dropped.cancel_reason), (Status::Cancelled, Some(CancelReason::Obsolete)));
    let planned = relay.runs(&first).await.unwrap();
    assert_eq!(planned.iter().map(|run| run.phase).collect::<Vec<_>>(), [AgentKind::Planner, AgentKind::Planner]);
    assert_eq!(planned[0].session_id, planned[1].session_id, "the planner that made the plan mends it");

    // Nothing of a plan that waits starts by itself, not even with a new server.
    relay.kill().await.unwrap();
    relay.serve().await.unwrap();
    let errand = add(&relay, &project, "An errand beside the plan").await;
    done(&relay, &project, &errand).await;
    for waiting in relay.board(&project).await.unwrap().plan() {
        assert_eq!((waiting.runs, &waiting.wait_reason), (0, &Some(WaitReason::Held { by: HeldBy::Plan })));
    }

    let _: Project = relay.post(&format!("/api/projects/{project}/plan/approve"), &json!({})).await.unwrap();
    let board = relay.until(&project, "the project is complete", |board| {
        let left: Vec<_> = board.cards.iter().filter(|card| card.status != Status::Cancelled).cloned().collect();
        complete(&Board { cards: left, ..board.clone() })
    });
    let board = board.await;
    for half in ["first half", "second half"] {
        assert_eq!(card(&board, half).runs, 2, "coder and reviewer");
    }
    let again = relay.request(reqwest::Method::POST, &format!("/api/projects/{project}/plan/approve")).json(&json!({}));
    assert_eq!(relay.refusal(again).await.unwrap().code, "no-plan-waiting");
}
