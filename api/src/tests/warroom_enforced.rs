//! The rules of the war room at the routes: an agent cannot go around them with its token, and persons meet those that are for everyone.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use db::{Caller, MoveRequest};
use domain::board::status::Status;
use domain::board::task::NewTask;
use domain::id::{ProjectId, TaskId};
use domain::runs::evidence::EvidenceResult;
use domain::team::role::Role;
use serde_json::{Value, json};

use super::support::{HOST, TestServer};

/// A project with a lead, and a task of an agent.
struct Raid {
    server: TestServer,
    project: ProjectId,
    task: TaskId,
    tokens: [String; 2],
    mara: Caller,
}

impl Raid {
    async fn new() -> Self {
        let server = TestServer::new().await;
        let project = server.project().await;
        let (lena, _) = server.agent(&project, "lena", &[Role::Lead]).await;
        let (token, mara) = server.agent(&project, "mara", &[]).await;
        let new = NewTask { title: "Search".to_owned(), assigned_to: Some("mara".to_owned()), ..NewTask::default() };
        let task = server.state.db.create_task(&Caller::owner(), &project, new).await.unwrap().card.id;
        Self { server, project, task, tokens: [lena, token], mara }
    }

    /// Both agents are refused by a route with their own tokens, and nothing changes.
    async fn closed_to_agents(&self, method: &str, path: &str, body: Value) {
        let before = self.server.state.db.latest();
        for token in &self.tokens {
            let request = Request::builder().method(method).uri(path).header(header::HOST, HOST);
            let request = request.header(header::AUTHORIZATION, format!("Bearer {token}")).header(header::CONTENT_TYPE, "application/json");
            let answer = self.server.send(request.body(Body::from(body.to_string())).unwrap()).await;
            assert!(matches!(answer.status, StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED), "{path}: {} {}", answer.status, answer.text);
        }
        assert_eq!(self.server.state.db.latest(), before, "{path} wrote something");
    }

    async fn person(&self, path: &str, body: &str) -> (StatusCode, Value) {
        let answer = self.server.call("post", path, body).await;
        (answer.status, answer.json())
    }
}

#[tokio::test]
async fn inbox_discipline_and_context_freshness() {
    let raid = Raid::new().await;
    raid.closed_to_agents("POST", &format!("/api/projects/{}/messages", raid.project), json!({"to": "all", "content": "x"})).await;
    raid.closed_to_agents("POST", &format!("/api/projects/{}/handshakes", raid.project), json!({"message": "x"})).await;
}

#[tokio::test]
async fn file_claims() {
    let raid = Raid::new().await;
    let release = format!("/api/projects/{}/claims/release", raid.project);
    raid.server.state.db.claim_file(&raid.mara, &raid.project, &"a.rs".parse().unwrap()).await.unwrap();
    raid.closed_to_agents("POST", &release, json!({"path": "a.rs", "reason": "Mine"})).await;
    let (status, refused) = raid.person(&release, r#"{"path": "a.rs", "reason": ""}"#).await;
    assert_eq!((status, &refused["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("claim-reason-needed")));
}

#[tokio::test]
async fn task_dependencies() {
    let raid = Raid::new().await;
    raid.closed_to_agents("POST", &format!("/api/tasks/{}/start", raid.task), json!({})).await;
    raid.closed_to_agents("PATCH", &format!("/api/tasks/{}", raid.task), json!({"status": "in_progress"})).await;
}

#[tokio::test]
async fn class_restrictions_and_battle_plan() {
    let raid = Raid::new().await;
    let (project, task) = (&raid.project, &raid.task);
    for (path, body) in [
        (format!("/api/projects/{project}/tasks"), json!({"title": "x"})),
        (format!("/api/tasks/{task}/assign"), json!({"assigned_to": "mara"})),
        (format!("/api/tasks/{task}/approve"), json!({})),
        (format!("/api/projects/{project}/battle-plans"), json!({"plan": "x"})),
    ] {
        raid.closed_to_agents("POST", &path, body).await;
    }
}

/// A person closes a task in the browser without a result, because it is their board.
#[tokio::test]
async fn result_files() {
    let raid = Raid::new().await;
    let db = &raid.server.state.db;
    let approve = format!("/api/tasks/{}/approve", raid.task);
    for to in [Status::InProgress, Status::InReview] {
        db.move_task(&raid.mara, &raid.task, MoveRequest::to(to), EvidenceResult::Nothing).await.unwrap();
    }
    raid.closed_to_agents("POST", &approve, json!({})).await;
    raid.closed_to_agents("PATCH", &format!("/api/tasks/{}", raid.task), json!({"status": "done"})).await;
    let (status, approved) = raid.person(&approve, "{}").await;
    assert_eq!((status, &approved["status"]), (StatusCode::OK, &json!("done")), "{approved}");
}

#[tokio::test]
async fn debrief() {
    let raid = Raid::new().await;
    let (debriefs, end) = (format!("/api/projects/{}/debriefs", raid.project), format!("/api/projects/{}/end-session", raid.project));
    raid.closed_to_agents("POST", &debriefs, json!({"summary": "x"})).await;
    raid.closed_to_agents("POST", &end, json!({})).await;
    let (status, refused) = raid.person(&end, "").await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("session-has-open-tasks")), "{refused}");
    raid.server.state.db.assign_task(&Caller::owner(), &raid.task, None, None).await.unwrap();
    let (status, refused) = raid.person(&end, "").await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("debrief-missing")), "{refused}");
    assert_eq!(raid.person(&debriefs, r#"{"summary": "We stop here"}"#).await.0, StatusCode::CREATED);
    let (status, ended) = raid.person(&end, "").await;
    assert_eq!((status, &ended["waiting"]), (StatusCode::OK, &json!([raid.task])), "{ended}");
}
