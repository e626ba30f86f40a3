//! Tests the notices that are appended to the results of tools.

use db::Caller;
use serde_json::{Value, json};

use super::fixture::{Board, done, named_call, refused};
use crate::notice::{Notice, Notices};

#[tokio::test]
async fn notice_appears_once() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    let look = json!({"task_id": coder.task});
    let quiet = done(&client, "add_comment", json!({"task_id": coder.task, "content": "I begin."})).await;
    assert!(!quiet.text.contains("notices") && quiet.data["notices"].is_null(), "{}", quiet.text);

    board.db.add_comment(&Caller::owner(), &coder.task, "Use blue.\nDark blue.", None).await.unwrap();
    board.db.message_run(&Caller::owner(), &coder.run.run.id, "Hurry").await.unwrap();
    let told = done(&client, "get_my_tasks", json!({})).await;
    insta::assert_snapshot!(told.text, @"
    TASK-002 [in_progress] coder: Add a page · RUN-001 running (coder, attempt 1) · comments: 3

    notices:
    - new comment by human on TASK-002: Use blue.…
    - message from the human: Hurry
    ");
    insta::assert_json_snapshot!(told.data["notices"], @r#"
    [
      {
        "author_role": "human",
        "content": "Use blue.…",
        "kind": "comment",
        "task": "TASK-002"
      },
      {
        "content": "Hurry",
        "kind": "message"
      }
    ]
    "#);
    assert!(!done(&client, "get_task", look).await.text.contains("notices"));
}

#[tokio::test]
async fn repeated_call_repeats_its_notices() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    let comment = json!({"task_id": coder.task, "content": "half way"});
    board.db.add_comment(&Caller::owner(), &coder.task, "Use blue.", None).await.unwrap();
    let lost = named_call(&client, "add_comment", comment.clone(), "toolu_1").await;
    let again = named_call(&client, "add_comment", comment, "toolu_1").await;
    assert_eq!((&lost.text, &lost.data), (&again.text, &again.data));
    assert!(again.text.contains("Use blue."), "{}", again.text);
    let next = named_call(&client, "get_board", json!({}), "toolu_2").await;
    assert!(!next.text.contains("notices"), "{}", next.text);
}

#[tokio::test]
async fn excess_comments_are_counted() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    done(&client, "get_my_tasks", json!({})).await;
    for place in 0..8 {
        board.db.add_comment(&Caller::owner(), &coder.task, &format!("{place} {}", "long ".repeat(400)), None).await.unwrap();
    }
    let told = done(&client, "get_my_tasks", json!({})).await;
    let notices: &Vec<Value> = told.data["notices"].as_array().unwrap();
    assert_eq!((notices.len(), &notices[5]["count"]), (6, &json!(3)));
    assert!(notices[0]["content"].as_str().unwrap().starts_with("3 long"));
    assert!(told.text.contains("3 more new comments: call get_task with TASK-002"), "{}", told.text);
    assert!(told.text.len() < 2_500);
}

#[tokio::test]
async fn unread_notice_appears_once_per_change() {
    for stranger in [false, true] {
        let board = Board::new().await;
        let server = board.serve().await;
        let mara = if stranger { board.stranger(&server, "mara").await } else { board.agent("mara", &[]).await };
        let (otto, lena) = (board.agent("otto", &[]).await, board.agent("lena", &[]).await);
        let client = server.modern(&mara).await;
        let (otto, lena) = (server.modern(&otto).await, server.modern(&lena).await);
        let told = async || done(&client, "get_my_tasks", json!({})).await.data["notices"].clone();
        assert_eq!(told().await, Value::Null);
        done(&otto, "send", json!({"to_agent": "mara", "message": "One"})).await;
        let first = done(&client, "get_my_tasks", json!({})).await;
        assert!(first.text.ends_with("notices:\n- 1 unread message from otto: call check_inbox"), "{}", first.text);
        assert_eq!(told().await, Value::Null);
        done(&lena, "send", json!({"to_agent": "all", "message": "Two"})).await;
        assert_eq!(told().await, json!([{"kind": "unread", "count": 2, "from": ["otto", "lena"]}]));
        let blocked = refused(&client, "send", json!({"to_agent": "otto", "message": "Three"})).await;
        assert!(blocked.starts_with("BLOCKED: You have 2 unread message(s). Call check_inbox first."), "{blocked}");
        let read = done(&client, "check_inbox", json!({})).await;
        assert!(!read.text.contains("notices"), "{}", read.text);
        assert_eq!(told().await, Value::Null);
        done(&otto, "check_inbox", json!({})).await;
        done(&otto, "send", json!({"to_agent": "mara", "message": "Four"})).await;
        assert_eq!(told().await, json!([{"kind": "unread", "count": 1, "from": ["otto"]}]));
    }
}

#[tokio::test]
async fn urgent_messages_are_announced_until_read() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    board.send_message(&Caller::owner(), "coder-TASK-002", "Stop and think.").await;
    for _ in 0..3 {
        let told = done(&client, "get_my_tasks", json!({})).await;
        assert!(told.text.contains("- 1 unread message from human: call check_inbox"), "{}", told.text);
    }
    done(&client, "check_inbox", json!({})).await;
    assert!(!done(&client, "get_my_tasks", json!({})).await.text.contains("unread"));
}

#[tokio::test]
async fn message_during_check_inbox_is_announced_next() {
    let board = Board::new().await;
    board.agent("mara", &[]).await;
    let (mara, otto) = (board.caller("mara"), Caller::owner());
    let notices = Notices::default();
    board.send_message(&otto, "mara", "One").await;
    board.db.check_inbox(&mara, &board.project.id, None).await.unwrap();
    // Committed after the answer was made, and before it goes out.
    board.send_message(&otto, "mara", "Two").await;
    assert_eq!(notices.take(&board.db, &mara, true).await.unwrap(), []);
    let told = notices.take(&board.db, &mara, false).await.unwrap();
    assert_eq!(told, [Notice::Unread { count: 1, from: vec!["human".to_owned()] }]);
}

#[tokio::test]
async fn refused_check_inbox_keeps_the_notice() {
    let board = Board::new().await;
    let mara = board.agent("mara", &[]).await;
    board.agent("otto", &[]).await;
    let client = board.serve().await.modern(&mara).await;
    board.send_message(&board.caller("otto"), "mara", "One").await;
    let text = refused(&client, "check_inbox", json!({"ack": "x"})).await;
    assert!(text.contains("- 1 unread message from otto: call check_inbox"), "{text}");
    board.send_message(&board.caller("otto"), "mara", "Two").await;
    let told = done(&client, "get_my_tasks", json!({})).await;
    assert!(told.text.contains("- 2 unread messages from otto: call check_inbox"), "{}", told.text);
}
