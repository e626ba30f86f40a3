//! Actions between agents that are refused: each is a tool-level error with a code for programs and the next legal step for a model.

use domain::team::role::Role;
use serde_json::{Value, json};

use super::fixture::{Board, Client, PERSON, RESULT, call, done};

/// Calls what must be refused with `code`, by words that hold `hint`.
async fn refused(client: &Client, tool: &str, arguments: Value, code: &str, hint: &str) {
    let outcome = call(client, tool, arguments.clone()).await;
    assert!(outcome.is_error, "{tool} {arguments}: {}", outcome.text);
    assert_eq!(outcome.data["code"], code, "{tool} {arguments}: {}", outcome.text);
    let next = outcome.data["hint"].as_str().unwrap();
    assert!(next.contains(hint) && outcome.text.contains(&format!("\nNext: {next}")), "{tool} {arguments}: {}", outcome.text);
}

#[tokio::test]
async fn absent_recipient_is_refused() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("platform/mara", &[]).await).await;
    board.agent("platform/kim", &[]).await;
    board.agent("design/kim", &[]).await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let to = |name: &str| json!({"to_agent": name, "message": "?"});
    refused(&mara, "send", to("lean"), "unknown-agent", "Did you mean lena").await;
    refused(&mara, "send", to(""), "unknown-agent", "Call who").await;
    refused(&mara, "send", to("x\u{0}y"), "unknown-agent", "Call who").await;
    refused(&lena, "send", to("kim"), "ambiguous-agent", "Use the full name, such as ").await;
    refused(&mara, "send", to("LENA"), "unknown-agent", "Did you mean lena").await;
    refused(&mara, "send", to("ALL"), "unknown-agent", "Did you mean all").await;
    refused(&mara, "send", json!({"to_agent": "lena", "message": "?", "cc": "lenna"}), "unknown-agent", "Did you mean lena").await;
    // Unlike that of a trusted agent, this name is no mailbox after its agent left.
    let zoe = server.modern(&board.stranger(&server, "zoe").await).await;
    done(&zoe, "fenix_down", json!({"manifest": "Nothing is open."})).await;
    done(&zoe, "deregister", json!({})).await;
    refused(&mara, "send", to("zoe"), "dead-agent", "Call who to see who is active").await;
    refused(&lena, "initiate_handshake", json!({"message": "Go", "agents": "kimm"}), "unknown-agent", "Did you mean").await;
    let unknown = json!({"title": "x", "assigned_to": "nobody"});
    refused(&lena, "create_task", unknown, "unknown-agent", "Call who").await;
    assert!(board.db.history(&board.project.id, &db::HistoryQuery::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn harmful_messages_are_refused() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let kim = server.modern(&board.agent("kim", &[]).await).await;
    let tess = server.modern(&board.agent("tess", &[]).await).await;
    refused(&mara, "send", json!({"to_agent": "kim", "message": ""}), "invalid", "Write at least one character").await;
    refused(&mara, "send", json!({"to_agent": "kim", "message": "x".repeat(1 << 20)}), "invalid", "Shorten it").await;
    refused(&mara, "send", json!({"to_agent": "kim", "message": "a\u{0}"}), "invalid", "Remove the character").await;
    refused(&mara, "send", json!({"to_agent": "kim"}), "invalid", "Correct it and call send again").await;
    done(&mara, "send", json!({"to_agent": "kim", "message": "for kim"})).await;
    refused(&tess, "send", json!({"to_agent": "mara", "message": "what?", "reply_to": 1}), "invalid", "Reply to a message from your inbox").await;
    refused(&tess, "send", json!({"to_agent": "mara", "message": "what?", "reply_to": 77}), "not-found", "Look up the message").await;
    refused(&mara, "send", json!({"to_agent": "kim", "message": "x", "task_id": "TASK-099"}), "not-found", "Look up the task").await;
    let blocked = call(&kim, "send", json!({"to_agent": "mara", "message": "here"})).await;
    assert!(blocked.text.starts_with("BLOCKED: You have 1 unread message(s). Call check_inbox first."), "{}", blocked.text);
    refused(&kim, "send", json!({"to_agent": "mara", "message": "here"}), "unread", "Call check_inbox, read the messages, then send again").await;
}

#[tokio::test]
async fn acting_as_another_agent_is_refused() {
    let board = Board::new().await;
    let server = board.serve().await;
    board.agent("lena", &[Role::Lead]).await;
    let mara = server.modern(&board.agent("platform/mara", &[]).await).await;
    refused(&mara, "send", json!({"from_agent": "lena", "to_agent": "all", "message": "Stop"}), "not-you", "Write as platform/mara").await;
    refused(&mara, "check_inbox", json!({"agent_name": "lena"}), "not-you", "your token determines your identity").await;
    refused(&mara, "register", json!({"agent_name": "lena", "role": "coder"}), "not-you", "your token determines your identity").await;
    refused(&mara, "register", json!({"agent_name": "mara", "team": "design"}), "not-you", "your token determines your identity").await;
    refused(&mara, "register", json!({"role": "lead"}), "lead-only", "Ask a lead").await;
    refused(&mara, "create_task", json!({"creator": "human", "title": "x"}), "not-you", "your token determines your identity").await;
    let room = server.modern(&board.db.create_invite_token(&db::Caller::owner(), &board.project.id).await.unwrap()).await;
    refused(&room, "register", json!({"agent_name": "lena"}), "name-taken", "Choose another name").await;
    refused(&room, "register", json!({"agent_name": "human"}), "invalid", "Choose a name such as mara").await;
    refused(&room, "register", json!({"agent_name": ""}), "invalid", "Choose a name such as mara").await;
    refused(&room, "register", json!({"agent_name": "kim", "role": "boss"}), "invalid", "Correct it").await;
    refused(&room, "register", json!({"agent_name": "kim", "role": "lead"}), "unverified", "Ask the human for a token of your own").await;
    refused(&room, "send", json!({"to_agent": "lena", "message": "?"}), "not-registered", "Call register and choose a name").await;
    done(&mara, "fenix_down", json!({"manifest": "Nothing is open."})).await;
    done(&mara, "deregister", json!({})).await;
    refused(&mara, "send", json!({"to_agent": "lena", "message": "?"}), "not-registered", "Call register to return as platform/mara").await;
    refused(&mara, "who", json!({}), "not-registered", "Call register to return as platform/mara").await;
    done(&mara, "register", json!({})).await;
    let elsewhere = call(&mara, "register", json!({"team": "design"})).await;
    assert!(elsewhere.text.starts_with("this token belongs to platform/mara, not to design/mara."), "{}", elsewhere.text);
}

#[tokio::test]
async fn agent_with_the_humans_token_is_told_to_get_its_own() {
    let board = Board::new().await;
    let server = board.serve().await;
    let person = server.modern(PERSON).await;
    let own = "token of your own: vibe-relay token new --agent NAME --role ROLE";
    refused(&person, "register", json!({"agent_name": "alice", "role": "coder"}), "invalid", own).await;
    refused(&person, "send", json!({"from_agent": "alice", "to_agent": "all", "message": "Hello"}), "not-you", own).await;
    refused(&person, "check_inbox", json!({"agent_name": "alice"}), "not-you", own).await;
}

#[tokio::test]
async fn external_agent_cannot_claim_a_pipeline_role() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[Role::Builder]).await).await;
    let comment = |role: &str| json!({"task_id": "TASK-001", "content": "Seen.", "author_role": role});
    for role in ["coder", "human", "builder", "runner"] {
        refused(&mara, "add_comment", comment(role), "invalid", "Omit it: your comment shows your name").await;
    }
    for role in ["", " ", "agent"] {
        done(&mara, "add_comment", comment(role)).await;
    }
    let planner = server.modern(&board.planner().await.token).await;
    done(&planner, "add_comment", comment("")).await;
    done(&planner, "add_comment", comment("planner")).await;
    refused(&planner, "add_comment", comment("builder"), "invalid", "Correct it and call add_comment again").await;
    refused(&planner, "add_comment", comment("human"), "not-you", "Write as planner").await;
}

