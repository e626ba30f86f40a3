//! An agent whose conversation is nearly full hands over, and a new session continues from what it left.

use domain::board::reducer::Board;
use domain::runs::failure::{EndClass, FailureClass};
use domain::warroom::handover::Handover;
use domain::wire::{List, TaskView};
use serde_json::{Value, json};

use crate::support::{self, add, bash, done, tool};

const MANIFEST: &str = "Done: notes.md. Decided by the human: port 8080. Next: write port.txt with 8080, commit and submit.";

/// The first session asks for a port, fills its conversation until it is told to hand over, and would never submit. The second knows the port
/// only from the handover.
fn scenario() -> String {
    let words = "I think about it. ".repeat(2_500);
    let fill = (0..15).map(|_| bash(&words, "true"));
    let wait = (0..300).map(|_| bash("I go on.", "sleep 0.2"));
    let notes = bash("I write down what I know.", "echo known > notes.md && git add -A && git commit -q -m 'Add notes'");
    let works: Vec<Value> = std::iter::once(notes).chain(fill).chain(wait).collect();
    let ask = tool("I need a port.", "mcp__vibe-relay__ask_human", &json!({"question": "Which port?"}));
    let hand_over = tool("I hand over.", "mcp__vibe-relay__fenix_down", &json!({"files": ["notes.md"], "manifest": MANIFEST}));
    let submit = tool("I submit.", "mcp__vibe-relay__update_task_status", &json!({"task_id": "{{task_id}}", "status": "in_review"}));
    let goes_on = bash("I go on where it ended.", "cat notes.md && echo 8080 > port.txt && git add -A && git commit -q -m 'Add the port'");
    let approve = tool("Good.", "mcp__vibe-relay__update_task_status", &json!({"task_id": "{{task_id}}", "status": "done"}));
    let end = json!({"text": "I stop here."});
    json!({"parts": [
        {"phase": "coder", "told": "nearly full", "turns": [hand_over, end]},
        {"phase": "coder", "sees": "<handover>[^$]*port 8080", "turns": [goes_on, submit, end]},
        {"phase": "coder", "attempt": 1, "turns": [ask, end]},
        {"phase": "coder", "turns": works},
        {"phase": "reviewer", "turns": [approve, end]},
    ]})
    .to_string()
}

#[tokio::test]
async fn agent_with_little_context_left_hands_over_to_a_new_session() {
    // This model reads 200,000 tokens, fewer than the default one.
    let (server, model) = support::real_with(&scenario(), |options, _| options.config.agents.coder.model = Some("claude-haiku-4-5".to_owned())).await;
    let project = server.project("Ports", None).await.unwrap().id;
    let task = add(&server, &project, "Choose a port").await;
    let is_asked = |board: &Board| board.card(&task).is_some_and(|card| card.attention.is_some() && card.run.is_none());
    server.until(&project, "the agent asks", is_asked).await;
    let _: TaskView = server.post(&format!("/api/tasks/{task}/answer"), &json!({"content": "8080"})).await.unwrap();
    done(&server, &project, &task).await;

    let runs = server.runs(&task).await.unwrap();
    let (full, fresh) = (&runs[1], &runs[2]);
    assert_eq!((full.end_class, full.failure), (Some(EndClass::Limited), Some(FailureClass::ContextFull)), "{:?}", full.error);
    let (used, limit) = (full.context_tokens.unwrap(), full.context_limit.unwrap());
    assert!(used * 4 > limit * 3 && limit == 200_000, "less than a quarter was left: {used} of {limit}");
    assert_eq!((fresh.end_class, fresh.attempt), (Some(EndClass::Finished), full.attempt), "no attempt was used");
    assert!(fresh.session_id.is_some() && fresh.session_id != full.session_id);
    let handovers: List<Handover> = server.get(&format!("/api/projects/{project}/handovers")).await.unwrap();
    let [handover] = handovers.items.as_slice() else { panic!("{handovers:?}") };
    assert_eq!((handover.manifest.as_str(), handover.files[0].path.as_str(), handover.automatic), (MANIFEST, "notes.md", false));
    assert_eq!((&handover.run_id, &handover.continued_by), (&Some(full.id.clone()), &Some(handover.agent.clone())), "it was read");
    let first = model.requests_of("coder").into_iter().map(|request| request.text()).find(|text| text.contains("<handover>")).unwrap();
    assert!(first.contains("Read first: notes.md") && first.contains(MANIFEST), "{first}");
    assert!(!first.contains("I think about it."), "the new session does not have the old conversation");
    let events = server.events(&project).await.unwrap();
    assert_eq!(events.iter().filter(|event| event.event.kind() == "question_asked").count(), 1, "nothing is asked twice");
    let port = tests::git::git(&server.repository(), &["show", &format!("vibe-relay/{project}:port.txt")]).unwrap();
    assert_eq!(port, "8080");
}
