//! The wire format of messages.

use super::*;

fn message() -> Message {
    Message {
        id: 7,
        project_id: ProjectId::new(1),
        from_agent: "platform/mara".to_owned(),
        to_agent: "ole".to_owned(),
        content: "Done".to_owned(),
        is_cc: false,
        cc_original_to: None,
        cc: Vec::new(),
        task_id: None,
        reply_to: None,
        timestamp: Timestamp::from_milliseconds(1_769_850_300_000),
        read: false,
    }
}

#[test]
fn inbox_has_a_stable_json_form() {
    let copy = Message {
        id: 8,
        to_agent: "ann".to_owned(),
        is_cc: true,
        cc_original_to: Some("ole".to_owned()),
        task_id: Some(TaskId::new(2)),
        reply_to: Some(6),
        ..message()
    };
    let inbox = Inbox {
        messages: vec![InboxMessage { message: message(), redelivered: false }, InboxMessage { message: copy, redelivered: true }],
        remaining: 3,
    };
    let text = serde_json::to_string(&inbox).unwrap();
    assert_eq!(serde_json::from_str::<Inbox>(&text).unwrap(), inbox);
    insta::assert_snapshot!(text, @r#"{"messages":[{"id":7,"project_id":"PROJ-001","from_agent":"platform/mara","to_agent":"ole","content":"Done","is_cc":false,"timestamp":"2026-01-31T09:05:00.000Z","read":false},{"id":8,"project_id":"PROJ-001","from_agent":"platform/mara","to_agent":"ann","content":"Done","is_cc":true,"cc_original_to":"ole","task_id":"TASK-002","reply_to":6,"timestamp":"2026-01-31T09:05:00.000Z","read":false,"redelivered":true}],"remaining":3}"#);
}

#[test]
fn sent_message_lists_copies() {
    let sent = Message { cc: vec!["ann".to_owned()], ..message() };
    let text = serde_json::to_string(&sent).unwrap();
    assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), sent);
    insta::assert_snapshot!(text, @r#"{"id":7,"project_id":"PROJ-001","from_agent":"platform/mara","to_agent":"ole","content":"Done","is_cc":false,"cc":["ann"],"timestamp":"2026-01-31T09:05:00.000Z","read":false}"#);
}

#[test]
fn new_message_requires_recipient_and_content() {
    let minimal: NewMessage = serde_json::from_str(r#"{"to": "all", "content": "Stop"}"#).unwrap();
    assert_eq!((minimal.cc.len(), minimal.task_id, minimal.reply_to), (0, None, None));
    for bad in [r#"{"to": "all"}"#, r#"{"content": "Stop"}"#, r#"{"to": "all", "content": "Stop", "from_agent": "ole"}"#] {
        assert!(serde_json::from_str::<NewMessage>(bad).is_err(), "{bad}");
    }
}

#[test]
fn alert_contains_count_and_senders() {
    assert_eq!(Unread::default().alert(), None);
    let unread = Unread { count: 3, blocking_count: 1, senders: vec!["ole".to_owned(), "ann".to_owned()], urgent: false };
    assert_eq!(unread.alert().unwrap(), "*** YOU HAVE 3 UNREAD MESSAGE(S) from ole, ann *** Call check_inbox now!");
}
