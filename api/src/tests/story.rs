//! Every route does its work: a project from its first request to its landing.

mod team;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use axum::http::StatusCode;
use db::MoveRequest;
use domain::board::status::Status;
use domain::board::task::NewSubtask;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use serde_json::{Value, json};

use super::bench::{Answer, Bench};
use crate::{DemoHooks, ROUTES};

/// Asks through routes and remembers which.
struct Story {
    bench: Bench,
    used: BTreeSet<(String, String)>,
}

impl Story {
    /// `path` as in the list of routes; `id` takes the place of what is in braces, `query` goes behind.
    async fn ask(&mut self, method: &str, path: &str, id: &str, query: &str, body: Value) -> Answer {
        self.used.insert((method.to_owned(), path.to_owned()));
        let address = path.replace("{id}", id).replace("{*path}", id);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.bench.ask(method, &format!("{address}{query}"), &body).await
    }

    async fn get(&mut self, path: &str, id: &str) -> Value {
        let answer = self.ask("get", path, id, "", Value::Null).await;
        assert_eq!(answer.status, StatusCode::OK, "GET {path}: {}", answer.text);
        answer.json()
    }

    async fn act(&mut self, method: &str, path: &str, id: &str, body: Value, expected: StatusCode) -> Value {
        let answer = self.ask(method, path, id, "", body).await;
        assert_eq!(answer.status, expected, "{method} {path}: {}", answer.text);
        if answer.text.is_empty() { Value::Null } else { answer.json() }
    }

    /// The planner makes one task and is done.
    async fn plan(&self, title: &str) -> TaskId {
        let (run, planner) = self.bench.run(&TaskId::new(1), AgentKind::Planner, Status::InProgress).await;
        let part = NewSubtask { title: title.into(), description: None, phase: None, depends_on: Vec::new() };
        let made = self.bench.state.db.create_subtasks(&planner, &TaskId::new(1), vec![part]).await.unwrap();
        self.bench.state.db.move_task(&planner, &TaskId::new(1), MoveRequest::to(Status::Done), EvidenceResult::Nothing).await.unwrap();
        self.bench.end(&run.run.id).await;
        made[0].card.id.clone()
    }
}

