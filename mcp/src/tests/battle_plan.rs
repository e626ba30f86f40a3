//! Battle plans, what they enforce, and the raid log, as agents use them.

use db::Caller;
use domain::board::task::NewTask;
use domain::team::role::Role;
use serde_json::json;

use super::fixture::{Board, call, done, refused};

#[tokio::test]
async fn lead_without_battle_plan_is_blocked_by_every_tool() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[Role::Builder]).await).await;
    let held = NewTask { title: "Held".to_owned(), ..NewTask::default() };
    board.db.create_task(&Caller::owner(), &board.project.id, held).await.unwrap();
    done(&lena, "update_battle_plan_status", json!({"agent_name": "lena", "plan_id": 1, "status": "obsolete"})).await;
    let before = board.db.latest();
    for (tool, arguments) in [
        ("create_task", json!({"agent_name": "lena", "title": "Search"})),
        ("create_task", json!({"title": "Search", "assigned_to": "mara"})),
        ("create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": [{"title": "Search"}]})),
        ("update_task", json!({"task_id": "TASK-002", "assigned_to": "mara"})),
        ("update_task", json!({"task_id": "TASK-002", "status": "assigned", "assigned_to": "mara"})),
        ("send", json!({"to_agent": "mara", "message": "Take it", "task_id": "TASK-001"})),
    ] {
        let outcome = call(&lena, tool, arguments).await;
        assert_eq!((outcome.is_error, &outcome.data["code"]), (true, &json!("no-battle-plan")), "{tool}: {}", outcome.text);
        assert!(outcome.text.starts_with("BLOCKED: ") && outcome.text.contains("\nNext: Call set_battle_plan "), "{}", outcome.text);
    }
    assert_eq!(board.db.latest(), before, "nothing was written");
    assert!(refused(&mara, "set_battle_plan", json!({"plan": "Mine"})).await.contains("requires a lead"));
    assert!(refused(&mara, "set_battle_plan", json!({"agent_name": "lena", "plan": "Mine"})).await.contains("this token belongs to mara"));
    let set = done(&lena, "set_battle_plan", json!({"agent_name": "lena", "plan": "Search first"})).await;
    insta::assert_snapshot!(set.text, @"Battle plan #2 of the scope project is active. Agents read it with get_battle_plan.");
    done(&lena, "create_task", json!({"title": "Search", "assigned_to": "mara"})).await;
    done(&lena, "send", json!({"to_agent": "mara", "message": "Take it", "task_id": "TASK-003"})).await;
}

#[tokio::test]
async fn plans_are_read_by_status_and_end_once() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let eve = server.modern(&board.stranger(&server, "eve").await).await;
    done(&lena, "set_battle_plan", json!({"plan": "Mixer first", "scope": "zone", "zone": "audio"})).await;
    let read = done(&eve, "get_battle_plan", json!({"status": ""})).await;
    assert!(read.text.starts_with("#2 [active] for the zone audio by lena, ") && read.text.ends_with(":\nWin"), "{}", read.text);
    let end = |status: &str| json!({"plan_id": 2, "status": status});
    assert!(refused(&eve, "update_battle_plan_status", end("completed")).await.contains("trust"), "an untrusted agent");
    for (arguments, words) in [
        (end("won"), "expected one of"),
        (end("superseded"), "cannot be made superseded"),
        (json!({"plan_id": 404, "status": "completed"}), "does not exist"),
        (json!({"plan_id": "x", "status": "completed"}), "not an integer"),
    ] {
        let text = refused(&lena, "update_battle_plan_status", arguments).await;
        assert!(text.contains(words), "{text}");
    }
    done(&lena, "update_battle_plan_status", end("completed")).await;
    assert!(refused(&lena, "update_battle_plan_status", end("abandoned")).await.contains("battle plan #2 is completed"));
    assert_eq!(done(&eve, "get_battle_plan", json!({"status": "completed"})).await.data["battle_plans"][0]["id"], json!(2));
    assert_eq!(done(&eve, "get_battle_plan", json!({"status": "abandoned"})).await.text, "No battle plan is abandoned.");
    for arguments in
        [json!({"plan": ""}), json!({"plan": "x".repeat(1 << 20)}), json!({"plan": "x", "zone": "../etc"}), json!({"plan": "x", "scope": "zone"})]
    {
        assert_eq!(call(&lena, "set_battle_plan", arguments).await.data["code"], "invalid");
    }
}

#[tokio::test]
async fn agents_log_and_read_by_priority_and_author() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let (run, eve) = (server.modern(&coder.run.token).await, server.modern(&board.stranger(&server, "eve").await).await);
    let logged = done(&run, "log_raid", json!({"entry": "The port is taken", "priority": "high"})).await;
    insta::assert_snapshot!(logged.text, @"Entry #1 is in the raid log, priority high.");
    done(&eve, "log_raid", json!({"agent_name": "eve", "entry": "Reading", "priority": "low"})).await;
    done(&eve, "log_raid", json!({"entry": "Use tabs", "priority": ""})).await;
    let ids =
        |outcome: super::fixture::Outcome| outcome.data["entries"].as_array().unwrap().iter().map(|entry| entry["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(done(&eve, "get_raid_log", json!({"priority": "", "count": 20, "agent_name": ""})).await), [3, 2, 1]);
    assert_eq!(ids(done(&eve, "get_raid_log", json!({"priority": "normal"})).await), [3, 1], "this and above");
    assert_eq!(ids(done(&eve, "get_raid_log", json!({"agent_name": "eve", "count": "1"})).await), [3]);
    assert_eq!(ids(done(&eve, "get_raid_log", json!({"before": 3, "count": 1})).await), [2]);
    let read = done(&eve, "get_raid_log", json!({"priority": "critical"})).await;
    assert_eq!(read.text, "The raid log has no such entries.");
    for arguments in
        [json!({"entry": ""}), json!({"entry": "x".repeat(1 << 20)}), json!({"entry": "a\u{0}b"}), json!({"entry": "x", "priority": "huge"})]
    {
        assert_eq!(call(&eve, "log_raid", arguments).await.data["code"], "invalid");
    }
    assert!(refused(&eve, "log_raid", json!({"agent_name": "lena", "entry": "x"})).await.contains("this token belongs to eve"));
    assert!(refused(&eve, "get_raid_log", json!({"agent_name": "zoe"})).await.contains("zoe"));
}

#[tokio::test]
async fn long_log_fits_into_one_answer_and_continues() {
    let board = Board::new().await;
    let eve = board.serve().await;
    let eve = eve.modern(&board.stranger(&eve, "eve").await).await;
    for _ in 0..5 {
        done(&eve, "log_raid", json!({"entry": "x".repeat(10_000)})).await;
    }
    let read = done(&eve, "get_raid_log", json!({})).await;
    assert!(
        read.text.len() < 40_000 && read.text.ends_with("(2 more do not fit: call get_raid_log with before=3)"),
        "{}",
        &read.text[read.text.len() - 80..]
    );
    assert_eq!(done(&eve, "get_raid_log", json!({"before": 3})).await.data["entries"].as_array().unwrap().len(), 2);
}
