//! Every route in one story: a project from its first request to its landing.

mod context;
mod project;
mod runs;
mod server;
mod team;
mod warroom;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use axum::http::StatusCode;
use db::{Caller, MoveRequest};
use domain::board::status::Status;
use domain::board::task::NewSubtask;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::checkout::KeptWork;
use domain::runs::evidence::EvidenceResult;
use domain::runs::usage::Usage;
use domain::team::person::OWNER;
use serde_json::{Value, json};

use super::support::{Answer, PORT, TOKEN, TestServer, VALIDATOR, document, routes};
use crate::DemoHooks;
use crate::openapi::Access;

/// Calls routes and records which.
struct Story {
    server: TestServer,
    used: BTreeSet<(String, String)>,
    responses: usize,
}

impl Story {
    /// Calls `path` of the document, with `id` for its parameter and `query` appended.
    async fn call(&mut self, method: &str, path: &str, id: &str, query: &str, body: Value) -> Answer {
        self.used.insert((method.to_owned(), path.to_owned()));
        self.responses += 1;
        let address = path.replace("{id}", id).replace("{path}", id);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.server.call(method, &format!("{address}{query}"), &body).await
    }

    async fn get(&mut self, path: &str, id: &str) -> Value {
        let answer = self.call("get", path, id, "", Value::Null).await;
        assert_eq!(answer.status, StatusCode::OK, "GET {path}: {}", answer.text);
        answer.json()
    }

    async fn act(&mut self, method: &str, path: &str, id: &str, body: Value, expected: StatusCode) -> Value {
        let answer = self.call(method, path, id, "", body).await;
        assert_eq!(answer.status, expected, "{method} {path}: {}", answer.text);
        if answer.text.is_empty() { Value::Null } else { answer.json() }
    }

    /// Has the planner create one task and finish.
    async fn plan(&self, title: &str) -> TaskId {
        let (run, planner) = self.server.run(&TaskId::new(1), AgentKind::Planner, Status::InProgress).await;
        let part = NewSubtask { title: title.into(), ..NewSubtask::default() };
        let made = self.server.state.db.create_subtasks(&planner, &TaskId::new(1), vec![part]).await.unwrap();
        self.server.state.db.move_task(&planner, &TaskId::new(1), MoveRequest::to(Status::Done), EvidenceResult::Nothing).await.unwrap();
        self.server.end(&run.run.id).await;
        made[0].card.id.clone()
    }
}

#[tokio::test]
async fn every_route_works() {
    let demo = Arc::new(DemoHooks { page_url: "/demo/site/".into(), scripted: true, project: OnceLock::new(), pull_the_plug: Box::new(|| {}) });
    let hooks = demo.clone();
    let mut story = Story { server: TestServer::with(|state| state.demo = Some(hooks)).await, used: BTreeSet::new(), responses: 0 };

    assert_eq!(story.get("/api/health", "").await["status"], "ok");
    let link = story.server.state.sign_in.link(PORT, OWNER);
    let redirected = story.call("get", "/sign-in", "", link.split_at(link.find('?').unwrap()).1, Value::Null).await;
    assert_eq!((redirected.status, redirected.header("location")), (StatusCode::SEE_OTHER, link.as_str()));

    projects(&mut story).await;
    tasks(&mut story).await;
    runs::rescues(&mut story).await;
    run_and_diff(&mut story).await;
    let mara = team::exchange_messages(&mut story).await;
    context::import(&mut story).await;
    team::pass_the_gates(&mut story, &mara).await;
    team::coordinate(&mut story, &mara).await;
    context::share(&mut story, &mara).await;
    warroom::plan_and_log(&mut story, &mara).await;
    warroom::release_claim(&mut story, &mara).await;
    warroom::share_knowledge(&mut story).await;

    let report = story.call("get", "/api/report", "", "?since=2026-01-01T00:00:00.000Z", Value::Null).await.json();
    let ready = json!({"base_branch": "main", "diff": {"files": 2, "added": 2, "removed": 0}});
    assert_eq!((&report["projects"][0]["ready_to_land"], report["usage"]["cost_micro_usd"].as_i64()), (&ready, Some(70)), "{report}");
    project::past(&mut story).await;
    runs::landing(&mut story).await;

    persons(&mut story).await;
    sessions(&mut story).await;
    runs::settings(&mut story).await;
    server::inspect(&mut story, &demo).await;
    warroom::orders(&mut story).await;
    warroom::zones(&mut story, &mara).await;
    warroom::end_session(&mut story).await;

    let all: BTreeSet<_> = routes().into_iter().map(|route| (route.method, route.path)).collect();
    assert_eq!(story.used, all, "every route is in this story, and nothing else");
    read_everything(&mut story).await;
    println!("{} responses were validated against the OpenAPI document, {} of them in the story", VALIDATOR.validated(), story.responses);
    assert!(story.responses > 120, "{}", story.responses);
}

