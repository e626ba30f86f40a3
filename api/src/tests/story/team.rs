//! External agents join the project, work on it through the review gates, and coordinate.

use axum::http::StatusCode;
use db::{Caller, token_name};
use domain::board::stage::Stage;
use domain::board::task::{Submission, TaskUpdate};
use domain::id::{ProjectId, TaskId};
use domain::runs::evidence::EvidenceResult;
use domain::team::agent::Registration;
use domain::team::message::NewMessage;
use domain::team::minion::MinionStatus;
use domain::warroom::result::NewTaskResult;
use serde_json::{Value, json};

use super::Story;

const PROJECT: &str = "PROJ-001";

/// Creates an agent with a token, and returns its caller.
async fn join(story: &mut Story, agent: &str, roles: Value, team: Value) -> Caller {
    let new = json!({"agent": agent, "roles": roles, "team": team});
    let made = story.act("post", "/api/projects/{id}/tokens", PROJECT, new, StatusCode::CREATED).await;
    story.server.state.db.caller(made["token"].as_str().unwrap()).await.unwrap().unwrap()
}

/// Lists the tokens, and changes and revokes one of them.
async fn manage_tokens(story: &mut Story) {
    let new = json!({"agent": "tim", "roles": ["tester"], "permissions": ["read", "admin"], "expires_in": 3600});
    let made = story.act("post", "/api/projects/{id}/tokens", PROJECT, new, StatusCode::CREATED).await;
    let name = token_name(made["token"].as_str().unwrap());
    let find = |list: Value| list["items"].as_array().unwrap().iter().find(|token| token["name"] == name.as_str()).cloned();
    let listed = story.get("/api/tokens", "").await;
    assert!(!listed.to_string().contains(made["token"].as_str().unwrap()));
    let token = find(listed).unwrap();
    assert_eq!((&token["kind"], &token["holder"], &token["audience"]), (&json!("agent"), &json!("tim"), &json!("mcp")));
    assert_eq!((&token["permissions"], token["expires_at"].is_string()), (&json!(["read", "admin"]), true));
    let changed = story.act("patch", "/api/tokens/{id}", &name, json!({"permissions": ["read"], "expires_in": 60}), StatusCode::OK).await;
    assert_eq!(changed["permissions"], json!(["read"]));
    story.act("delete", "/api/tokens/{id}", &name, Value::Null, StatusCode::NO_CONTENT).await;
    assert_eq!(find(story.get("/api/tokens", "").await), None);
    let gone = story.act("delete", "/api/tokens/{id}", &name, Value::Null, StatusCode::NOT_FOUND).await;
    assert_eq!(gone["code"], "not-found");
    let owners = token_name(crate::tests::support::TOKEN);
    let refused = story.act("delete", "/api/tokens/{id}", &owners, Value::Null, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "token-of-owner");
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    list["items"].as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap()
}