#[tokio::test]
async fn early_verdict_is_refused_with_who_acts_next() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[Role::Builder]).await).await;
    done(&lena, "create_task", json!({"title": "Search", "assigned_to": "mara"})).await;
    let task = json!({"task_id": "TASK-002"});
    refused(&lena, "approve_task", task.clone(), "illegal-stage", "Its assignee starts and submits it first").await;
    done(&mara, "check_inbox", json!({})).await;
    done(&mara, "update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    refused(&lena, "approve_task", task, "illegal-stage", "Its agent submits it first, with submit_for_review").await;
}

#[tokio::test]
async fn untrusted_agent_may_only_message_and_take_tasks() {
    let board = Board::new().await;
    let server = board.serve().await;
    let kim = server.modern(&board.stranger(&server, "kim").await).await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    done(&lena, "create_task", json!({"title": "Search", "assigned_to": "kim"})).await;
    done(&kim, "check_inbox", json!({})).await;
    done(&kim, "send", json!({"to_agent": "lena", "message": "I begin"})).await;
    done(&kim, "update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    done(&kim, "submit_for_review", json!({"task_id": "TASK-002", "summary": "done"})).await;
    let task = json!({"task_id": "TASK-002"});
    for (tool, arguments) in [
        ("approve_task", task.clone()),
        ("reject_task", json!({"task_id": "TASK-002", "reason": "x"})),
        ("assign_role_hat", json!({"task_id": "TASK-002", "role": "researcher"})),
        ("initiate_handshake", json!({"message": "Go"})),
        ("set_spawn_policy", json!({"scope": "global"})),
    ] {
        refused(&kim, tool, arguments, "unverified", "Ask the human for a token of your own").await;
    }
    done(&kim, "submit_result", json!({"task_id": "TASK-002", "content": RESULT})).await;
    done(&lena, "check_inbox", json!({})).await;
    done(&lena, "approve_task", task.clone()).await;
    let other = server.modern(&board.stranger(&server, "tim").await).await;
    refused(&other, "verify_task", task.clone(), "unverified", "Ask the human").await;
    refused(&other, "reject_verification", json!({"task_id": "TASK-002", "reason": "x"}), "unverified", "Ask the human").await;
    refused(&other, "update_task", json!({"task_id": "TASK-002", "status": "verified"}), "unverified", "Ask the human").await;
}

#[tokio::test]
async fn builder_cannot_review_own_work() {
    let board = Board::new().await;
    let server = board.serve().await;
    // It leads, builds and tests: every right but the one to judge itself.
    let mara = server.modern(&board.agent("mara", &[Role::Lead, Role::Builder, Role::Tester]).await).await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead, Role::Tester]).await).await;
    let task = json!({"task_id": "TASK-002"});
    done(&lena, "create_task", json!({"title": "Search", "assigned_to": "mara"})).await;
    refused(&lena, "approve_task", task.clone(), "illegal-stage", "").await;
    refused(&lena, "verify_task", task.clone(), "illegal-stage", "").await;
    refused(&lena, "submit_for_review", json!({"task_id": "TASK-002", "summary": "x"}), "not-assignee", "A lead can assign").await;
    refused(&mara, "update_task", json!({"task_id": "TASK-002", "status": "completed"}), "illegal-stage", "You can change it to").await;
    refused(&mara, "update_task", json!({"task_id": "TASK-002", "status": "ready"}), "illegal-stage", "You can change it to in_progress").await;
    refused(&mara, "update_task", json!({"task_id": "TASK-002"}), "invalid", "").await;
    done(&mara, "check_inbox", json!({})).await;
    done(&mara, "update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    done(&mara, "submit_for_review", json!({"task_id": "TASK-002", "summary": "done"})).await;
    refused(&mara, "approve_task", task.clone(), "not-independent", "Leave it to an agent that neither built nor approved it").await;
    refused(&mara, "update_task", json!({"task_id": "TASK-002", "status": "completed"}), "not-independent", "neither built nor approved").await;
    done(&mara, "submit_result", json!({"task_id": "TASK-002", "content": RESULT})).await;
    done(&lena, "approve_task", task.clone()).await;
    for client in [&mara, &lena] {
        refused(client, "verify_task", task.clone(), "not-independent", "neither built nor approved").await;
        refused(client, "update_task", json!({"task_id": "TASK-002", "status": "verified"}), "not-independent", "neither built nor approved").await;
        refused(client, "reject_verification", json!({"task_id": "TASK-002", "reason": "x"}), "not-independent", "neither built nor approved").await;
    }
    let card = board.db.card(&domain::id::TaskId::new(2)).await.unwrap();
    assert_eq!((card.contributors.approved_by.as_deref(), card.contributors.verified_by), (Some("lena"), None));
}