#[tokio::test]
async fn every_route_does_its_work() {
    let demo = Arc::new(DemoHooks { page_url: "/demo/site/".into(), scripted: true, project: OnceLock::new(), pull_the_plug: Box::new(|| {}) });
    let hooks = demo.clone();
    let mut story = Story { bench: Bench::with(|state| state.demo = Some(hooks)).await, used: BTreeSet::new() };

    assert_eq!(story.get("/api/health", "").await["status"], "ok");
    let code = story.bench.state.sign_in.code();
    let signed_in = story.ask("get", "/sign-in", "", &format!("?code={code}"), Value::Null).await;
    assert_eq!((signed_in.status, signed_in.header("location")), (StatusCode::SEE_OTHER, "/"));
    assert!(signed_in.header("set-cookie").starts_with("vibe-relay-9400="));

    projects(&mut story).await;
    tasks(&mut story).await;
    run_and_diff(&mut story).await;
    let mara = team::meets(&mut story).await;
    team::works(&mut story, &mara).await;
    team::agrees(&mut story, &mara).await;

    let landed = story.act("post", "/api/projects/{id}/land", "PROJ-001", json!({}), StatusCode::OK).await;
    assert_eq!((landed["base_branch"].as_str(), landed["commits"].as_u64()), (Some("main"), Some(2)), "{landed}");
    assert_eq!(story.bench.sample.read("footer.html").as_deref(), Some("<footer>"), "the clean checkout follows");
    let again = story.act("post", "/api/projects/{id}/land", "PROJ-001", Value::Null, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(again["code"], "nothing-to-land");

    server(&mut story, &demo).await;

    let all: BTreeSet<_> = ROUTES.iter().map(|route| (route.method.to_owned(), route.path.to_owned())).collect();
    assert_eq!(story.used, all, "every route is in this story, and nothing else");
}

async fn projects(story: &mut Story) {
    let top = story.bench.sample.top().to_str().unwrap().to_owned();
    let probe = story.ask("get", "/api/repository", "", &format!("?path={top}"), Value::Null).await.json();
    assert_eq!((probe["base_branch"].as_str(), probe["uncommitted"].as_u64()), (Some("main"), Some(0)));

    let new = json!({"title": "A page", "description": "With a footer", "repo_path": top, "plan_approval": "ask"});
    let made = story.act("post", "/api/projects", "", new, StatusCode::CREATED).await;
    assert_eq!((made["id"].as_str(), made["integration_branch"].as_str()), (Some("PROJ-001"), Some("vibe-relay/PROJ-001")));
    assert_eq!(story.get("/api/projects", "").await["items"][0]["id"], "PROJ-001");
    let edited = story.act("patch", "/api/projects/{id}", "PROJ-001", json!({"title": "One page"}), StatusCode::OK).await;
    assert_eq!(edited["title"], "One page");
    assert_eq!(story.get("/api/projects/{id}", "PROJ-001").await, edited);
    let board = story.get("/api/projects/{id}/board", "PROJ-001").await;
    assert_eq!((board["cards"][0]["phase"].as_str(), board["seq"].as_i64()), (Some("planner"), Some(story.bench.state.db.latest())));

    story.plan("Too much").await;
    story.act("post", "/api/projects/{id}/plan/revise", "PROJ-001", json!({"content": "Less."}), StatusCode::OK).await;
    assert_eq!(story.get("/api/tasks/{id}", "TASK-001").await["status"], "in_progress");
    let task = story.plan("Just enough").await;
    story.act("post", "/api/projects/{id}/plan/approve", "PROJ-001", Value::Null, StatusCode::OK).await;
    assert_eq!(story.get("/api/tasks/{id}", task.as_str()).await["held_by"], Value::Null);
    story.act("post", "/api/tasks/{id}/cancel", task.as_str(), json!({"reason": "obsolete"}), StatusCode::OK).await;
}

async fn tasks(story: &mut Story) {
    let new = json!({"title": "Add a footer", "description": "At the **end**."});
    let made = story.act("post", "/api/projects/{id}/tasks", "PROJ-001", new, StatusCode::CREATED).await;
    assert_eq!((made["id"].as_str(), made["held_by"].as_str()), (Some("TASK-004"), Some("human")));
    assert_eq!(made["description_html"], "<p>At the <strong>end</strong>.</p>\n");
    let edited = story.act("patch", "/api/tasks/{id}", "TASK-004", json!({"priority": 3}), StatusCode::OK).await;
    assert_eq!(edited["priority"], 3);
    for (verb, held_by) in [("start", Value::Null), ("stop", json!("stop")), ("retry", Value::Null)] {
        let path = format!("/api/tasks/{{id}}/{verb}");
        let task = story.act("post", &path, "TASK-004", Value::Null, StatusCode::OK).await;
        assert_eq!(task["held_by"], held_by, "{verb}");
    }
    story.act("post", "/api/tasks/{id}/comments", "TASK-004", json!({"content": "*Soon*"}), StatusCode::CREATED).await;
    let thread = story.get("/api/tasks/{id}/comments", "TASK-004").await;
    assert_eq!(
        (thread["items"][0]["content"].as_str(), thread["items"][0]["content_html"].as_str()),
        (Some("*Soon*"), Some("<p><em>Soon</em></p>\n"))
    );
}

async fn run_and_diff(story: &mut Story) {
    let task = TaskId::new(4);
    let none = story.act("get", "/api/tasks/{id}/diff", "TASK-004", Value::Null, StatusCode::NOT_FOUND).await;
    assert_eq!(none["code"], "no-diff");
    let (reserved, coder) = story.bench.run(&task, AgentKind::Coder, Status::Backlog).await;
    let run = reserved.run.id.clone();
    assert_eq!(story.get("/api/tasks/{id}/runs", "TASK-004").await["items"][0]["id"], run.as_str());
    assert_eq!(story.get("/api/runs/{id}", run.as_str()).await["phase"], "coder");

    std::fs::create_dir_all(&reserved.run_dir).unwrap();
    std::fs::write(reserved.run_dir.join("transcript.jsonl"), "{\"offset\":9,\"kind\":\"text\",\"text\":\"Hello\"}\n").unwrap();
    let output = story.get("/api/runs/{id}/output", run.as_str()).await;
    assert_eq!((output["lines"][0]["text"].as_str(), output["complete"].as_bool()), (Some("Hello"), Some(false)));

    story.act("post", "/api/runs/{id}/message", run.as_str(), json!({"content": "Use <footer>."}), StatusCode::OK).await;
    assert_eq!(story.bench.state.db.undelivered(&run).await.unwrap()[0].content, "Use <footer>.");
    story.bench.state.db.ask(&coder, "Which colour?", vec!["red".into()], None).await.unwrap();
    assert_eq!(story.get("/api/tasks/{id}", "TASK-004").await["question"]["options"], json!(["red"]));
    let answered = story.act("post", "/api/tasks/{id}/answer", "TASK-004", json!({"content": "red"}), StatusCode::OK).await;
    assert_eq!((&answered["question"], &answered["attention"]), (&Value::Null, &Value::Null));
    let stopped = story.act("post", "/api/runs/{id}/stop", run.as_str(), Value::Null, StatusCode::OK).await;
    assert!(stopped["stop_requested_at"].is_string());
    story.bench.end(&run).await;

    let repository = story.bench.sample.repository();
    repository.ensure_project_branch("vibe-relay/PROJ-001", "main").unwrap();
    let head = story.bench.sample.commit_on("vr/TASK-004/work", &[("footer.html", Some("<footer>"))], "Add a footer");
    story.bench.state.db.record_checkout(&task, "vr/TASK-004/work", "/nowhere").await.unwrap();
    let open = story.get("/api/tasks/{id}/diff", "TASK-004").await;
    assert_eq!((open["files"][0]["path"].as_str(), open["head"].as_str()), (Some("footer.html"), Some(head.as_str())));

    let approved = story.act("patch", "/api/tasks/{id}", "TASK-004", json!({"status": "done", "title": "A footer"}), StatusCode::OK).await;
    assert_eq!(
        (approved["title"].as_str(), approved["status"].as_str(), approved["approved_sha"].as_str()),
        (Some("A footer"), Some("in_review"), Some(head.as_str()))
    );
    assert_eq!(approved["note"], "approved: the merge is queued");
    repository
        .merge(
            "vibe-relay/PROJ-001",
            &repository.ref_sha("vibe-relay/PROJ-001").unwrap().unwrap(),
            &head,
            "Merge TASK-004",
            &repository.identity("test").unwrap(),
        )
        .unwrap();
    let tip = repository.ref_sha("vibe-relay/PROJ-001").unwrap().unwrap();
    story.bench.state.db.record_merge(&task, &head, "vibe-relay/PROJ-001", &tip).await.unwrap();
    story.bench.state.db.checkout_removed(&task, None).await.unwrap();
    let merged = story.get("/api/tasks/{id}/diff", "TASK-004").await;
    assert_eq!(merged["files"], open["files"], "the merge does not hide what was changed");
}

async fn server(story: &mut Story, demo: &DemoHooks) {
    let server = story.get("/api/server", "").await;
    assert_eq!(server["demo"]["page_url"], "/demo/site/");
    assert_eq!(server["epoch"], story.bench.state.db.epoch());
    let page = story.ask("get", "/api/events", "", "?limit=2&project=PROJ-001", Value::Null).await.json();
    assert_eq!((page["items"][0]["seq"].as_i64(), page["next"].as_i64()), (Some(1), Some(2)));
    let last = story.ask("get", "/api/events", "", &format!("?after={}", story.bench.state.db.latest() - 1), Value::Null).await.json();
    assert_eq!((last["items"].as_array().unwrap().len(), &last["next"]), (1, &Value::Null));
    let plain = story.ask("get", "/api/ws", "", "", Value::Null).await;
    assert_eq!((plain.status, plain.header("upgrade")), (StatusCode::UPGRADE_REQUIRED, "websocket"));
    assert_eq!(story.get("/api/openapi.json", "").await["info"]["title"], "vibe-relay");

    assert_eq!(story.ask("get", "/demo/site/", "", "", Value::Null).await.status, StatusCode::NOT_FOUND, "no project yet");
    demo.project.set(ProjectId::new(1)).unwrap();
    assert_eq!(story.ask("get", "/demo/site/", "", "", Value::Null).await.status, StatusCode::NOT_FOUND, "no index.html");
    let file = story.ask("get", "/demo/site/{*path}", "footer.html", "", Value::Null).await;
    assert_eq!((file.status, file.text.as_str(), file.header("content-type")), (StatusCode::OK, "<footer>", "text/html; charset=utf-8"));
    assert_eq!(file.header("content-security-policy"), "sandbox allow-scripts; default-src 'self' 'unsafe-inline'");
    assert_eq!(file.header("cache-control"), "no-store");
    for outside in ["..%2f..%2fetc%2fpasswd", "/etc/passwd", "footer.html/x", "a//b"] {
        assert_eq!(story.ask("get", "/demo/site/{*path}", outside, "", Value::Null).await.status, StatusCode::NOT_FOUND, "{outside}");
    }
    story.act("post", "/api/demo/pull-the-plug", "", Value::Null, StatusCode::ACCEPTED).await;
}

#[test]
fn every_route_is_described() {
    let document = serde_json::to_value(<crate::routes::Document as utoipa::OpenApi>::openapi()).unwrap();
    let described: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().keys().map(move |method| (method.clone(), path.clone())))
        .collect();
    let listed: BTreeSet<_> = ROUTES.iter().map(|route| (route.method.to_owned(), crate::openapi::documented(route.path))).collect();
    assert_eq!(described, listed);
    assert_eq!(document["paths"]["/api/health"]["get"]["security"], Value::Null);
    let operation = &document["paths"]["/api/tasks/{id}"]["patch"];
    insta::assert_snapshot!(serde_json::to_string_pretty(operation).unwrap());
    let operations = document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let names: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    let references = document.to_string();
    for (place, _) in references.match_indices("#/components/schemas/") {
        let name = references[place..].split('"').next().unwrap().rsplit('/').next().unwrap();
        assert!(document["components"]["schemas"][name].is_object(), "{name} is named and not described");
    }
}

