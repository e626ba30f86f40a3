//! Questions to oracles: an answer that comes during the call is its result, and a later one is a message.

use db::Caller;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::runs::agent_kind::AgentKind;
use domain::warroom::zone::NewZone;
use serde_json::json;

use super::fixture::{Board, call, done, refused};

async fn zone(board: &Board, name: &str, oracle: Option<&str>) {
    let zone = NewZone { name: name.to_owned(), paths: vec![format!("{name}/")], oracle: oracle.map(str::to_owned), ..NewZone::default() };
    board.db.set_zone(&Caller::owner(), &board.project.id, zone).await.unwrap();
}

#[tokio::test]
async fn asker_gets_the_answer_as_the_result_of_its_call() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let (asker, other) = (server.modern(&coder.run.token).await, server.modern(&coder.run.token).await);
    let ivy = server.modern(&board.agent("ivy", &[]).await).await;
    done(&ivy, "ping", json!({})).await;
    zone(&board, "audio", Some("ivy")).await;
    let question = json!({"zone": "audio/mix.rs", "question": "Who frees the buffer?"});
    let asking = tokio::spawn(async move { (done(&asker, "ask_oracle", question).await, asker) });
    let received = loop {
        let inbox = done(&ivy, "check_inbox", json!({})).await;
        if let Some(message) = inbox.data["messages"].get(0) {
            break message.clone();
        }
    };
    assert!(received["content"].as_str().unwrap().ends_with("Who frees the buffer?"), "{received}");
    // Its other calls go on meanwhile.
    done(&other, "get_task", json!({"task_id": coder.task})).await;
    done(&ivy, "send", json!({"to_agent": "coder-TASK-002", "message": "The mixer: audio/mix.rs:40", "reply_to": received["id"]})).await;
    let (answered, asker) = asking.await.unwrap();
    assert!(answered.text.starts_with("ivy on audio (#") && answered.text.ends_with("):\nThe mixer: audio/mix.rs:40"), "{}", answered.text);
    assert_eq!(answered.data["questions"][0]["id"], received["id"]);
    assert_eq!(done(&asker, "check_inbox", json!({})).await.data["messages"], json!([]), "the answer is not delivered twice");
}

#[tokio::test]
async fn oracle_that_is_away_is_not_waited_for() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let ivy = server.modern(&board.agent("ivy", &[]).await).await;
    zone(&board, "audio", Some("ivy")).await;
    zone(&board, "docs", None).await;
    done(&ivy, "fenix_down", json!({"manifest": "The mixer frees it"})).await;
    done(&ivy, "deregister", json!({})).await;
    let asked = done(&mara, "ask_oracle", json!({"agent_name": "mara", "zone": "audio", "question": "Why?"})).await;
    assert!(asked.text.starts_with("ivy is away and reads question #") && asked.data["messages"] == json!([]), "{}", asked.text);
    assert!(refused(&mara, "ask_oracle", json!({"zone": "docs", "question": "Why?"})).await.contains("the zone docs has no oracle"));
    for (arguments, code) in [
        (json!({"zone": "README.md", "question": "Why?"}), "no-zone"),
        (json!({"zone": "../etc", "question": "Why?"}), "claim-outside"),
        (json!({"zone": "", "question": "Why?"}), "invalid"),
        (json!({"zone": "audio", "question": " "}), "invalid"),
        (json!({"zone": "audio", "question": "x".repeat(1 << 20)}), "invalid"),
        (json!({"zone": "audio"}), "invalid"),
    ] {
        assert_eq!(call(&mara, "ask_oracle", arguments).await.data["code"], code);
    }
}

#[tokio::test]
async fn managed_oracle_is_asked_and_answers_again_from_its_notes() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let asker = server.modern(&coder.run.token).await;
    zone(&board, "audio", Some("managed")).await;
    let question = json!({"zone": "audio/mix.rs", "question": "Who frees the buffer?"});
    let asking = tokio::spawn(async move { (done(&asker, "ask_oracle", question).await, asker) });
    let mut commits = board.db.subscribe();
    let asked = loop {
        if let Some(asked) = board.db.oracle_questions(&board.project.id, None, 1).await.unwrap().pop() {
            break asked;
        }
        commits.changed().await.unwrap();
    };
    let task = asked.task_id.unwrap();
    let branch = board.project.integration_branch.as_str();
    let tip = board.sample.repository().ref_sha(branch).unwrap().unwrap();
    let run = board.reserve(&task, AgentKind::Oracle, Status::Backlog, Some(tip)).await;
    let oracle = server.modern(&run.token).await;
    let mut tools: Vec<String> = oracle.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name.into_owned()).collect();
    tools.sort_unstable();
    assert_eq!(tools, ["check_inbox", "fenix_down", "read_intel", "send", "write_note"]);
    for (tool, arguments) in [
        ("update_task_status", json!({"task_id": task, "status": "done"})),
        ("ask_oracle", json!({"zone": "audio", "question": "Why?"})),
        ("create_task", json!({"title": "More"})),
        ("set_zone", json!({"name": "audio", "paths": ["src/"]})),
    ] {
        refused(&oracle, tool, arguments).await;
    }
    done(&oracle, "check_inbox", json!({})).await;
    let reply = json!({"to_agent": "coder-TASK-002", "message": "The mixer: audio/mix.rs:40", "reply_to": asked.id});
    done(&oracle, "send", reply).await;
    let (answered, asker) = asking.await.unwrap();
    let expected = format!("oracle-{task} on audio (#");
    assert!(answered.text.starts_with(&expected) && answered.text.ends_with("):\nThe mixer: audio/mix.rs:40"), "{}", answered.text);
    board.end(&run).await;

    let again = done(&asker, "ask_oracle", json!({"zone": "audio", "question": " who frees THE buffer"})).await;
    assert!(again.text.contains(", from its notes of 20") && again.text.ends_with("The mixer: audio/mix.rs:40"), "{}", again.text);
    assert_eq!(board.db.card(&task).await.unwrap().status, Status::Done, "nothing was started");

    // A file of the zone changed, and the project is paused.
    board.sample.commit_on(branch, &[("audio/mix.rs", Some("new"))], "change");
    board.db.pause_project(&Caller::owner(), &board.project.id).await.unwrap();
    let db = board.db.clone();
    let paused = tokio::spawn(async move {
        let mut commits = db.subscribe();
        while db.card(&task).await.unwrap().status != Status::Backlog {
            commits.changed().await.unwrap();
        }
        // As the next schedule does.
        db.set_wait_reasons(vec![(task, Some(WaitReason::Paused))]).await.unwrap();
    });
    let waits = done(&asker, "ask_oracle", json!({"zone": "audio", "question": "Who frees the buffer?"})).await;
    assert!(waits.text.contains("is not started yet (paused by a human), and answers question #"), "{}", waits.text);
    paused.await.unwrap();
}