#[tokio::test]
async fn conflicting_hats_need_different_agents() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    board.agent("mara", &[Role::Builder, Role::Tester]).await;
    done(&lena, "create_task", json!({"title": "Search", "assigned_to": "mara", "role_hat": "builder"})).await;
    let testing = json!({"title": "Test it", "assigned_to": "mara", "role_hat": "tester"});
    refused(&lena, "create_task", testing, "hat-conflict", "call hat_history to see all hats").await;
    done(&lena, "create_task", json!({"title": "Test it", "assigned_to": "mara"})).await;
    refused(&lena, "assign_role_hat", json!({"task_id": "TASK-003", "role": "tester"}), "hat-conflict", "Give the hat to another agent").await;
    refused(&lena, "assign_role_hat", json!({"task_id": "TASK-003", "role": "shipper"}), "invalid", "").await;
}

#[tokio::test]
async fn handshakes_contracts_and_goals_enforce_their_rules() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let (mara, kim) = (server.modern(&board.agent("mara", &[]).await).await, server.modern(&board.agent("kim", &[]).await).await);
    refused(&mara, "initiate_handshake", json!({"message": "Go"}), "lead-only", "Ask a lead with send").await;
    done(&lena, "initiate_handshake", json!({"message": "Go", "agents": ["mara"]})).await;
    done(&mara, "ack_handshake", json!({"handshake_id": 1})).await;
    refused(&mara, "ack_handshake", json!({"handshake_id": 1}), "acknowledged-before", "No further answer is needed").await;
    refused(&kim, "ack_handshake", json!({"handshake_id": 1}), "not-asked", "Leave it to the targets").await;
    let odd = json!({"name": "x", "type": "promise", "spec": "x"});
    refused(&mara, "declare_contract", odd, "invalid", "Correct it and call declare_contract again").await;
    refused(&mara, "declare_contract", json!({"name": "", "type": "event", "spec": "x"}), "invalid", "").await;
    refused(&mara, "declare_contract", json!({"name": "x", "type": "event", "spec": " "}), "invalid", "Write at least one character").await;
    refused(&mara, "log_minion", json!({"task_description": "x", "status": "completed"}), "invalid", "Log each minion as spawned").await;
    refused(&lena, "set_spawn_policy", json!({"scope": "global", "max_minions": 1_000}), "invalid", "Allow at most 100").await;
    refused(&lena, "set_spawn_policy", json!({"scope": "marra"}), "unknown-agent", "Did you mean mara?").await;
    refused(&mara, "create_goal", json!({"title": ""}), "invalid", "").await;
    done(&mara, "create_goal", json!({"title": "People find things"})).await;
    done(&lena, "create_task", json!({"title": "Search", "goal_id": "GOAL-001"})).await;
    refused(
        &lena,
        "verify_goal",
        json!({"goal_id": "GOAL-001"}),
        "goal-open",
        "First have agents that neither built nor approved these tasks verify",
    )
    .await;
    refused(&mara, "verify_goal", json!({"goal_id": "GOAL-001"}), "lead-only", "Ask a lead").await;
    refused(&mara, "link_task_to_goal", json!({"task_id": "TASK-001", "goal_id": "GOAL-001"}), "lead-only", "Ask a lead").await;
    refused(&lena, "link_task_to_goal", json!({"task_id": "TASK-002", "goal_id": "GOAL-009"}), "not-found", "Look up the goal").await;
}
