//! Classes of agents, the context that they have left and who is present, as the tools show them.

use std::time::Duration;

use domain::team::agent::Registration;
use domain::team::role::Role;
use domain::warroom::context_left::ContextReport;
use domain::warroom::transport::Transport;
use serde_json::{Value, json};

use super::fixture::{Board, PERSON, call, done, refused};
use crate::notice::{Notice, Notices};

#[tokio::test]
async fn register_names_class_and_transport_and_who_shows_them() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    done(&mara, "register", json!({})).await;
    let own = async || {
        let all = done(&mara, "who", json!({})).await;
        let of = |field: &str| all.data["agents"][0][field].clone();
        [of("class"), of("transport"), of("context_left")]
    };
    assert_eq!(own().await, [json!("coder"), json!("terminal"), Value::Null]);
    done(&mara, "register", json!({"agent_class": "oracle", "transport": "daemon"})).await;
    assert_eq!(own().await, [json!("oracle"), json!("daemon"), Value::Null]);
    done(&mara, "register", json!({"agent_class": "", "transport": ""})).await;
    let unknown = call(&mara, "register", json!({"agent_class": "wizard"})).await;
    assert_eq!(unknown.data["code"], "invalid");
    assert!(unknown.text.contains("expected one of lead, coder, builder, oracle, recon"), "{}", unknown.text);
    assert!(refused(&mara, "register", json!({"transport": "pigeon"})).await.contains("expected one of terminal, daemon"));
    assert!(refused(&mara, "register", json!({"agent_class": "coder"})).await.starts_with("mara has the class oracle, and a class never changes."));
    assert_eq!(own().await[0], json!("oracle"));
}

#[tokio::test]
async fn impossible_context_is_refused_and_nothing_is_stored() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    board.agent("kim", &[]).await;
    for (arguments, told) in [
        (json!({"context": "x", "tokens_used": -1, "tokens_limit": 200_000}), "-1 is negative"),
        (json!({"context": "x", "tokens_used": 200_001, "tokens_limit": 200_000}), "200001 is more than tokens_limit, 200000"),
        (json!({"context": "x", "tokens_used": 0, "tokens_limit": 0}), "it is 0"),
        (json!({"context": "x", "tokens_used": 7}), "it is missing"),
        (json!({"context": "x", "tokens_used": 1.5, "tokens_limit": 3}), "tokens_used"),
        (json!({"context": "x", "tokens_used": "many"}), "tokens_used"),
        (json!({"context": ""}), "it is empty"),
        (json!({"context": "x".repeat(1 << 20)}), "more than the 500 allowed"),
        (json!({"context": "a\u{0}b"}), "control character"),
        (json!({"agent_name": "kim", "context": "x"}), "this token belongs to mara, not to kim"),
        (json!({}), "context"),
    ] {
        let text = refused(&mara, "set_context", arguments.clone()).await;
        assert!(text.contains(told), "{text}");
    }
    let agents = board.db.agents(&board.project.id).await.unwrap();
    assert!(agents.iter().all(|agent| agent.context_left.is_none() && agent.context_reported_at.is_none()));
    let person = server.modern(PERSON).await;
    assert!(refused(&person, "set_context", json!({"context": "x"})).await.contains("set_context is for agents only"));
    let set =
        done(&mara, "set_context", json!({"agent_name": "mara", "context": "The parser", "tokens_used": "118000", "tokens_limit": 200_000})).await;
    assert!(set.text.starts_with("Context left: 41 % (wounded). Report again within 5 minutes."), "{}", set.text);
    let only_words = done(&mara, "set_context", json!({"context": "The lexer"})).await;
    assert!(only_words.text.starts_with("Context left: 41 % (wounded)."), "{}", only_words.text);
    let all = done(&mara, "who", json!({})).await;
    let listed = all.data["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "mara").unwrap();
    let left = json!({"tokens_used": 118_000, "tokens_limit": 200_000, "percent": 41, "condition": "wounded"});
    assert_eq!((&listed["context_left"], &listed["context"]), (&left, &json!("The lexer")));
}

