//! Only actions that may change files lead to a checkpoint, one for all that happens in a pause.

use std::time::Duration;

use domain::runs::run_event::{RunEvent, StopReason, ToolCall, ToolKind};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Action, Checkpoints, wait_until};

fn started(kind: ToolKind, title: &str) -> RunEvent {
    let (name, title) = ("Tool".to_owned(), title.to_owned());
    RunEvent::ToolStarted(ToolCall { id: "1".to_owned(), kind, name, title, locations: Vec::new(), input: Value::Null, edits: Vec::new() })
}

fn ended() -> RunEvent {
    RunEvent::ToolEnded { id: "1".to_owned(), ok: true, output: String::new() }
}

fn turn_ended() -> RunEvent {
    RunEvent::TurnEnded { reason: StopReason::EndTurn }
}

fn feed() -> (Checkpoints, watch::Receiver<Action>) {
    let (actions, receiver) = watch::channel(Action::default());
    (Checkpoints { begun: None, actions, taker: tokio::spawn(async {}) }, receiver)
}

#[tokio::test]
async fn reading_leads_to_no_checkpoint() {
    let (mut feed, mut actions) = feed();
    feed.observe(&[started(ToolKind::Read, "a.rs"), ended(), turn_ended()], "");
    assert!(!actions.has_changed().unwrap());
    feed.observe(&[started(ToolKind::Edit, "a.rs")], "");
    assert!(!actions.has_changed().unwrap(), "it has not happened yet");
    feed.observe(&[ended()], "");
    assert_eq!(*actions.borrow_and_update(), Action { text: "edits a.rs".to_owned(), turn_ended: false });
    feed.finish().await;
    assert!(actions.changed().await.is_err(), "the run has ended");
}

#[tokio::test(start_paused = true)]
async fn checkpoint_waits_for_the_pause_or_the_end_of_the_turn() {
    let (mut feed, mut actions) = feed();
    let (began, pause) = (Instant::now(), Duration::from_secs(60));
    feed.observe(&[started(ToolKind::Edit, "a.rs"), ended()], "");
    wait_until(began + pause, &mut actions).await;
    assert_eq!(began.elapsed(), pause);
    feed.observe(&[started(ToolKind::Execute, "make"), ended(), turn_ended()], "");
    wait_until(began + 2 * pause, &mut actions).await;
    assert_eq!((began.elapsed(), actions.borrow().text.as_str()), (pause, "runs make"));
    feed.observe(&[started(ToolKind::Execute, "make"), ended()], "");
    drop(feed);
    wait_until(began + 2 * pause, &mut actions).await;
    assert_eq!(began.elapsed(), pause, "the run has ended");
}
