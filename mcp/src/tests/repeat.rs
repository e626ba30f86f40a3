//! Calls that come twice under one id: because their answer was lost, or because their client counts anew in each turn.

use domain::agent::Role;
use serde_json::json;

use super::fixture::{Board, Era, call, done, named_call};

const ID: &str = "call_0";

#[tokio::test]
async fn two_messages_under_one_id_are_two_and_each_is_sent_once() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let mut ids = Vec::new();
    for message in ["A", "B", "A", "B"] {
        let sent = named_call(&mara, "send", json!({"to_agent": "human", "message": message}), ID).await;
        ids.push(sent.data["id"].as_i64().unwrap());
    }
    assert!(ids[0] != ids[1] && ids[..2] == ids[2..], "{ids:?}");
    // Nor do two calls become one by where a word of theirs ends.
    named_call(&mara, "send", json!({"to_agent": "human", "message": "A", "task_id": "TASK-001"}), ID).await;
    let history = board.db.history(&board.project.id, &db::HistoryQuery::default()).await.unwrap();
    assert_eq!(history.iter().map(|message| message.content.as_str()).collect::<Vec<_>>(), ["A", "B", "A"]);
}

#[tokio::test]
async fn a_look_under_the_id_of_an_earlier_one_sees_what_is_new() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let kim = server.modern(&board.agent("kim", &[]).await).await;
    for word in ["One", "Two"] {
        done(&kim, "send", json!({"to_agent": "mara", "message": word})).await;
        let looked = named_call(&mara, "check_inbox", json!({}), ID).await;
        assert!(looked.text.contains(word), "{}", looked.text);
        done(&mara, "send", json!({"to_agent": "human", "message": word})).await;
    }
}

#[tokio::test]
async fn who_registers_twice_in_one_call_has_its_name() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let server = board.serve().await;
        let room = board.room().await;
        let guest = server.client(&room, era).await;
        let wish = json!({"agent_name": "mara", "role": "builder"});
        let lost = named_call(&guest, "register", wish.clone(), ID).await;
        let found = named_call(&guest, "register", wish.clone(), ID).await;
        assert!(!found.is_error && found.text.starts_with("mara registered successfully as builder"), "{era:?}: {}", found.text);
        let token = found.data["token"].as_str().or(lost.data["token"].as_str()).unwrap();
        let mara = server.modern(token).await;
        done(&mara, "send", json!({"to_agent": "human", "message": "Here"})).await;
        // A guest whose client counts in the same way gets no name that somebody has.
        let stranger = server.client(&room, era).await;
        let other = named_call(&stranger, "register", wish, ID).await;
        assert_eq!((other.is_error, &other.data["code"]), (true, &json!("name-taken")), "{era:?}");
        done(&mara, "ping", json!({})).await;
    }
}

#[tokio::test]
async fn sending_says_what_it_counts_as_read() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let (kim, lena) = (server.modern(&board.agent("kim", &[]).await).await, server.modern(&board.agent("lena", &[Role::Lead]).await).await);
    for place in 0..6 {
        done(&kim, "send", json!({"to_agent": "mara", "message": format!("word {place}")})).await;
    }
    done(&lena, "check_inbox", json!({})).await;
    done(&lena, "send", json!({"to_agent": "all", "message": "Stop"})).await;
    // This answer is lost.
    drop(call(&mara, "check_inbox", json!({})).await);
    let sent = done(&mara, "send", json!({"to_agent": "human", "message": "What now?"})).await;
    let told: Vec<&str> = sent.text.lines().take(2).collect();
    let all = sent.data["counted_as_read"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect::<Vec<_>>();
    insta::assert_snapshot!(told.join("\n"), @r"
    Message sent to human (#14). Copies: lena.
    Counted as read: #13 from lena, #11 from kim, #9 from kim, #7 from kim, #5 from kim and 2 more. If you have not seen them, call get_history with before=14.
    ");
    // What it names is found where it says.
    let history = done(&mara, "get_history", json!({"before": all[all.len() - 1] + 1})).await;
    let shown: Vec<i64> = history.data["messages"].as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert!(all.len() == 7 && all.iter().all(|id| shown.contains(id)), "{all:?} {shown:?}");
    let next = done(&mara, "send", json!({"to_agent": "human", "message": "And?"})).await;
    assert!(!next.text.contains("Counted as read") && next.data.get("counted_as_read").is_none(), "{}", next.text);
}
