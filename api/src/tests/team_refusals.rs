//! Refused requests about agents, messages and gates: each has its status, code and hint, and changes nothing.

use axum::http::header;
use db::{Caller, MoveRequest};
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::{Submission, TaskUpdate};
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceResult};
use domain::team::agent::Registration;
use domain::team::message::NewMessage;
use domain::team::role::Role;
use serde_json::{Value, json};

use super::support::TestServer;

/// Sends a request that must be refused, and checks that it changes nothing and has a hint.
async fn refused(server: &TestServer, method: &str, path: &str, body: Value) -> (u16, String, String) {
    let before = server.state.db.latest();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = server.call(method, path, &body).await;
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/problem+json", "{path}: {}", answer.text);
    assert_eq!(server.state.db.latest(), before, "{path} changed something");
    let problem = answer.json();
    let word = |field: &str| problem[field].as_str().unwrap_or_default().to_owned();
    assert!(!word("detail").is_empty() && !word("hint").is_empty(), "{problem}");
    (answer.status.as_u16(), word("code"), word("hint"))
}

/// Asserts the status and code of each request; paths are relative to `/api`.
async fn all_refused(server: &TestServer, requests: Vec<(&str, &str, Value, u16, &str)>) {
    for (method, path, body, status, code) in requests {
        let (got, given, hint) = refused(server, method, &format!("/api{path}"), body.clone()).await;
        assert_eq!((got, given.as_str()), (status, code), "{method} {path} {body}: {hint}");
    }
}

/// Creates a project with a task that `mara` built and submitted.
async fn submitted(server: &TestServer) -> (ProjectId, Caller, TaskId) {
    let project = server.project().await;
    let (_, mara) = server.agent(&project, "mara", &[Role::Builder, Role::Tester]).await;
    let task = server.task(&project).await.card.id;
    let db = &server.state.db;
    db.assign_task(&Caller::owner(), &task, Some("mara".into()), Some(Role::Builder)).await.unwrap();
    let begin = TaskUpdate { stage: Some(Stage::InProgress), assigned_to: None, result: None };
    db.update_task(&mara, &task, begin, EvidenceResult::Nothing).await.unwrap();
    db.submit_for_review(&mara, &task, Submission { summary: "Done.".into(), files_changed: None, test_results: None }).await.unwrap();
    (project, mara, task)
}

/// Creates a project with a task that a managed agent built on a branch, and returns its commit.
async fn in_review(server: &TestServer) -> (ProjectId, TaskId, String) {
    let project = server.project().await;
    let task = server.task(&project).await.card.id;
    let (reserved, coder) = server.run(&task, AgentKind::Coder, Status::Backlog).await;
    let head = server.sample.commit_on("vr/TASK-001/work", &[("page.html", Some("<html>"))], "work");
    let db = &server.state.db;
    db.record_checkout(&task, "vr/TASK-001/work", "/nowhere").await.unwrap();
    let evidence = Evidence {
        head: head.clone(),
        base: "main".into(),
        ahead: 1,
        dirty_paths: Vec::new(),
        dirty_count: 0,
        diff_empty: false,
        patch_id: "patch".to_owned(),
        changed_paths: Vec::new(),
        nested: Vec::new(),
        protected: None,
    };
    db.move_task(&coder, &task, MoveRequest::to(Status::InReview), EvidenceResult::Evidence(evidence)).await.unwrap();
    server.end(&reserved.run.id).await;
    (project, task, head)
}

fn message(to: &str) -> NewMessage {
    NewMessage { to: to.into(), content: "Hello".into(), cc: Vec::new(), task_id: None, reply_to: None }
}

