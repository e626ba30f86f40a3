//! A person orders all agents to stop: the one at work hands over, nothing starts, and the work goes on when the order is withdrawn.

use domain::board::reducer::Board;
use domain::board::wait_reason::WaitReason;
use domain::runs::failure::EndClass;
use domain::team::message::Message;
use domain::warroom::handover::Handover;
use domain::warroom::trigger::{Trigger, TriggerWord, Triggers};
use domain::wire::List;
use serde_json::{Value, json};

use crate::support::{self, add, bash, done, tool};

const MANIFEST: &str = "Done: notes.md. Next: write port.txt with 8080, commit and submit.";

/// The first session would work for a minute and never submit. The second submits.
fn scenario() -> String {
    let notes = bash("I write down what I know.", "echo known > notes.md && git add -A && git commit -q -m 'Add notes'");
    let works: Vec<Value> = std::iter::once(notes).chain((0..300).map(|_| bash("I go on.", "sleep 0.2"))).collect();
    let hand_over = tool("I hand over.", "mcp__vibe-relay__fenix_down", &json!({"files": ["notes.md"], "manifest": MANIFEST}));
    let submit = tool("I submit.", "mcp__vibe-relay__update_task_status", &json!({"task_id": "{{task_id}}", "status": "in_review"}));
    let goes_on = bash("I go on where it ended.", "cat notes.md && echo 8080 > port.txt && git add -A && git commit -q -m 'Add the port'");
    let approve = tool("Good.", "mcp__vibe-relay__update_task_status", &json!({"task_id": "{{task_id}}", "status": "done"}));
    let end = json!({"text": "I stop here."});
    json!({"parts": [
        {"phase": "coder", "told": "hand over now", "turns": [hand_over, end]},
        {"phase": "coder", "sees": "<handover>[^$]*port.txt", "turns": [goes_on, submit, end]},
        {"phase": "coder", "turns": works},
        {"phase": "reviewer", "turns": [approve, end]},
    ]})
    .to_string()
}

#[tokio::test]
async fn agents_hand_over_when_ordered_to_stop_and_go_on_when_the_order_is_withdrawn() {
    let (server, model) = support::real(&scenario()).await;
    let project = server.project("Ports", None).await.unwrap().id;
    let task = add(&server, &project, "Choose a port").await;
    tests::wait_for("the agent wrote its notes", || model.requests_of("coder").len() > 2).await;
    let (orders, withdraw) = (format!("/api/projects/{project}/triggers"), format!("/api/projects/{project}/triggers/withdraw"));
    let _: Message = server.post(&orders, &json!({"word": "moon_crash", "note": "the disk is full"})).await.unwrap();
    let is_stopped = |board: &Board| {
        let card = board.card(&task);
        card.is_some_and(|card| {
            card.run.is_none() && matches!(card.wait_reason, Some(WaitReason::StoppedByOrder { word: TriggerWord::MoonCrash, .. }))
        })
    };
    server.until(&project, "the agent has stopped", is_stopped).await;
    let active: Triggers = server.get(&orders).await.unwrap();
    assert_eq!((active.active.len(), active.at_work), (1, 0));
    assert_eq!(server.runs(&task).await.unwrap().len(), 1, "nothing started");

    let _: Trigger = server.post(&withdraw, &json!({"word": "moon_crash"})).await.unwrap();
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    let (stopped, fresh) = (&runs[0], &runs[1]);
    assert_eq!((stopped.end_class, fresh.end_class), (Some(EndClass::Parked), Some(EndClass::Finished)));
    assert_eq!((stopped.attempt, fresh.attempt), (1, 1), "an order uses no attempt");
    assert!(fresh.session_id.is_some() && fresh.session_id != stopped.session_id);
    let handovers: List<Handover> = server.get(&format!("/api/projects/{project}/handovers")).await.unwrap();
    let [handover] = handovers.items.as_slice() else { panic!("{handovers:?}") };
    assert_eq!((handover.manifest.as_str(), handover.automatic), (MANIFEST, false));
    let port = tests::git::git(&server.repository(), &["show", &format!("vibe-relay/{project}:port.txt")]).unwrap();
    assert_eq!(port, "8080");
}
