//! Which of a session's streams gets an event.

use rmcp::model::{ServerNotification, ToolListChangedNotification};

use super::*;

fn event() -> ServerSseMessage {
    let notification = ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default());
    ServerSseMessage::from_message(ServerJsonRpcMessage::notification(notification))
}

fn ids(stream: &mut mpsc::Receiver<ServerSseMessage>) -> Vec<String> {
    std::iter::from_fn(|| stream.try_recv().ok()).map(|event| event.event_id.unwrap()).collect()
}

#[tokio::test]
async fn newest_open_stream_gets_the_event() {
    let events = SessionEvents::default();
    let mut first = events.open(None);
    events.deliver(event()).await;
    let mut second = events.open(None);
    events.deliver(event()).await;
    assert_eq!((ids(&mut first), ids(&mut second)), (vec!["0".to_owned()], vec!["1".to_owned()]));
    drop(second);
    events.deliver(event()).await;
    assert_eq!(ids(&mut first), ["2"], "the older stream takes over");
}

#[tokio::test]
async fn event_without_a_stream_is_kept_for_the_next() {
    let events = SessionEvents::default();
    drop(events.open(None));
    for _ in 0..MAX_RECENT + 2 {
        events.deliver(event()).await;
    }
    let kept = ids(&mut events.open(None));
    assert_eq!((kept.len(), kept[0].as_str()), (MAX_RECENT, "2"), "the oldest are dropped");
    assert!(ids(&mut events.open(None)).is_empty(), "each event is sent once");
}

#[tokio::test]
async fn stream_resumes_after_the_last_event_seen() {
    let events = SessionEvents::default();
    let mut first = events.open(None);
    for _ in 0..3 {
        events.deliver(event()).await;
    }
    assert_eq!(ids(&mut first).len(), 3);
    assert_eq!(ids(&mut events.open(Some(0))), ["1", "2"]);
    assert!(ids(&mut events.open(Some(2))).is_empty());
}

#[tokio::test(start_paused = true)]
async fn stalled_stream_is_closed_for_an_older_one() {
    let events = SessionEvents::default();
    let mut older = events.open(None);
    let mut stalled = events.open(None);
    for _ in 0..=MAX_RECENT + STREAM_CAPACITY {
        events.deliver(event()).await;
    }
    assert_eq!(ids(&mut older), [(MAX_RECENT + STREAM_CAPACITY).to_string()]);
    assert_eq!(ids(&mut stalled).len(), MAX_RECENT + STREAM_CAPACITY);
    assert!(stalled.recv().await.is_none());
}