async fn projects(story: &mut Story) {
    let top = story.server.sample.top().to_str().unwrap().to_owned();
    let probe = story.call("get", "/api/repository", "", &format!("?path={top}"), Value::Null).await.json();
    assert_eq!(probe["base_branch"].as_str(), Some("main"));
    let uncommitted = story.call("get", "/api/repository/uncommitted", "", &format!("?path={top}"), Value::Null).await.json();
    assert_eq!(uncommitted["count"].as_u64(), Some(0));

    let new = json!({"title": "A page", "description": "With a footer", "repo_path": top, "plan_approval": "ask"});
    let made = story.act("post", "/api/projects", "", new, StatusCode::CREATED).await;
    assert_eq!((made["id"].as_str(), made["integration_branch"].as_str()), (Some("PROJ-001"), Some("vibe-relay/PROJ-001")));
    let listed = story.get("/api/projects", "").await["items"][0].clone();
    assert_eq!((&listed["id"], &listed["tasks"]["total"], &listed["ready_to_land"]), (&json!("PROJ-001"), &json!(1), &Value::Null));
    assert_eq!(listed["last_event"]["sentence"], "You created TASK-001");
    let edited = story.act("patch", "/api/projects/{id}", "PROJ-001", json!({"title": "One page"}), StatusCode::OK).await;
    assert_eq!(edited["title"], "One page");
    assert_eq!(story.get("/api/projects/{id}", "PROJ-001").await, edited);
    let relocated = story.act("post", "/api/projects/{id}/relocate", "PROJ-001", json!({"repo_path": edited["repo_path"]}), StatusCode::OK).await;
    assert_eq!(relocated, edited, "it is where it was");
    let board = story.get("/api/projects/{id}/board", "PROJ-001").await;
    assert_eq!((board["cards"][0]["phase"].as_str(), board["seq"].as_i64()), (Some("planner"), Some(story.server.state.db.latest())));

    project::second(story, &top).await;
    story.plan("Too much").await;
    story.act("post", "/api/projects/{id}/plan/revise", "PROJ-001", json!({"content": "Less."}), StatusCode::OK).await;
    assert_eq!(story.get("/api/tasks/{id}", "TASK-001").await["status"], "in_progress");
    let task = story.plan("Just enough").await;
    let needs_you = story.get("/api/needs-you", "").await;
    assert_eq!((&needs_you["items"][0]["decision"], &needs_you["agents_wait"]), (&json!({"kind": "plan", "tasks": 1}), &json!(0)), "{needs_you}");
    let plan = story.get("/api/projects/{id}/plan", "PROJ-001").await;
    assert_eq!((&plan["goal_html"], &plan["planner"]), (&json!("<p dir=\"auto\">With a footer</p>\n"), &json!("TASK-001")), "{plan}");
    assert_eq!((&plan["tasks"][0]["id"], &plan["comments"][0]["content"]), (&json!(task), &json!("Less.")), "{plan}");
    let alone = story.act("post", "/api/tasks/{id}/reorder", task.as_str(), json!({"before": task}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(alone["code"], "invalid", "{alone}");
    story.act("post", "/api/projects/{id}/plan/approve", "PROJ-001", Value::Null, StatusCode::OK).await;
    assert_eq!(story.get("/api/needs-you", "").await["items"], json!([]));
    let history =
        story.call("get", "/api/projects/{id}/activity", "PROJ-001", "?topic=decisions&kind=plan_approved&limit=1", Value::Null).await.json();
    assert_eq!(history["items"][0]["topic"], "decisions");
    assert_eq!((&history["items"][0]["sentence"], &history["items"][0]["actor"]), (&json!("You started the plan"), &json!("human")), "{history}");
    assert_eq!(story.get("/api/tasks/{id}", task.as_str()).await["held_by"], Value::Null);
    story.act("post", "/api/tasks/{id}/cancel", task.as_str(), json!({"reason": "obsolete"}), StatusCode::OK).await;
    let cancelled = story.call("get", "/api/projects/{id}/cards", "PROJ-001", "?status=cancelled", Value::Null).await.json();
    assert_eq!((cancelled["items"][0]["id"].as_str(), cancelled["next"].as_str()), (Some(task.as_str()), None), "newest first");
}

async fn tasks(story: &mut Story) {
    let new = json!({"title": "Add a footer", "description": "At the **end**."});
    let made = story.act("post", "/api/projects/{id}/tasks", "PROJ-001", new, StatusCode::CREATED).await;
    assert_eq!((made["id"].as_str(), made["held_by"].as_str()), (Some("TASK-004"), Some("human")));
    assert_eq!(made["description_html"], "<p dir=\"auto\">At the <strong>end</strong>.</p>\n");
    let open = story.get("/api/board", "").await;
    assert_eq!((open["items"][0]["id"].as_str(), open["next"].is_null()), (Some("TASK-004"), true), "{open}");
    let rendered = story.act("post", "/api/markdown", "", json!({"texts": ["*a*", ""]}), StatusCode::OK).await;
    assert_eq!(rendered["html"], json!(["<p dir=\"auto\"><em>a</em></p>\n", ""]));
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
        (Some("*Soon*"), Some("<p dir=\"auto\"><em>Soon</em></p>\n"))
    );
    let comment = thread["items"][0]["id"].as_str().unwrap().to_owned();
    let edited = story.act("patch", "/api/comments/{id}", &comment, json!({"content": "*Now*"}), StatusCode::OK).await;
    assert!(edited["edited_at"].is_string() && edited["content_html"] == "<p dir=\"auto\"><em>Now</em></p>\n", "{edited}");
    story.act("delete", "/api/comments/{id}", &comment, Value::Null, StatusCode::NO_CONTENT).await;
    assert_eq!(story.get("/api/tasks/{id}/comments", "TASK-004").await["items"], json!([]));
}

async fn run_and_diff(story: &mut Story) {
    let task = TaskId::new(4);
    let none = story.act("get", "/api/tasks/{id}/diff", "TASK-004", Value::Null, StatusCode::NOT_FOUND).await;
    assert_eq!(none["code"], "no-diff");
    let (reserved, coder) = story.server.run(&task, AgentKind::Coder, Status::Backlog).await;
    let run = reserved.run.id.clone();
    assert_eq!(story.get("/api/tasks/{id}/runs", "TASK-004").await["items"][0]["id"], run.as_str());
    assert_eq!(story.get("/api/runs/{id}", run.as_str()).await["phase"], "coder");

    std::fs::create_dir_all(&reserved.run_dir).unwrap();
    std::fs::write(reserved.run_dir.join("transcript.jsonl"), "{\"offset\":9,\"kind\":\"text\",\"text\":\"Hello\"}\n").unwrap();
    std::fs::write(reserved.run_dir.join("stdout"), "{\"type\":\"result\"}\n").unwrap();
    let log = story.call("get", "/api/runs/{id}/log", reserved.run.id.as_str(), "", Value::Null).await;
    assert_eq!((log.text.as_str(), log.header("content-type")), ("{\"type\":\"result\"}\n", "application/jsonl"));
    assert!(log.header("content-disposition").starts_with("attachment; filename=\"RUN-"), "{}", log.header("content-disposition"));
    let output = story.get("/api/runs/{id}/output", run.as_str()).await;
    assert_eq!((output["lines"][0]["text"].as_str(), output["complete"].as_bool()), (Some("Hello"), Some(false)));

    story.act("post", "/api/runs/{id}/message", run.as_str(), json!({"content": "Use <footer>."}), StatusCode::OK).await;
    assert_eq!(story.server.state.db.undelivered(&run).await.unwrap()[0].content, "Use <footer>.");
    runs::permission(story, &coder, run.as_str()).await;
    runs::checks(story, "TASK-004").await;
    runs::apps(story, "TASK-004").await;
    let interrupted = story.act("post", "/api/runs/{id}/interrupt", run.as_str(), Value::Null, StatusCode::OK).await;
    assert_eq!(
        (&interrupted["interrupt"]["by"], &story.get("/api/tasks/{id}", "TASK-004").await["attention"]["kind"]),
        (&json!("human"), &json!("interrupted"))
    );
    let told = json!({"message": "Use a <header>."});
    story.act("post", "/api/runs/{id}/interrupt", run.as_str(), told, StatusCode::OK).await;
    assert_eq!(story.get("/api/tasks/{id}", "TASK-004").await["attention"], Value::Null);
    story.server.state.db.ask_question(&coder, "Which colour?", vec!["red".into()], None).await.unwrap();
    assert_eq!(story.get("/api/tasks/{id}", "TASK-004").await["question"]["options"], json!(["red"]));
    let answered = story.act("post", "/api/tasks/{id}/answer", "TASK-004", json!({"content": "red"}), StatusCode::OK).await;
    assert_eq!((&answered["question"], &answered["attention"]), (&Value::Null, &Value::Null));
    let stopped = story.act("post", "/api/runs/{id}/stop", run.as_str(), Value::Null, StatusCode::OK).await;
    assert!(stopped["stop_requested_at"].is_string());
    let usage = Usage { cost_micro_usd: 70, input_tokens: 5, output_tokens: 6, turns: 1, ..Usage::default() };
    story.server.state.db.run_usage(&run, usage).await.unwrap();
    let usage = story.get("/api/projects/{id}/usage", "PROJ-001").await;
    let used = json!({"turns": 1, "input_tokens": 5, "output_tokens": 6, "cost_micro_usd": 70});
    assert_eq!((&usage["total"], &usage["by_kind"][0]["phase"], &usage["by_day"][0]["turns"]), (&used, &json!("coder"), &json!(1)));
    assert_eq!(usage["by_task"], json!([{"task_id": "TASK-004", "title": usage["by_task"][0]["title"], "cost_micro_usd": 70, "tokens": 11}]));
    let raised = story.act("post", "/api/tasks/{id}/raise", "TASK-004", Value::Null, StatusCode::OK).await;
    assert_eq!(raised["attention"], Value::Null);
    story.act("post", "/api/projects/{id}/raise", "PROJ-001", Value::Null, StatusCode::OK).await;
    runs::pause(story).await;
    let usage = story.get("/api/projects/{id}/usage", "PROJ-001").await;
    assert_eq!(usage["budget"], json!({"scope": "project", "measure": "cost", "used": 70, "limit": 200_000_000}));
    assert_eq!(usage["today"]["limit"], 200_000_000);
    story.server.end(&run).await;
    runs::sandbox(story).await;

    let repository = story.server.sample.repository();
    repository.ensure_project_branch("vibe-relay/PROJ-001", "main").unwrap();
    let head = story.server.sample.commit_on("vr/TASK-004/work", &[("footer.html", Some("<footer>"))], "Add a footer");
    story.server.state.db.record_checkout(&task, "vr/TASK-004/work", &runs::worktree(story, &head)).await.unwrap();
    let head = runs::takeover(story).await;
    let open = story.get("/api/tasks/{id}/diff", "TASK-004").await;
    assert_eq!((open["files"][0]["path"].as_str(), open["head"].as_str()), (Some("footer.html"), Some(head.as_str())));

    runs::review_round(story, &head).await;
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
    story.server.state.db.record_merge(&task, &head, "vibe-relay/PROJ-001", &tip, "tree").await.unwrap();
    story.server.state.db.checkout_removed(&task, KeptWork::default()).await.unwrap();
    let merged = story.get("/api/tasks/{id}/diff", "TASK-004").await;
    assert_eq!(merged["files"], open["files"], "the merge does not hide what was changed");
}

async fn persons(story: &mut Story) {
    let added = story.act("post", "/api/persons", "", json!({"name": "ann", "role": "viewer"}), StatusCode::CREATED).await;
    assert_eq!((&added["id"], &added["role"]), (&json!(2), &json!("viewer")));
    assert_eq!(story.get("/api/persons", "").await["items"][1], added);
    let taken = story.act("post", "/api/persons", "", json!({"name": "ANN"}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(taken["detail"], "name: the name ann is taken");
    let created = story.act("post", "/api/persons/{id}/token", "2", Value::Null, StatusCode::CREATED).await;
    assert!(created["sign_in_link"].as_str().unwrap().contains("/sign-in?code="));
    let companion = story.act("post", "/api/companion-token", "", Value::Null, StatusCode::CREATED).await;
    let holder = story.server.state.db.caller(companion["token"].as_str().unwrap()).await.unwrap().unwrap();
    assert!(matches!(holder, Caller::Person(person) if person.is_companion));
    let promoted = story.act("patch", "/api/persons/{id}", "2", json!({"role": "member"}), StatusCode::OK).await;
    assert_eq!(promoted["role"], "member");
    assert_eq!(story.call("delete", "/api/persons/{id}", "2", "", Value::Null).await.status, StatusCode::NO_CONTENT);
    assert_eq!(story.get("/api/persons", "").await["items"].as_array().unwrap().len(), 1);
}

async fn sessions(story: &mut Story) {
    let audit = story.get("/api/audit", "").await;
    assert_eq!((&audit["items"][0]["action"], &audit["items"][0]["result"]), (&json!("DELETE /api/persons/{id}"), &json!("ok")));
    assert_eq!(story.get("/api/audit/check", "").await["broken"], Value::Null);
    for browser in ["One", "Two"] {
        story.server.state.db.open_browser_session(OWNER, Some(browser), None).await.unwrap().unwrap();
    }
    let unpaired = story.act("post", "/api/pairings", "", json!({}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(unpaired["code"], "no-allowed-host");
    let made = story.act("post", "/api/sign-in-link", "", Value::Null, StatusCode::CREATED).await;
    assert!(made["sign_in_link"].as_str().unwrap().contains("/sign-in?code="));
    let listed = story.get("/api/sessions", "").await;
    assert_eq!((&listed["items"][0]["id"], &listed["items"][1]["user_agent"]), (&json!(1), &json!("Two")));
    assert_eq!(story.call("delete", "/api/sessions/{id}", "1", "", Value::Null).await.status, StatusCode::NO_CONTENT);
    assert_eq!(story.act("delete", "/api/sessions/{id}", "1", Value::Null, StatusCode::NOT_FOUND).await["code"], "not-found");
    story.act("post", "/api/token/restore", "", Value::Null, StatusCode::NO_CONTENT).await;
    let rotated = story.act("post", "/api/token/rotate", "", Value::Null, StatusCode::OK).await;
    assert_eq!(rotated["revoked_sessions"], 1);
    let old = story.call("get", "/api/sessions", "", "", Value::Null).await;
    assert_eq!(old.status, StatusCode::UNAUTHORIZED, "the old token is revoked");
    story.server.state.db.set_owner("owner", TOKEN).await.unwrap();
}

/// Reads every list and object of the finished project, so that what the story left behind is validated too.
async fn read_everything(story: &mut Story) {
    let ids = [("projects", vec!["PROJ-001"]), ("tasks", vec!["TASK-001", "TASK-002", "TASK-003", "TASK-004", "TASK-005", "TASK-006"])];
    let others = [("runs", vec!["RUN-001", "RUN-002", "RUN-003"]), ("goals", vec!["GOAL-001"]), ("contracts", vec!["1"])];
    for route in routes().into_iter().filter(|route| route.method == "get" && route.path.starts_with("/api/")) {
        let noun = route.path.split('/').nth(2).unwrap_or_default();
        let ids = ids.iter().chain(&others).find(|(name, _)| *name == noun && route.path.contains("{id}"));
        for id in ids.map_or_else(|| vec![""], |(_, ids)| ids.clone()) {
            let query = if route.path == "/api/events" { "?limit=1000" } else { "" };
            story.call("get", &route.path, id, query, Value::Null).await;
        }
    }
}

#[test]
fn every_route_is_described() {
    let document = document();
    assert!(routes().iter().any(|route| route.path == "/api/health" && route.access == Access::Any));
    assert!(routes().iter().filter(|route| route.access == Access::Any).count() == 5, "only these are open to anyone");
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
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        for word in schema["enum"].as_array().into_iter().flatten() {
            let word = word.as_str().unwrap();
            assert!(word.chars().all(|letter| letter.is_ascii_lowercase() || matches!(letter, '_' | '+')), "{name} has the word {word}");
        }
    }
}

#[test]
fn every_operation_has_a_tag_a_summary_and_its_failures() {
    for route in routes() {
        let operation = &document()["paths"][&route.path][&route.method];
        assert_eq!(operation["tags"].as_array().unwrap().len(), 1, "{route:?}");
        assert!(operation["summary"].as_str().is_some_and(|summary| summary.len() > 8), "{route:?}");
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.values().all(|response| !response["description"].as_str().unwrap().is_empty()), "{route:?}");
        assert!(!responses.contains_key("default") && responses.contains_key("403"), "{route:?}");
        assert_eq!(responses.contains_key("401"), route.access == Access::Person || route.path == "/sign-in", "{route:?}");
    }
}

/// The name of a referenced schema, or the type of an inline one.
fn named(content: &Value) -> String {
    let schema = &content["application/json"]["schema"];
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()).or(schema["type"].as_str());
    name.unwrap_or_default().to_owned()
}

#[test]
fn list_of_operations() {
    let document = document();
    let lines: Vec<String> = routes()
        .iter()
        .map(|route| {
            let operation = &document["paths"][&route.path][&route.method];
            let (status, response) = operation["responses"].as_object().unwrap().iter().next().unwrap();
            let [taken, given] = [&operation["requestBody"]["content"], &response["content"]].map(named);
            let name = operation["operationId"].as_str().unwrap();
            let line = format!("{} {} {name} {taken} → {status} {given}", route.method, route.path);
            line.replace("  ", " ").trim_end().to_owned()
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn human_move_stops_the_agent_and_notes_it() {
    let server = TestServer::new().await;
    let task = server.task(&server.project().await).await;
    let (_, agent) = server.run(&task.card.id, AgentKind::Coder, Status::Backlog).await;
    let moved = server.call("patch", "/api/tasks/TASK-001", r#"{"status": "backlog"}"#).await.json();
    assert_eq!((moved["status"].as_str(), moved["note"].as_str()), (Some("backlog"), Some("its agent is being stopped")));
    assert!(server.state.db.require_active_reader(&agent).await.is_err());
}