#[tokio::test]
async fn undeliverable_message_is_refused() {
    let server = TestServer::new().await;
    let project = server.project().await;
    server.agent(&project, "mara", &[Role::Builder]).await;
    // The name of an agent that joined with an invite token is no mailbox after it left.
    let invite = server.state.db.create_invite_token(&Caller::owner(), &project).await.unwrap();
    let invite = server.state.db.caller(&invite).await.unwrap().unwrap();
    let zoe = Registration { name: "zoe".into(), ..Registration::default() };
    server.state.db.register(&invite, &project, zoe, None).await.unwrap();
    for team in ["one/ann", "two/ann"] {
        server.agent(&project, team, &[Role::Builder]).await;
    }
    server.state.db.deregister(&Caller::owner(), &project, "zoe").await.unwrap();
    let other = server.project().await;
    let foreign = server.state.db.send(&Caller::owner(), &other, message("all")).await.unwrap().message.id;

    let messages = "/projects/PROJ-001/messages";
    let to = |to: &str| json!({"to": to, "content": "Hello"});
    all_refused(
        &server,
        vec![
            ("post", messages, to("mira"), 422, "unknown-agent"),
            ("post", messages, to("ann"), 422, "ambiguous-agent"),
            ("post", messages, to("zoe"), 409, "dead-agent"),
            ("post", messages, json!({"to": "mara", "content": "Hello", "cc": ["mira"]}), 422, "unknown-agent"),
            ("post", messages, json!({"to": "mara", "content": " \n"}), 422, "invalid"),
            ("post", messages, json!({"to": "mara", "content": "a\0b"}), 422, "invalid"),
            ("post", messages, json!({"to": "mara", "content": "x".repeat(900_000)}), 422, "invalid"),
            ("post", messages, json!({"to": "mara", "content": "x".repeat(1024 * 1024)}), 413, "too-large"),
            ("post", messages, json!({"to": "mara", "content": "Hello", "reply_to": foreign}), 404, "not-found"),
            ("post", messages, json!({"to": "mara", "content": "Hello", "task_id": "TASK-404"}), 404, "not-found"),
            ("post", messages, json!({"to": "mara", "content": "Hello", "from": "zoe"}), 422, "invalid"),
            ("post", messages, json!({"to": "mara"}), 422, "invalid"),
            ("get", "/projects/PROJ-001/messages?agent=mira", Value::Null, 422, "unknown-agent"),
            ("get", "/projects/PROJ-001/messages?before=yesterday", Value::Null, 422, "invalid"),
            ("get", "/projects/PROJ-001/messages?task=mine", Value::Null, 422, "invalid"),
            ("post", "/projects/PROJ-001/inbox/read", json!({"ack": "all"}), 422, "invalid"),
            ("post", "/projects/PROJ-001/agents/remove", json!({"name": "mira"}), 422, "unknown-agent"),
        ],
    )
    .await;
    let (_, _, hint) = refused(&server, "post", &format!("/api{messages}"), to("mira")).await;
    assert!(hint.contains("mara"), "{hint}");
}

#[tokio::test]
async fn message_is_rendered_like_a_comment() {
    let server = TestServer::new().await;
    let project = server.project().await;
    let (_, mara) = server.agent(&project, "mara", &[Role::Builder]).await;
    let content = "**Mind** <b>it</b> ![a](https://x.y/z.png)".to_owned();
    server.state.db.send(&mara, &project, NewMessage { content: content.clone(), ..message("human") }).await.unwrap();
    let page = server.call("get", "/api/projects/PROJ-001/messages", "").await.json();
    let shown = (page["items"][0]["content"].as_str(), page["items"][0]["content_html"].as_str());
    let html = "<p dir=\"auto\"><strong>Mind</strong> &lt;b&gt;it&lt;/b&gt; <a href=\"https://x.y/z.png\" target=\"_blank\" rel=\"noopener noreferrer\">a</a></p>\n";
    assert_eq!(shown, (Some(content.as_str()), Some(html)));
}

