//! Which requests are accepted, and as which caller.

mod every_tool;

use std::collections::BTreeSet;

use domain::board::goal::NewGoal;
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Registration;
use domain::team::person::{NewPerson, PersonRole};
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::wire::NewPersonToken;
use domain::wire::Problem;
use http::StatusCode;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use every_tool::every_tool;

use super::fixture::{Board, Era, PERSON, Server, call, done, refused};
use crate::{PATH, tools};

#[tokio::test]
async fn every_tool_refuses_a_finished_run() {
    let names: BTreeSet<String> = every_tool().iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names, tools::routes().list_all().iter().map(|tool| tool.name.to_string()).collect(), "a tool is missing in this test");
    let board = Board::new().await;
    let (coder, reviewer, _) = board.reviewer().await;
    let planner = board.planner().await;
    let server = board.serve().await;
    board.end(&planner).await;
    board.end(&reviewer).await;
    for (phase, run) in [(AgentKind::Planner, &planner), (AgentKind::Coder, &coder.run), (AgentKind::Reviewer, &reviewer)] {
        let client = server.modern(&run.token).await;
        for (tool, arguments) in every_tool() {
            let text = refused(&client, tool, arguments).await;
            if tools::is_allowed(&super::table::run(phase), tool) {
                assert!(text.starts_with(&format!("{} is no longer the current run of its task", run.run.id)), "{phase} {tool}: {text}");
                assert!(text.contains("End your turn"), "{tool}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn each_kind_is_refused_other_kinds_tools() {
    let board = Board::new().await;
    let (coder, run, _) = board.reviewer().await;
    let server = board.serve().await;
    let room = board.db.create_invite_token(&db::Caller::owner(), &board.project.id).await.unwrap();
    for (caller, token, words) in [
        (super::table::run(AgentKind::Reviewer), run.token.clone(), "a reviewer may not call "),
        (super::table::outside("mara"), board.agent("mara", &[]).await, "tool: "),
        (
            db::Caller::Invite(db::InviteCaller {
                project_id: board.project.id.clone(),
                permissions: domain::team::token::Permissions::default(),
                expires_at: None,
                call_id: None,
            }),
            room,
            "this invite token",
        ),
        (db::Caller::owner(), PERSON.to_owned(), "tool: "),
    ] {
        let client = server.modern(&token).await;
        for (tool, arguments) in every_tool().into_iter().filter(|(tool, _)| !tools::is_allowed(&caller, tool)) {
            let text = refused(&client, tool, arguments).await;
            assert!(text.starts_with(words), "{tool}: {text}");
            assert!(text.contains("Your tools are get_board") || text.contains("Call register"), "{text}");
        }
    }
    let client = server.modern(&run.token).await;
    let other = refused(&client, "add_comment", json!({"task_id": "TASK-001", "content": "x"})).await;
    assert!(other.starts_with(&format!("this run works on {}, not on TASK-001.", coder.task)), "{other}");
    let posing = refused(&client, "add_comment", json!({"task_id": coder.task, "content": "fine", "author_role": "human"})).await;
    assert!(posing.starts_with("this token belongs to reviewer, not to human."), "{posing}");
    assert!(board.db.comments(&coder.task).await.unwrap().is_empty());
}

#[tokio::test]
async fn viewer_may_only_call_tools_that_read() {
    let board = Board::new().await;
    let new = NewPerson { name: "vera".to_owned(), role: Some(PersonRole::Viewer) };
    let id = board.db.add_person(&db::Caller::owner(), new).await.unwrap().id;
    let token = board.db.create_person_token(&db::Caller::owner(), id, NewPersonToken::default()).await.unwrap();
    let server = board.serve().await;
    let client = server.modern(&token).await;
    let listed: Vec<String> = client.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name.into_owned()).collect();
    let expected = "check_activity check_freshness get_battle_plan get_board get_claims get_heat_map get_history get_memory get_messages get_my_tasks get_raid_log get_session get_spawn_policy get_task get_zones goal_status handshake_status hat_history list_contracts list_memory list_sessions list_tasks party_status propose_zones search_by_sender search_by_timerange search_context wait_for who";
    assert_eq!(listed.join(" "), expected);
    let before = board.db.latest();
    let of_agents = ["authenticate_agent", "refresh_token"];
    let is_listed = |tool: &str| listed.iter().any(|name| name == tool);
    for (tool, arguments) in every_tool().into_iter().filter(|(tool, _)| !is_listed(tool) && !of_agents.contains(tool)) {
        let text = refused(&client, tool, arguments).await;
        assert!(text.starts_with(&format!("calling {tool} is not allowed for a viewer")), "{tool}: {text}");
    }
    done(&client, "get_board", json!({})).await;
    assert_eq!(board.db.latest(), before);
}

#[tokio::test]
async fn another_project_does_not_exist() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let probe = repo::probe(board.sample.top(), None).unwrap();
    let new = domain::wire::NewProject { title: "Secret".to_owned(), description: Some("x".to_owned()), ..Default::default() };
    board.db.create_project(&db::Caller::owner(), new, probe).await.unwrap();
    let goal =
        board.db.create_goal(&db::Caller::owner(), &ProjectId::new(2), NewGoal { title: "Secret".to_owned(), description: None }).await.unwrap();
    let kim = Registration { name: "kim".to_owned(), ..Registration::default() };
    board.db.create_agent_token(&db::Caller::owner(), &ProjectId::new(2), kim, TokenTerms::default()).await.unwrap();
    let handshake = board.db.initiate_handshake(&db::Caller::owner(), &ProjectId::new(2), "Secret", Vec::new()).await.unwrap().id;
    let session = board.db.own_context_session(&db::Caller::owner(), &ProjectId::new(2)).await.unwrap().id;
    let server = board.serve().await;
    let lead = board.agent("lena", &[Role::Lead]).await;
    for (caller, token) in [(super::table::run(AgentKind::Planner), planner.token.clone()), (super::table::outside("lena"), lead)] {
        let client = server.modern(&token).await;
        for (tool, arguments) in [
            ("get_task", json!({"task_id": "TASK-002"})),
            ("get_board", json!({"project_id": "PROJ-002"})),
            ("list_tasks", json!({"project": "PROJ-002"})),
            ("hat_history", json!({"project": "PROJ-002"})),
            ("list_contracts", json!({"project": "PROJ-002"})),
            ("create_goal", json!({"title": "x", "project": "PROJ-002"})),
            ("declare_contract", json!({"name": "x", "type": "other", "spec": "x", "project": "PROJ-002"})),
            ("create_task", json!({"title": "x", "project_id": "PROJ-002"})),
            ("create_subtasks", json!({"parent_task_id": "TASK-002", "tasks": [{"title": "x"}]})),
            ("add_comment", json!({"task_id": "TASK-002", "content": "x"})),
            ("send", json!({"to_agent": "human", "message": "x", "task_id": "TASK-002"})),
            ("update_task_status", json!({"task_id": "TASK-002", "status": "done"})),
            ("update_task", json!({"task_id": "TASK-002", "status": "assigned"})),
            ("assign_role_hat", json!({"task_id": "TASK-002", "role": "builder"})),
            ("submit_for_review", json!({"task_id": "TASK-002", "summary": "x"})),
            ("approve_task", json!({"task_id": "TASK-002"})),
            ("close_task", json!({"task_id": "TASK-002"})),
            ("submit_result", json!({"task_id": "TASK-002", "content": "x"})),
            ("reject_task", json!({"task_id": "TASK-002", "reason": "x"})),
            ("verify_task", json!({"task_id": "TASK-002"})),
            ("reject_verification", json!({"task_id": "TASK-002", "reason": "x"})),
            ("link_task_to_goal", json!({"task_id": "TASK-001", "goal_id": goal.id})),
            ("goal_status", json!({"goal_id": goal.id})),
            ("verify_goal", json!({"goal_id": goal.id})),
            ("handshake_status", json!({"handshake_id": handshake})),
            ("ack_handshake", json!({"handshake_id": handshake})),
            ("initiate_handshake", json!({"message": "x", "project": "PROJ-002"})),
            ("get_history", json!({"project": "PROJ-002"})),
            ("create_session", json!({"purpose": "x", "project": "PROJ-002"})),
            ("get_session", json!({"project": "PROJ-002"})),
            ("get_session", json!({"session_id": session})),
            ("list_sessions", json!({"project": "PROJ-002"})),
            ("close_session", json!({"session_id": session})),
            ("add_message", json!({"session_id": session, "content": "x"})),
            ("get_messages", json!({"session_id": session})),
            ("search_by_sender", json!({"session_id": session, "sender": "human"})),
            ("search_context", json!({"session_id": session, "query": "x"})),
            ("search_by_timerange", json!({"session_id": session, "start_time": "2026-01-31T09:05:00Z", "end_time": "2999-01-31T09:05:00Z"})),
            ("set_memory", json!({"session_id": session, "key": "x", "value": "x"})),
            ("get_memory", json!({"session_id": session, "key": "x"})),
            ("list_memory", json!({"session_id": session})),
            ("delete_memory", json!({"session_id": session, "key": "x"})),
            ("check_inbox", json!({"project": "PROJ-002"})),
            ("who", json!({"project": "PROJ-002"})),
            ("get_spawn_policy", json!({"project": "PROJ-002"})),
            ("log_minion", json!({"task_description": "x", "status": "spawned", "project": "PROJ-002"})),
            ("get_claims", json!({"project": "PROJ-002"})),
            ("claim_file", json!({"file_path": "x", "project": "PROJ-002"})),
            ("release_file", json!({"file_path": "x", "project": "PROJ-002"})),
        ] {
            if tools::is_allowed(&caller, tool) {
                let text = refused(&client, tool, arguments).await;
                assert!(text.contains("does not exist") && !text.contains("Secret"), "{tool}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn tool_lists_depend_on_the_caller_and_are_private() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let names = |tools: Vec<rmcp::model::Tool>| tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
    for era in Era::BOTH {
        let client = server.client(&coder.run.token, era).await;
        let mine = names(client.list_tools(None).await.unwrap().tools);
        assert_eq!(mine.len(), 12);
        assert!(mine.contains(&"send".to_owned()) && !mine.contains(&"verify_task".to_owned()), "{mine:?}");
        let person = server.client(PERSON, era).await;
        assert_eq!(names(person.list_tools(None).await.unwrap().tools).len(), 81);
    }
    let answer: Value = post(&server, "tools/list", Some(PERSON), json!({})).send().await.unwrap().json().await.unwrap();
    assert_eq!((&answer["result"]["ttlMs"], &answer["result"]["cacheScope"]), (&json!(0), &json!("private")));
}

fn post(server: &Server, method: &str, token: Option<&str>, parameters: Value) -> RequestBuilder {
    let mut parameters = parameters;
    parameters["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let mut request = reqwest::Client::new()
        .post(format!("{}{PATH}", server.url))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .body(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).to_string());
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    request
}

#[tokio::test]
async fn request_without_a_valid_token_is_401() {
    let board = Board::new().await;
    let server = board.serve().await;
    for token in [None, Some("guessed"), Some("")] {
        let response = post(&server, "tools/list", token, json!({})).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
        let problem: Problem = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        assert_eq!((problem.status, problem.code.as_str()), (401, "unauthorized"));
        assert!(problem.hint.contains("vibe-relay token new --agent NAME --role ROLE") && !problem.hint.contains("file"), "{}", problem.hint);
    }
}

#[tokio::test]
async fn foreign_origins_and_hosts_are_refused() {
    let board = Board::new().await;
    let server = board.serve().await;
    for (name, value) in [("origin", "https://evil.example"), ("origin", "http://127.0.0.1:9400"), ("host", "evil.example")] {
        let response = post(&server, "tools/list", Some(PERSON), json!({})).header(name, value).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{name}: {value}");
    }
}

#[tokio::test]
async fn session_belongs_to_its_opener() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let url = format!("{}{PATH}", server.url);
    let legacy = |token: &str, session: Option<&str>, body: Value| {
        let mut request = reqwest::Client::new()
            .post(&url)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .bearer_auth(token)
            .body(body.to_string());
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send()
    };
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let begun = legacy(PERSON, None, json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})).await.unwrap();
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(legacy(PERSON, Some(&session), ready).await.unwrap().status(), StatusCode::ACCEPTED);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert_eq!(legacy(&coder.run.token, Some(&session), list.clone()).await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(legacy(PERSON, Some(&session), list.clone()).await.unwrap().status(), StatusCode::OK);
    let end = reqwest::Client::new().delete(&url).bearer_auth(PERSON).header("mcp-session-id", &session).send().await.unwrap();
    assert!(end.status().is_success(), "{}", end.status());
    assert_eq!(legacy(PERSON, Some(&session), list).await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn shutting_down_ends_sessions_and_answers_503() {
    let board = Board::new().await;
    let shutdown = CancellationToken::new();
    let server = Server::start(board.router(shutdown.clone())).await;
    let client = server.client(PERSON, Era::Legacy).await;
    done(&client, "get_board", json!({})).await;
    let listening = reqwest::Client::new().get(format!("{}{PATH}", server.url)).bearer_auth(PERSON).header("accept", "text/event-stream");
    shutdown.cancel();
    assert_eq!(listening.send().await.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
    let response = post(&server, "tools/list", Some(PERSON), json!({})).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()["retry-after"], "1");
}

#[tokio::test]
async fn bridge_for_another_task_is_refused() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let server = board.serve().await;
    let parameters = json!({"name": "get_my_tasks", "arguments": {}, "_meta": {}});
    let mut request: Value = parameters;
    request["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        crate::meta::TASK_ID: "TASK-009",
    });
    let answer: Value = reqwest::Client::new()
        .post(format!("{}{PATH}", server.url))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "get_my_tasks")
        .bearer_auth(&planner.token)
        .body(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": request}).to_string())
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("this run works on TASK-001, not on TASK-009."), "{text}");
}

#[tokio::test]
async fn stopped_run_gets_a_notice() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&coder.run.token).await;
    board.db.stop_run(&db::Caller::owner(), &coder.run.run.id).await.unwrap();
    let outcome = call(&client, "add_comment", json!({"task_id": coder.task, "content": "still here"})).await;
    assert!(outcome.is_error && outcome.text.ends_with("notices:\n- the human stopped this run: end your turn now"), "{}", outcome.text);
    assert_eq!(board.db.card(&coder.task).await.unwrap().status, Status::InProgress);
    assert!(board.db.comments(&TaskId::new(2)).await.unwrap().is_empty());
}
