//! What reaches an agent at the end of a result that it asked for.

use db::Caller;
use serde_json::{Value, json};

use super::fixture::{Board, done, named_call};

#[tokio::test]
async fn news_of_others_come_once() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    let look = json!({"task_id": coder.task});
    let quiet = done(&client, "add_comment", json!({"task_id": coder.task, "content": "I begin."})).await;
    assert!(!quiet.text.contains("notices") && quiet.data["notices"].is_null(), "{}", quiet.text);

    board.db.add_comment(&Caller::Human, &coder.task, "Use blue.\nDark blue.", None).await.unwrap();
    board.db.message_run(&Caller::Human, &coder.run.run.id, "Hurry").await.unwrap();
    let told = done(&client, "get_my_tasks", json!({})).await;
    insta::assert_snapshot!(told.text, @"
    TASK-002 [in_progress] coder: Add a page · RUN-001 at work (coder, attempt 1) · comments: 3

    notices:
    - new comment by human on TASK-002: Use blue.…
    - message from the person: Hurry
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
async fn a_repeated_call_tells_again_what_its_lost_answer_told() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    let comment = json!({"task_id": coder.task, "content": "half way"});
    board.db.add_comment(&Caller::Human, &coder.task, "Use blue.", None).await.unwrap();
    let lost = named_call(&client, "add_comment", comment.clone(), "toolu_1").await;
    let again = named_call(&client, "add_comment", comment, "toolu_1").await;
    assert_eq!((&lost.text, &lost.data), (&again.text, &again.data));
    assert!(again.text.contains("Use blue."), "{}", again.text);
    let next = named_call(&client, "get_board", json!({}), "toolu_2").await;
    assert!(!next.text.contains("notices"), "{}", next.text);
}

#[tokio::test]
async fn many_news_are_counted() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    done(&client, "get_my_tasks", json!({})).await;
    for place in 0..8 {
        board.db.add_comment(&Caller::Human, &coder.task, &format!("{place} {}", "long ".repeat(400)), None).await.unwrap();
    }
    let told = done(&client, "get_my_tasks", json!({})).await;
    let notices: &Vec<Value> = told.data["notices"].as_array().unwrap();
    assert_eq!((notices.len(), &notices[5]["count"]), (6, &json!(3)));
    assert!(notices[0]["content"].as_str().unwrap().starts_with("3 long"));
    assert!(told.text.contains("3 more new comments: call get_task with TASK-002"), "{}", told.text);
    assert!(told.text.len() < 2_500);
}
