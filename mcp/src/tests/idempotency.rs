//! Calls that arrive twice with one id, because their answer was lost or their client restarts its ids.

use domain::team::role::Role;
use serde_json::{Value, json};

use super::fixture::{Board, Client, Era, Outcome, done, named_call};

const ID: &str = "call_0";

#[tokio::test]
async fn messages_with_the_same_id_are_each_sent_once() {
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
async fn repeated_check_inbox_returns_new_messages() {
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
async fn repeated_registration_keeps_the_name() {
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
        // A guest whose client counts in the same way gets no name that someone has.
        let stranger = server.client(&room, era).await;
        let other = named_call(&stranger, "register", wish, ID).await;
        assert_eq!((other.is_error, &other.data["code"]), (true, &json!("name-taken")), "{era:?}");
        done(&mara, "ping", json!({})).await;
    }
}

#[tokio::test]
async fn send_lists_acknowledged_messages() {
    let board = Board::new().await;
    let (server, breaks) = board.serve_with_breaks().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let (kim, lena) = (server.modern(&board.agent("kim", &[]).await).await, server.modern(&board.agent("lena", &[Role::Lead]).await).await);
    for place in 0..6 {
        done(&kim, "send", json!({"to_agent": "mara", "message": format!("word {place}")})).await;
    }
    done(&lena, "check_inbox", json!({})).await;
    done(&lena, "send", json!({"to_agent": "all", "message": "Stop"})).await;
    breaks.lose_inbox(&mara).await;
    let sent = done(&mara, "send", json!({"to_agent": "human", "message": "What now?"})).await;
    let told: Vec<&str> = sent.text.lines().take(2).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    Message sent to human (#8). Copies: lena.
    Acknowledged: #7 from lena, #6 from kim, #5 from kim, #4 from kim, #3 from kim and 2 more. If you have not seen them, call get_history with before=8 and count=10.
    ");
    assert_eq!(found_where_it_says(&mara, &sent).await, 7);
    let next = done(&mara, "send", json!({"to_agent": "human", "message": "And?"})).await;
    assert!(!next.text.contains("Counted as read") && next.data.get("counted_as_read").is_none(), "{}", next.text);
}

/// Messages of other agents, and copies, which the history omits, hide nothing.
#[tokio::test]
async fn acknowledged_messages_are_found_in_the_history() {
    for (roles, read) in [(&[][..], 2), (&[Role::Lead][..], 17)] {
        let board = Board::new().await;
        let (server, breaks) = board.serve_with_breaks().await;
        let mara = server.modern(&board.agent("mara", roles).await).await;
        let kim = server.modern(&board.agent("kim", &[]).await).await;
        board.agent("ole", &[]).await;
        for to in ["mara"].into_iter().chain(["ole"; 15]).chain(["mara"]) {
            done(&kim, "send", json!({"to_agent": to, "message": "A word"})).await;
        }
        breaks.lose_inbox(&mara).await;
        let sent = done(&mara, "send", json!({"to_agent": "human", "message": "What now?"})).await;
        assert_eq!(found_where_it_says(&mara, &sent).await, read, "{roles:?}");
    }
}

/// Looks what counts as read up in the history, as the answer says, and counts it.
async fn found_where_it_says(reader: &Client, sent: &Outcome) -> usize {
    let told = sent.text.lines().find_map(|line| line.split_once("get_history with before=")).unwrap().1;
    let (before, count) = told.trim_end_matches('.').split_once(" and count=").unwrap();
    let asked = json!({"before": before.parse::<i64>().unwrap(), "count": count.parse::<i64>().unwrap()});
    let history = done(reader, "get_history", asked).await;
    let shown: Vec<&Value> = history.data["messages"].as_array().unwrap().iter().map(|message| &message["id"]).collect();
    let read = sent.data["counted_as_read"].as_array().unwrap();
    assert!(read.iter().all(|id| shown.contains(&id)), "{read:?} {shown:?}");
    read.len()
}