/// The name behind a reference, or the type of what is described in place.
fn named(content: &Value) -> String {
    let schema = &content["application/json"]["schema"];
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()).or(schema["type"].as_str());
    name.unwrap_or_default().to_owned()
}

#[test]
fn the_interface_is_this() {
    let document = serde_json::to_value(<crate::routes::Document as utoipa::OpenApi>::openapi()).unwrap();
    let lines: Vec<String> = ROUTES
        .iter()
        .map(|route| {
            let operation = &document["paths"][crate::openapi::documented(route.path)][route.method];
            let (status, response) = operation["responses"].as_object().unwrap().iter().find(|(status, _)| *status != "default").unwrap();
            let [taken, given] = [&operation["requestBody"]["content"], &response["content"]].map(named);
            let line = format!("{} {} {taken} → {status} {given}", route.method, route.path);
            line.replace("  ", " ").trim_end().to_owned()
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn without_the_demonstration_there_is_none() {
    let bench = Bench::new().await;
    for (method, path) in [("get", "/demo/site/"), ("get", "/demo/site/index.html"), ("post", "/api/demo/pull-the-plug")] {
        assert_eq!(bench.ask(method, path, "").await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_persons_move_stops_the_agent_and_says_so() {
    let bench = Bench::new().await;
    let task = bench.task(&bench.project().await).await;
    let (_, agent) = bench.run(&task.card.id, AgentKind::Coder, Status::Backlog).await;
    let moved = bench.ask("patch", "/api/tasks/TASK-001", r#"{"status": "backlog"}"#).await.json();
    assert_eq!((moved["status"].as_str(), moved["note"].as_str()), (Some("backlog"), Some("its agent is being stopped")));
    assert!(bench.state.db.require_active_reader(&agent).await.is_err());
}