/// Admits agents and exchanges messages; returns the caller of the agent mara.
pub(super) async fn exchange_messages(story: &mut Story) -> Caller {
    let (db, project) = (story.server.state.db.clone(), ProjectId::new(1));
    let mara = join(story, "mara", json!(["builder"]), json!("platform")).await;
    let invite = story.act("post", "/api/projects/{id}/invite-token", PROJECT, Value::Null, StatusCode::CREATED).await;
    let invite = db.caller(invite["token"].as_str().unwrap()).await.unwrap().unwrap();
    db.register(&invite, &project, Registration { name: "zoe".into(), ..Registration::default() }, None).await.unwrap();
    let agents = story.get("/api/projects/{id}/agents", PROJECT).await;
    assert_eq!((&named(&agents, "platform/mara")["trusted"], &named(&agents, "zoe")["trusted"]), (&json!(true), &json!(false)));

    let party = story.get("/api/projects/{id}/party", PROJECT).await;
    let members = party["items"].as_array().unwrap();
    let mara_there = members.iter().find(|member| member["agent"]["name"] == "platform/mara").unwrap();
    assert_eq!(
        (&mara_there["agent"]["class"], &mara_there["agent"]["context_left"], &mara_there["tasks"]),
        (&json!("coder"), &Value::Null, &json!([]))
    );
    let new = json!({"to": "mara", "content": "Which colour?", "task_id": "TASK-004"});
    let sent = story.act("post", "/api/projects/{id}/messages", PROJECT, new, StatusCode::CREATED).await;
    assert_eq!((sent["to_agent"].as_str(), sent.get("cc")), (Some("platform/mara"), None));
    db.check_inbox(&mara, &project, None).await.unwrap();
    let reply = NewMessage { to: "human".into(), content: "Red.".into(), cc: Vec::new(), task_id: None, reply_to: sent["id"].as_i64() };
    db.send(&mara, &project, reply).await.unwrap();

    let found = story.call("get", "/api/search", "", "?q=colour+whihc&project=PROJ-001&limit=5", Value::Null).await.json()["items"][0].clone();
    assert_eq!((&found["kind"], &found["task_id"], &found["excerpt"]), (&json!("message"), &json!("TASK-004"), &json!("Which colour?")), "{found}");
    assert_eq!(found["highlights"], json!([{"start": 0, "end": 5}, {"start": 6, "end": 12}]));

    let waiting = story.get("/api/projects/{id}/inbox", PROJECT).await;
    assert_eq!(waiting, json!({"count": 1, "blocking_count": 1, "senders": ["platform/mara"], "urgent": false}));
    let said = |list: &Value| list["items"].as_array().unwrap().iter().find(|item| item["decision"]["kind"] == "message").cloned();
    let listed = story.get("/api/needs-you", "").await;
    let message = said(&listed).unwrap();
    assert_eq!((&message["decision"]["excerpt"], &message["agent_waits"]), (&json!("Red."), &json!(false)), "{listed}");
    assert_eq!(story.get("/api/needs-you", "").await, listed, "listing marks nothing as read");
    let inbox = story.act("post", "/api/projects/{id}/inbox/read", PROJECT, json!({}), StatusCode::OK).await;
    let given = &inbox["messages"][0];
    assert_eq!((given["content"].as_str(), given["task_id"].as_str(), &given["redelivered"]), (Some("Red."), Some("TASK-004"), &Value::Null));
    let id = given["id"].to_string();
    story.act("post", "/api/messages/{id}/read", &id, Value::Null, StatusCode::NO_CONTENT).await;
    assert_eq!(said(&story.get("/api/needs-you", "").await), None);
    let ack = json!({"ack": given["id"]});
    let after = story.act("post", "/api/projects/{id}/inbox/read", PROJECT, ack, StatusCode::OK).await;
    assert_eq!(after, json!({"messages": [], "remaining": 0}));

    manage_tokens(story).await;
    let page = story.call("get", "/api/projects/{id}/messages", PROJECT, "?count=1&task=TASK-004", Value::Null).await.json();
    assert_eq!((page["items"][0]["content"].as_str(), &page["next"]), (Some("Red."), &page["items"][0]["id"]));
    let query = format!("?agent=mara&before={}", page["next"]);
    let older = story.call("get", "/api/projects/{id}/messages", PROJECT, &query, Value::Null).await.json();
    assert_eq!((older["items"][0]["content"].as_str(), &older["next"]), (Some("Which colour?"), &Value::Null));

    let gone = story.act("post", "/api/projects/{id}/agents/remove", PROJECT, json!({"name": "zoe"}), StatusCode::OK).await;
    assert!(gone["left_at"].is_string(), "{gone}");
    mara
}

/// Creates a task that mara builds and submits.
async fn submitted(story: &mut Story, mara: &Caller, title: &str) -> TaskId {
    let db = story.server.state.db.clone();
    let made = story.act("post", "/api/projects/{id}/tasks", PROJECT, json!({"title": title, "start": true}), StatusCode::CREATED).await;
    let task: TaskId = made["id"].as_str().unwrap().parse().unwrap();
    let wish = json!({"assigned_to": "mara", "role_hat": "builder"});
    let assigned = story.act("post", "/api/tasks/{id}/assign", task.as_str(), wish, StatusCode::OK).await;
    assert_eq!((assigned["assigned_to"].as_str(), assigned["role_hat"].as_str()), (Some("platform/mara"), Some("builder")));
    let begin = TaskUpdate { stage: Some(Stage::InProgress), assigned_to: None, result: None };
    db.update_task(mara, &task, begin, EvidenceResult::Nothing).await.unwrap();
    let work = Submission { summary: "It is done.".into(), files_changed: None, test_results: None };
    db.submit_for_review(mara, &task, work).await.unwrap();
    task
}

