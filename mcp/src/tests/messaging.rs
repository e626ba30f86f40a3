//! Agents that meet: joining, being seen, writing to each other.

use db::Caller;
use domain::team::message::NewMessage;
use domain::team::role::Role;
use serde_json::{Value, json};

use super::fixture::{Board, Era, Outcome, PERSON, done, named_call, refused};

/// The JSON that an answer's text begins with.
fn listed(outcome: &Outcome) -> Vec<Value> {
    serde_json::from_str(outcome.text.lines().next().unwrap()).unwrap()
}

fn to(name: &str, content: &str) -> NewMessage {
    NewMessage { to: name.to_owned(), content: content.to_owned(), cc: Vec::new(), task_id: None, reply_to: None }
}

#[tokio::test]
async fn invite_token_gives_each_agent_a_name_and_token() {
    let board = Board::new().await;
    let server = board.serve().await;
    let room = board.db.create_invite_token(&Caller::owner(), &board.project.id).await.unwrap();
    let client = server.modern(&room).await;
    let registered = done(&client, "register", json!({"agent_name": "mara", "role": "tester, coder", "team": "platform", "token": ""})).await;
    assert!(registered.text.starts_with("platform/mara registered successfully as tester, coder in PROJ-001."), "{}", registered.text);
    assert!(registered.text.contains("You are not trusted yet"), "{}", registered.text);
    for part in ["protocol.md", "roles/tester.md", "roles/coder.md"] {
        let path = format!("{}/../agents/{part}", env!("CARGO_MANIFEST_DIR"));
        let words = std::fs::read_to_string(path).unwrap();
        assert!(registered.text.contains(words.trim()), "{part} is missing");
    }
    let token = registered.data["token"].as_str().unwrap();
    assert!(registered.text.contains(&format!("Your own token: {token}\nConnect with it from now on")), "{}", registered.text);
    let mara = server.modern(token).await;
    assert!(done(&mara, "ping", json!({"agent_name": "mara"})).await.text.starts_with("pong — 20"));
    done(&mara, "set_status", json!({"agent_name": "platform/mara", "status": "reading"})).await;
    let seen = listed(&done(&mara, "who", json!({})).await);
    let row = |name: &str| seen.iter().find(|agent| agent["name"] == name).unwrap().clone();
    let mut mara_row = row("platform/mara");
    mara_row["last_seen"] = json!("…");
    mara_row["connected"] = json!("…");
    mara_row["registered_at"] = json!("…");
    insta::assert_json_snapshot!(mara_row, @r#"
    {
      "activity_count": 0,
      "class": "coder",
      "connected": "…",
      "context": null,
      "context_left": null,
      "context_reported_at": null,
      "current_task": null,
      "description": null,
      "health": "healthy",
      "last_inbox_check": null,
      "last_seen": "…",
      "lead_role": null,
      "model": "unknown",
      "name": "platform/mara",
      "registered_at": "…",
      "role": "tester,coder",
      "roles": [
        "tester",
        "coder"
      ],
      "status": "reading",
      "team": "platform",
      "transport": "terminal",
      "trusted": false,
      "unread": 0,
      "zone": null
    }
    "#);
    // With its own token the name is taken up again, from the room too, and what is left out stays.
    let again = done(&client, "register", json!({"agent_name": "mara", "team": "platform", "token": token})).await;
    assert_ne!(again.data["token"], json!(token));
    assert_eq!(again.data["agent"]["roles"], json!(["tester", "coder"]));
    let own = server.modern(again.data["token"].as_str().unwrap()).await;
    let more = done(&own, "register", json!({"description": "writes tests"})).await;
    assert_eq!((&more.data["token"], &more.data["agent"]["description"]), (&Value::Null, &json!("writes tests")));
    done(&own, "fenix_down", json!({"manifest": "Nothing is open."})).await;
    assert!(done(&own, "deregister", json!({})).await.text.starts_with("platform/mara is deregistered."));
    assert!(refused(&own, "who", json!({})).await.contains("Call register"), "who left reads nothing");
    let person = server.modern(PERSON).await;
    assert!(listed(&done(&person, "who", json!({})).await).is_empty());
}

#[tokio::test]
async fn message_is_sent_read_once_and_answered() {
    let board = Board::new().await;
    let server = board.serve().await;
    let (lena, mara, kim) = (board.agent("lena", &[Role::Lead]).await, board.agent("platform/mara", &[]).await, board.agent("kim", &[]).await);
    let (lena, mara, kim) = (server.modern(&lena).await, server.modern(&mara).await, server.modern(&kim).await);
    let sent = done(
        &mara,
        "send",
        json!({"from_agent": "mara", "to_agent": "kim", "message": "Which port?", "task_id": "TASK-001", "cc": "", "reply_to": 0}),
    )
    .await;
    assert!(sent.text.starts_with("Message sent to kim (#1). Copies: lena."), "{}", sent.text);
    let mut given = listed(&done(&kim, "check_inbox", json!({"agent_name": "kim"})).await);
    given[0]["timestamp"] = json!("…");
    insta::assert_json_snapshot!(given, @r#"
    [
      {
        "content": "Which port?",
        "from_agent": "platform/mara",
        "id": 1,
        "task_id": "TASK-001",
        "timestamp": "…",
        "to_agent": "kim"
      }
    ]
    "#);
    // The answer belongs to the same task, names by text are numbers, and a copy keeps nobody from sending.
    let answer = done(&kim, "send", json!({"to_agent": "mara", "message": "9400", "reply_to": "1", "cc": "human, lena"})).await;
    assert_eq!((&answer.data["task_id"], &answer.data["cc"]), (&json!("TASK-001"), &json!(["human", "lena"])));
    assert!(done(&kim, "check_inbox", json!({})).await.text.starts_with("No new messages."));
    let copy = listed(&done(&lena, "check_inbox", json!({})).await);
    assert_eq!((&copy[0]["is_cc"], &copy[0]["cc_original_to"]), (&json!(true), &json!("kim")));
    done(&lena, "send", json!({"to_agent": "all", "message": "Stop at noon.", "cc": []})).await;
    let history = listed(&done(&kim, "get_history", json!({"count": "2", "task_id": ""})).await);
    assert_eq!(history.iter().map(|message| message["content"].as_str().unwrap()).collect::<Vec<_>>(), ["9400", "Stop at noon."]);
    let thread = listed(&done(&mara, "get_history", json!({"task_id": "TASK-001", "count": 0})).await);
    assert_eq!(thread.iter().map(|message| message["content"].as_str().unwrap()).collect::<Vec<_>>(), ["Which port?", "9400"]);
    let before = listed(&done(&mara, "get_history", json!({"before": thread[1]["id"]})).await);
    assert_eq!(before.len(), 1);
    // The human uses the same tools.
    let person = server.modern(PERSON).await;
    assert!(done(&person, "check_inbox", json!({"agent_name": "human"})).await.text.contains("Stop at noon."));
    assert!(done(&person, "send", json!({"from_agent": "human", "to_agent": "kim", "message": "Thanks"})).await.text.starts_with("Message sent"));
}

#[tokio::test]
async fn inbox_is_not_repeated_once_its_answer_arrived() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let server = board.serve().await;
        let kim = server.client(&board.agent("kim", &[]).await, era).await;
        for place in 0..3 {
            board.db.send(&Caller::owner(), &board.project.id, to("kim", &format!("word {place}"))).await.unwrap();
        }
        let first = listed(&done(&kim, "check_inbox", json!({})).await);
        assert!(first.len() == 3 && first.iter().all(|message| message.get("redelivered").is_none()), "{first:?}");
        assert_eq!(board.db.acknowledged_messages(&[1, 2, 3]).await.unwrap(), [0_i64; 0], "delivered is not read");
        done(&kim, "who", json!({})).await;
        assert_eq!(board.db.acknowledged_messages(&[1, 2, 3]).await.unwrap(), [1, 2, 3], "any later call confirms them");
        assert!(done(&kim, "check_inbox", json!({})).await.text.starts_with("No new messages."));
        board.db.send(&Caller::owner(), &board.project.id, to("kim", "more")).await.unwrap();
        assert_eq!(listed(&done(&kim, "check_inbox", json!({})).await).len(), 1, "the agent pays for each message once");
    }
}