#[tokio::test]
async fn unread_messages_do_not_block_the_human() {
    let server = TestServer::new().await;
    let project = server.project().await;
    let (_, mara) = server.agent(&project, "mara", &[Role::Builder]).await;
    server.state.db.send(&mara, &project, message("human")).await.unwrap();
    let sent = server.call("post", "/api/projects/PROJ-001/messages", r#"{"to": "mara", "content": "One moment."}"#).await;
    assert_eq!(sent.status.as_u16(), 201, "{}", sent.text);
    assert_eq!(server.call("get", "/api/projects/PROJ-001/inbox", "").await.json()["count"], 1, "and it is still unread");
}

#[tokio::test]
async fn approver_cannot_verify() {
    let server = TestServer::new().await;
    let (_, _, task) = submitted(&server).await;
    all_refused(
        &server,
        vec![
            ("post", "/tasks/TASK-001/verify", json!({}), 422, "illegal-stage"),
            ("post", "/tasks/TASK-001/approve", json!({"note": "x"}), 422, "invalid"),
            ("post", "/tasks/TASK-404/approve", json!({}), 404, "not-found"),
        ],
    )
    .await;
    let approved = server.call("post", "/api/tasks/TASK-001/approve", "{}").await;
    assert_eq!(approved.json()["approved_by"], "human", "{}", approved.text);
    all_refused(
        &server,
        vec![
            ("post", "/tasks/TASK-001/verify", json!({}), 403, "not-independent"),
            ("patch", "/tasks/TASK-001", json!({"status": "done"}), 403, "not-independent"),
            ("post", "/tasks/TASK-001/reject-verification", json!({"reason": "No."}), 403, "not-independent"),
            ("post", "/tasks/TASK-001/reject-verification", json!({}), 422, "invalid"),
            ("post", "/tasks/TASK-001/approve", json!({}), 422, "illegal-stage"),
        ],
    )
    .await;
    assert_eq!(server.state.db.task(&task).await.unwrap().card.contributors.verified_by, None);
}

#[tokio::test]
async fn human_approval_queues_the_newest_commit() {
    let server = TestServer::new().await;
    let (_, _, head) = in_review(&server).await;
    let approved = server.call("post", "/api/tasks/TASK-001/approve", r#"{"notes": "Good."}"#).await.json();
    assert_eq!(
        (approved["status"].as_str(), approved["approved_sha"].as_str(), approved["note"].as_str()),
        (Some("in_review"), Some(head.as_str()), Some("approved: the merge is queued"))
    );
    let thread = server.call("get", "/api/tasks/TASK-001/comments", "").await.json();
    assert_eq!(thread["items"].as_array().unwrap().last().unwrap()["content"], "Good.");
}

#[tokio::test]
async fn move_from_done_to_done_verifies_the_work_of_others() {
    let server = TestServer::new().await;
    let (project, task, head) = in_review(&server).await;
    let (_, lena) = server.agent(&project, "lena", &[Role::Lead]).await;
    let (db, target) = (&server.state.db, format!("vibe-relay/{project}"));
    let repository = server.sample.repository();
    repository.ensure_project_branch(&target, "main").unwrap();
    db.approve_task(&lena, &task, None, EvidenceResult::head(head.clone())).await.unwrap();
    repository.merge(&target, &repository.ref_sha(&target).unwrap().unwrap(), &head, "Merge", &repository.identity("test").unwrap()).unwrap();
    let tip = repository.ref_sha(&target).unwrap().unwrap();
    db.record_merge(&task, &head, &target, &tip, "tree").await.unwrap();
    let verified = server.call("patch", "/api/tasks/TASK-001", r#"{"status": "done"}"#).await.json();
    assert_eq!((verified["verified_by"].as_str(), &verified["note"]), (Some("human"), &Value::Null), "{verified}");
}

#[tokio::test]
async fn goal_needs_verified_tasks() {
    let server = TestServer::new().await;
    submitted(&server).await;
    assert_eq!(server.call("post", "/api/projects/PROJ-001/goals", r#"{"title": "A page"}"#).await.status.as_u16(), 201);
    server.call("post", "/api/tasks/TASK-001/goal", r#"{"goal_id": "GOAL-001"}"#).await;
    server.project().await;
    server.call("post", "/api/projects/PROJ-002/goals", r#"{"title": "Another page"}"#).await;
    all_refused(
        &server,
        vec![
            ("post", "/goals/GOAL-001/verify", json!({}), 409, "goal-open"),
            ("post", "/goals/GOAL-404/verify", json!({}), 404, "not-found"),
            ("get", "/goals/PROJ-001", Value::Null, 404, "not-found"),
            ("post", "/projects/PROJ-001/goals", json!({"title": ""}), 422, "invalid"),
            ("post", "/tasks/TASK-001/goal", json!({}), 422, "invalid"),
            ("post", "/tasks/TASK-001/goal", json!({"goal_id": "GOAL-404"}), 404, "not-found"),
            ("post", "/tasks/TASK-001/goal", json!({"goal_id": "GOAL-002"}), 404, "not-found"),
        ],
    )
    .await;
    let unlinked = server.call("post", "/api/tasks/TASK-001/goal", r#"{"goal_id": null}"#).await;
    assert_eq!(unlinked.json()["goal_id"], Value::Null, "{}", unlinked.text);
}

#[tokio::test]
async fn conflicting_hats_and_invalid_names_are_refused() {
    let server = TestServer::new().await;
    let (project, ..) = submitted(&server).await;
    server.task(&project).await;
    all_refused(
        &server,
        vec![
            ("post", "/tasks/TASK-002/assign", json!({"assigned_to": "mara", "role_hat": "tester"}), 409, "hat-conflict"),
            ("post", "/tasks/TASK-002/assign", json!({"assigned_to": "mira"}), 422, "unknown-agent"),
            ("post", "/tasks/TASK-002/assign", json!({"assigned_to": "mara", "role_hat": "boss"}), 422, "invalid"),
            ("post", "/tasks/TASK-002/assign", json!({"assigned_to": "mara", "role_hat": "shipper"}), 422, "invalid"),
            ("post", "/tasks/TASK-002/assign", json!({"assigned_to": null, "role_hat": "builder"}), 422, "invalid"),
            ("post", "/tasks/TASK-002/assign", json!({}), 422, "invalid"),
            ("post", "/projects/PROJ-001/tokens", json!({"agent": "human", "roles": ["builder"]}), 422, "invalid"),
            ("post", "/projects/PROJ-001/tokens", json!({"agent": "coder-TASK-001", "roles": ["builder"]}), 422, "invalid"),
            ("post", "/projects/PROJ-001/tokens", json!({"agent": "a b", "roles": ["builder"]}), 422, "invalid"),
            ("post", "/projects/PROJ-001/tokens", json!({"agent": "ann", "roles": ["boss"]}), 422, "invalid"),
            ("post", "/projects/PROJ-001/tokens", json!({"agent": "ann"}), 422, "invalid"),
        ],
    )
    .await;
    let freed = server.call("post", "/api/tasks/TASK-001/assign", r#"{"assigned_to": null}"#).await;
    assert_eq!(freed.json()["assigned_to"], Value::Null, "{}", freed.text);
}

#[tokio::test]
async fn invalid_handshakes_contracts_and_minions_are_refused() {
    let server = TestServer::new().await;
    let project = server.project().await;
    all_refused(&server, vec![("post", "/projects/PROJ-001/handshakes", json!({"message": "Begin."}), 422, "invalid")]).await;
    let (_, lena) = server.agent(&project, "lena", &[Role::Lead]).await;
    server.agent(&project, "mara", &[Role::Builder]).await;
    let db = &server.state.db;
    let asked = db.initiate_handshake(&lena, &project, "Shall we?", vec!["human".into(), "mara".into()]).await.unwrap();
    db.acknowledge(&Caller::owner(), asked.id).await.unwrap();
    db.initiate_handshake(&Caller::owner(), &project, "Begin.", vec!["mara".into()]).await.unwrap();
    let (contracts, policies) = ("/projects/PROJ-001/contracts", "/projects/PROJ-001/spawn-policies");
    all_refused(
        &server,
        vec![
            ("post", "/handshakes/1/acknowledge", Value::Null, 409, "acknowledged-before"),
            ("post", "/handshakes/2/acknowledge", Value::Null, 403, "not-asked"),
            ("post", "/handshakes/3/acknowledge", Value::Null, 404, "not-found"),
            ("post", "/projects/PROJ-001/handshakes", json!({"message": "Begin.", "agents": ["mira"]}), 422, "unknown-agent"),
            ("post", "/projects/PROJ-001/handshakes", json!({"message": ""}), 422, "invalid"),
            ("post", contracts, json!({"name": "save", "type": "promise", "spec": "x"}), 422, "invalid"),
            ("post", contracts, json!({"name": "", "type": "event", "spec": "x"}), 422, "invalid"),
            ("post", contracts, json!({"name": "save", "type": "event", "spec": ""}), 422, "invalid"),
            ("get", "/contracts/1/versions", Value::Null, 404, "not-found"),
            ("put", policies, json!({"scope": "global", "enabled": true, "max_minions": 101}), 422, "invalid"),
            ("put", policies, json!({"scope": "mira", "enabled": true, "max_minions": 1}), 422, "unknown-agent"),
            ("put", policies, json!({"enabled": true, "max_minions": 1}), 422, "invalid"),
        ],
    )
    .await;
    for number in ["0", "-1", "+1", "01", "1.0", "x", "99999999999999999999", "1%00"] {
        let (status, code, _) = refused(&server, "get", &format!("/api/contracts/{number}/versions"), Value::Null).await;
        assert!(matches!((status, code.as_str()), (404, "not-found") | (400, "bad-address")), "{number}: {status} {code}");
    }
}

#[tokio::test]
async fn unknown_project_has_no_lists() {
    let server = TestServer::new().await;
    for list in ["agents", "messages", "inbox", "goals", "handshakes", "contracts", "spawn-policies", "minions", "hats"] {
        let (status, code, hint) = refused(&server, "get", &format!("/api/projects/PROJ-404/{list}"), Value::Null).await;
        assert_eq!((status, code.as_str()), (404, "not-found"), "{list}: {hint}");
    }
    let invite = refused(&server, "post", "/api/projects/PROJ-404/invite-token", Value::Null).await;
    assert_eq!((invite.0, invite.1.as_str()), (404, "not-found"));
}