pub(super) async fn pass_the_gates(story: &mut Story, mara: &Caller) {
    let db = story.server.state.db.clone();
    let goal = story.act("post", "/api/projects/{id}/goals", PROJECT, json!({"title": "A readable page"}), StatusCode::CREATED).await;
    assert_eq!((goal["id"].as_str(), goal["status"].as_str(), goal["creator"].as_str()), (Some("GOAL-001"), Some("open"), Some("human")));
    assert_eq!(story.get("/api/projects/{id}/goals", PROJECT).await["items"], json!([goal]));

    let font = submitted(story, mara, "Choose a font").await;
    let hats = story.get("/api/projects/{id}/hats", PROJECT).await;
    assert_eq!((hats["items"][0]["agent_name"].as_str(), hats["items"][0]["role_hat"].as_str()), (Some("platform/mara"), Some("builder")));
    let approved = story.act("post", "/api/tasks/{id}/approve", font.as_str(), json!({"notes": "Good."}), StatusCode::OK).await;
    assert_eq!(
        (approved["status"].as_str(), approved["approved_by"].as_str(), &approved["built_by"]),
        (Some("done"), Some("human"), &json!(["platform/mara"]))
    );

    let size = submitted(story, mara, "Choose a size").await;
    let linked = story.act("post", "/api/tasks/{id}/goal", size.as_str(), json!({"goal_id": "GOAL-001"}), StatusCode::OK).await;
    assert_eq!(linked["goal_id"], "GOAL-001");
    let lena = join(story, "lena", json!(["lead"]), Value::Null).await;
    let content = "# Tried\nTen points\n# Worked\nTwelve\n# Next agent\nSee style.css:3".to_owned();
    db.submit_result(mara, &size, NewTaskResult { content, file: None }).await.unwrap();
    db.approve_task(&lena, &size, None, EvidenceResult::Nothing).await.unwrap();
    let verified = story.act("post", "/api/tasks/{id}/verify", size.as_str(), json!({}), StatusCode::OK).await;
    assert_eq!((verified["status"].as_str(), verified["verified_by"].as_str(), &verified["note"]), (Some("done"), Some("human"), &Value::Null));
    assert_eq!(story.get("/api/goals/{id}", "GOAL-001").await["status"], "pending_verify");
    let signed = story.act("post", "/api/goals/{id}/verify", "GOAL-001", json!({"notes": "At last."}), StatusCode::OK).await;
    assert_eq!((signed["status"].as_str(), signed["notes"].as_str()), (Some("verified"), Some("At last.")));
    let back = json!({"reason": "Too small on a phone."});
    let rejected = story.act("post", "/api/tasks/{id}/reject-verification", size.as_str(), back, StatusCode::OK).await;
    assert_eq!((rejected["status"].as_str(), &rejected["verified_by"]), (Some("in_progress"), &Value::Null));
    assert_eq!(story.get("/api/goals/{id}", "GOAL-001").await["status"], "active");
}

pub(super) async fn coordinate(story: &mut Story, mara: &Caller) {
    let (db, project) = (story.server.state.db.clone(), ProjectId::new(1));
    let new = json!({"message": "Begin.", "agents": ["mara"]});
    let begun = story.act("post", "/api/projects/{id}/handshakes", PROJECT, new, StatusCode::CREATED).await;
    assert_eq!((begun["status"].as_str(), begun["targets"][0]["agent_name"].as_str()), (Some("pending"), Some("platform/mara")));
    let lena = join(story, "lena", json!(["lead"]), Value::Null).await;
    db.check_inbox(&lena, &project, None).await.unwrap();
    let asked = db.initiate_handshake(&lena, &project, "Shall we?", vec!["human".into()]).await.unwrap();
    let done = story.act("post", "/api/handshakes/{id}/acknowledge", &asked.id.to_string(), Value::Null, StatusCode::OK).await;
    assert_eq!(done["status"], "completed");
    let all = story.get("/api/projects/{id}/handshakes", PROJECT).await;
    assert_eq!(all["items"], json!([done, begun]), "the newest first");

    for version in [1, 2] {
        let new = json!({"name": "theme.css", "type": "file_path", "spec": format!("Version {version}")});
        let contract = story.act("post", "/api/projects/{id}/contracts", PROJECT, new, StatusCode::CREATED).await;
        assert_eq!((contract["version"].as_u64(), contract["owner"].as_str()), (Some(version), Some("human")));
    }
    let contract = &story.get("/api/projects/{id}/contracts", PROJECT).await["items"][0];
    let versions = story.get("/api/contracts/{id}/versions", &contract["id"].to_string()).await;
    let specs: Vec<&Value> = versions["items"].as_array().unwrap().iter().map(|version| &version["spec"]).collect();
    assert_eq!(specs, ["Version 1", "Version 2"]);

    let one = json!({"scope": "global", "enabled": true, "max_minions": 1});
    let set = story.act("put", "/api/projects/{id}/spawn-policies", PROJECT, one, StatusCode::OK).await;
    assert_eq!((set["max_minions"].as_u64(), set["set_by"].as_str()), (Some(1), Some("human")));
    assert_eq!(story.get("/api/projects/{id}/spawn-policies", PROJECT).await["items"], json!([set]));
    db.log_minion(mara, &project, "Compares fonts", MinionStatus::Spawned, None, None).await.unwrap();
    let minions = story.get("/api/projects/{id}/minions", PROJECT).await;
    assert_eq!((minions["items"][0]["pilot"].as_str(), minions["items"][0]["status"].as_str()), (Some("platform/mara"), Some("spawned")));
}