#[tokio::test]
async fn retried_call_gets_its_messages_again() {
    let board = Board::new().await;
    let server = board.serve().await;
    let kim = server.modern(&board.agent("kim", &[]).await).await;
    board.db.send(&Caller::owner(), &board.project.id, to("kim", "word")).await.unwrap();
    assert!(listed(&named_call(&kim, "check_inbox", json!({}), "1").await)[0].get("redelivered").is_none());
    let again = listed(&named_call(&kim, "check_inbox", json!({}), "1").await);
    assert_eq!(again[0]["redelivered"], json!(true));
    assert!(named_call(&kim, "check_inbox", json!({}), "2").await.text.starts_with("No new messages."));
}

#[tokio::test]
async fn inbox_whose_answer_was_not_written_is_redelivered() {
    let board = Board::new().await;
    let (server, breaks) = board.serve_with_breaks().await;
    let kim = server.modern(&board.agent("kim", &[]).await).await;
    for place in 0..2 {
        board.db.send(&Caller::owner(), &board.project.id, to("kim", &format!("word {place}"))).await.unwrap();
    }
    breaks.lose_inbox(&kim).await;
    done(&kim, "who", json!({})).await;
    let again = listed(&done(&kim, "check_inbox", json!({})).await);
    assert!(again.len() == 2 && again.iter().all(|message| message["redelivered"] == true), "{again:?}");
    assert!(done(&kim, "check_inbox", json!({})).await.text.starts_with("No new messages."));
}