#[tokio::test]
async fn party_status_shows_every_agent_on_one_line() {
    let board = Board::new().await;
    let server = board.serve().await;
    let coder = board.coder().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("platform/mara", &[Role::Tester]).await).await;
    done(&lena, "create_task", json!({"title": "Search", "assigned_to": "mara"})).await;
    done(&mara, "set_status", json!({"status": "Reads"})).await;
    done(&mara, "set_context", json!({"context": "Search", "tokens_used": 60, "tokens_limit": 100})).await;
    let told = done(&lena, "party_status", json!({"agent_name": "lena"})).await;
    let lines: Vec<&str> = told.text.lines().collect();
    assert!(lines[0].starts_with("coder-TASK-002 (coder, coder, daemon) · TASK-002 in_progress Add a page · seen "), "{}", told.text);
    assert!(lines[1].starts_with("lena (lead, lead, terminal) · seen "), "{}", told.text);
    let expected = "platform/mara (coder, tester, terminal) · context left 40 % (wounded) · TASK-003 backlog Search · status: Reads · seen ";
    assert!(lines[2].starts_with(expected), "{}", told.text);
    let agents = told.data["agents"].as_array().unwrap();
    assert_eq!((agents.len(), &agents[2]["tasks"][0]["id"], &agents[2]["context_left"]["percent"]), (3, &json!("TASK-003"), &json!(40)));
    assert!(refused(&lena, "party_status", json!({"agent_name": "mara"})).await.contains("this token belongs to lena"));
    let managed = server.modern(&coder.run.token).await;
    assert!(call(&managed, "party_status", json!({})).await.is_error, "a coder has no use for it");
}

#[tokio::test]
async fn oracle_gets_no_task_and_the_lead_learns_which_classes_do() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let olga = server.modern(&board.agent("olga", &[]).await).await;
    done(&olga, "register", json!({"agent_class": "oracle"})).await;
    done(&lena, "create_task", json!({"title": "Search"})).await;
    for (tool, arguments) in [
        ("create_task", json!({"title": "Sort", "assigned_to": "olga"})),
        ("update_task", json!({"task_id": "TASK-002", "assigned_to": "olga"})),
        ("update_task", json!({"task_id": "TASK-002", "assigned_to": "olga", "status": "assigned"})),
    ] {
        let outcome = call(&lena, tool, arguments).await;
        assert_eq!(outcome.data["code"], "wrong-class", "{}", outcome.text);
        assert!(outcome.text.contains("Leave it to an agent of the class lead or coder; call who to see the classes."), "{}", outcome.text);
    }
}

#[tokio::test]
async fn each_threshold_is_announced_once() {
    let board = Board::new().await;
    let token = board.agent("mara", &[]).await;
    let mara = board.serve().await.modern(&token).await;
    let mut told = Vec::new();
    for used in [10, 49, 50, 60, 70, 76, 90, 20, 50] {
        let set = done(&mara, "set_context", json!({"context": "x", "tokens_used": used, "tokens_limit": 100})).await;
        let notices = set.data["notices"].as_array().into_iter().flatten();
        told.extend(notices.map(|notice| format!("{used}: {}", notice["condition"].as_str().unwrap())));
        assert!(done(&mara, "get_my_tasks", json!({})).await.data["notices"].is_null());
    }
    assert_eq!(told, ["50: wounded", "76: critical", "50: wounded"]);
    let set = done(&mara, "set_context", json!({"context": "x", "tokens_used": 80, "tokens_limit": 100})).await;
    assert!(
        set.text.ends_with("20 % of your context is left (critical): finish, and write down in a comment what the next agent needs"),
        "{}",
        set.text
    );
}

#[tokio::test]
async fn old_report_is_announced_once_and_not_to_daemons() {
    let board = Board::new().await;
    let start = db::now();
    for (name, transport, expected) in [("mara", Transport::Terminal, vec![Notice::ReportDue]), ("dora", Transport::Daemon, Vec::new())] {
        let token = board.agent(name, &[]).await;
        let caller = board.db.caller(&token).await.unwrap().unwrap();
        db::testing::set_time(start);
        let who = Registration { name: name.to_owned(), transport: Some(transport), ..Registration::default() };
        board.db.register(&caller, &board.project.id, who, None).await.unwrap();
        let report = ContextReport { context: "x".to_owned(), tokens_used: Some(1), tokens_limit: Some(100) };
        board.db.set_context(&caller, &board.project.id, report).await.unwrap();
        let notices = Notices::default();
        for (seconds, expected) in [(0, Vec::new()), (300, Vec::new()), (301, expected), (302, Vec::new()), (900, Vec::new())] {
            db::testing::set_time(start.after(Duration::from_secs(seconds)));
            assert_eq!(notices.take(&board.db, &caller, false).await.unwrap(), expected, "{name} after {seconds} s");
        }
    }
}