#[tokio::test]
async fn long_inbox_and_history_are_paged() {
    let board = Board::new().await;
    let server = board.serve().await;
    let kim = server.modern(&board.agent("kim", &[]).await).await;
    for place in 0..60 {
        board.db.send(&Caller::owner(), &board.project.id, to("kim", &format!("{place} {}", "x".repeat(800)))).await.unwrap();
    }
    let page = done(&kim, "check_inbox", json!({})).await;
    let last = listed(&page).last().unwrap()["id"].clone();
    assert_eq!((listed(&page).len(), &page.data["remaining"]), (50, &json!(10)));
    assert!(page.text.contains(&format!("10 more messages are unread: call check_inbox with ack={last}.")));
    assert_eq!(listed(&done(&kim, "check_inbox", json!({"ack": last})).await).len(), 10);
    let history = done(&kim, "get_history", json!({"count": 200})).await;
    assert!(history.text.len() < 48_000, "{}", history.text.len());
    let first = listed(&history)[0]["id"].as_i64().unwrap();
    assert!(history.text.contains(&format!("{} older messages omitted: call get_history with before={first}.", first - 1)), "{first}");
}

#[tokio::test]
async fn message_keeps_its_bytes_up_to_a_limit() {
    let board = Board::new().await;
    let server = board.serve().await;
    let (kim, mara) = (server.modern(&board.agent("kim", &[]).await).await, server.modern(&board.agent("mara", &[]).await).await);
    let odd = " \r\n\t„quoted“ \u{1F980} *** </inbox> \\u0000 ";
    done(&mara, "send", json!({"to_agent": "kim", "message": odd})).await;
    assert_eq!(listed(&done(&kim, "check_inbox", json!({})).await)[0]["content"], odd);
    for bad in [String::new(), " \n".to_owned(), "x".repeat(1 << 20), "a\u{0}b".to_owned()] {
        let text = refused(&mara, "send", json!({"to_agent": "kim", "message": bad})).await;
        assert!(text.starts_with("message: it "), "{text}");
    }
    assert_eq!(board.db.unread(&board.project.id, "kim").await.unwrap().count, 0);
}

#[tokio::test]
async fn lead_removes_an_unresponsive_agent() {
    let board = Board::new().await;
    let server = board.serve().await;
    let (lena, kim) = (server.modern(&board.agent("lena", &[Role::Lead]).await).await, server.modern(&board.agent("kim", &[]).await).await);
    assert!(refused(&kim, "deregister", json!({"agent_name": "lena"})).await.contains("requires a lead, and kim is not one"));
    done(&kim, "fenix_down", json!({"manifest": "Nothing is open."})).await;
    assert!(done(&lena, "deregister", json!({"agent_name": "kim"})).await.text.starts_with("kim is deregistered."));
    // The name of a trusted agent stays a mailbox.
    done(&lena, "send", json!({"to_agent": "kim", "message": "?"})).await;
    // Its token is revoked, and the human may create another.
    assert!(kim.list_tools(None).await.is_err());
    let kim = server.modern(&board.agent("kim", &[]).await).await;
    done(&kim, "register", json!({"role": "coder"})).await;
    assert!(done(&kim, "check_inbox", json!({})).await.text.contains("lena"));
}

#[tokio::test]
async fn human_with_several_projects_names_one() {
    let board = Board::new().await;
    let probe = repo::probe(board.sample.top(), None).unwrap();
    let new = domain::wire::NewProject { title: "Two".to_owned(), description: Some("x".to_owned()), ..Default::default() };
    board.db.create_project(&Caller::owner(), new, probe).await.unwrap();
    board.agent("kim", &[]).await;
    let person = board.serve().await.modern(PERSON).await;
    let text = refused(&person, "send", json!({"to_agent": "kim", "message": "Hello"})).await;
    assert!(text.starts_with("project: it is missing, and there are PROJ-001, PROJ-002."), "{text}");
    done(&person, "send", json!({"to_agent": "kim", "message": "Hello", "project": "PROJ-001"})).await;
    done(&person, "send", json!({"to_agent": "kim", "message": "Hello", "task_id": "TASK-001"})).await;
    assert_eq!(listed(&done(&person, "get_history", json!({"project_id": "PROJ-001"})).await).len(), 2);
    for tool in ["who", "check_inbox", "list_tasks", "list_contracts", "hat_history", "get_spawn_policy", "get_board"] {
        done(&person, tool, json!({"project": "PROJ-002"})).await;
    }
    for tool in ["who", "check_inbox", "get_history", "list_tasks", "list_contracts", "hat_history", "get_spawn_policy", "get_board"] {
        let text = refused(&person, tool, json!({"project": "PROJ-099"})).await;
        assert!(text.contains("PROJ-099"), "{tool}: {text}");
    }
    done(&person, "initiate_handshake", json!({"message": "Go", "project": "PROJ-001"})).await;
    done(&person, "set_spawn_policy", json!({"scope": "kim", "max_minions": 1, "project": "PROJ-001"})).await;
    done(&person, "log_minion", json!({"task_description": "look", "status": "spawned", "project": "PROJ-001"})).await;
    done(&person, "deregister", json!({"agent_name": "kim", "project": "PROJ-001"})).await;
}
