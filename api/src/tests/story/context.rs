//! Agents share findings and keep values; the owner reads, answers, searches, closes, edits and deletes. A database of another program is imported.

use axum::http::StatusCode;
use db::Caller;
use domain::context::memory::NewMemoryEntry;
use domain::context::session::NewContextSession;
use domain::id::ProjectId;
use serde_json::{Value, json};

use super::Story;

const PROJECT: &str = "PROJ-001";
const THREAD: &str = "/api/context-sessions/{id}/messages";

pub(super) async fn share(story: &mut Story, mara: &Caller) {
    let (db, project) = (story.server.state.db.clone(), ProjectId::new(1));
    assert_eq!(story.get("/api/projects/{id}/context", PROJECT).await, json!({"messages": false, "memory": false}));
    let sessions = story.get("/api/projects/{id}/context-sessions", PROJECT).await;
    let blackboard = sessions["items"].as_array().unwrap().iter().find(|session| session["kind"] == "project").unwrap();
    let id = blackboard["id"].as_str().unwrap().to_owned();
    assert_eq!(&story.get("/api/context-sessions/{id}", &id).await, blackboard);
    assert_eq!(story.get("/api/tasks/{id}/context-session", "TASK-004").await, *blackboard);

    let session = id.parse().unwrap();
    for number in 0..3 {
        let content = format!("Finding {number}: the footer is <b>sticky</b>");
        db.add_session_message(mara, &session, serde_json::from_value(json!({"content": content})).unwrap()).await.unwrap();
    }
    let note = json!({"content": "A footer of my own", "visibility": "private"});
    db.add_session_message(mara, &session, serde_json::from_value(note).unwrap()).await.unwrap();
    let answer = json!({"content": "Then leave it.", "parent_message_id": 1, "metadata": {"tone": "calm"}});
    let added = story.act("post", THREAD, &id, answer, StatusCode::CREATED).await;
    assert_eq!((&added["sender"], &added["sender_type"], &added["visibility"]), (&json!("human"), &json!("human"), &json!("public")), "{added}");

    let newest = story.call("get", THREAD, &id, "?limit=2", Value::Null).await.json();
    assert_eq!((&newest["total_count"], &newest["messages"][1], &newest["later"]), (&json!(4), &added, &Value::Null), "{newest}");
    assert_eq!(newest["answered"], json!([{"id": 1, "sender": "platform/mara", "excerpt": "Finding 0: the footer is <b>sticky</b>"}]));
    let earlier = story.call("get", THREAD, &id, &format!("?limit=1&before={}", newest["earlier"]), Value::Null).await.json();
    assert_eq!((&earlier["messages"][0]["id"], &earlier["earlier"], &earlier["later"]), (&json!(2), &json!(2), &json!(2)), "{earlier}");
    let later = story.call("get", THREAD, &id, &format!("?limit=1&after={}", earlier["later"]), Value::Null).await.json();
    assert_eq!((&later["messages"], &later["later"]), (&json!([newest["messages"][0]]), &json!(3)), "{later}");
    let before = db.latest();
    let private = story.call("get", THREAD, &id, "?visibility=private", Value::Null).await.json();
    assert_eq!(private["messages"][0]["content"], "A footer of my own", "the owner asked for it");
    assert_eq!(db.latest(), before + 1, "and the log says so");

    let found = story.call("get", "/api/context-sessions/{id}/search", &id, "?q=sticky+fotter&limit=5", Value::Null).await.json();
    let first = &found["items"][0];
    assert_eq!((found["items"].as_array().unwrap().len(), &first["id"]), (3, &json!(3)), "{found}");
    assert_eq!(first["highlights"], json!([{"start": 15, "end": 21}, {"start": 28, "end": 34}]));
    let found = story.call("get", "/api/search", "", "?q=sticky+fotter", Value::Null).await.json()["items"][0].clone();
    assert_eq!((&found["kind"], &found["id"], &found["session_id"]), (&json!("finding"), &json!("3"), &json!(id)), "{found}");
    let own = story.call("get", "/api/search", "", "?q=fotter+of+my+own", Value::Null).await.json();
    assert!(own["items"].as_array().unwrap().iter().all(|hit| hit["id"] != "4"), "a private note of an agent: {own}");
    refusals(story, &id).await;

    let own = db.create_context_session(mara, Some(&project), NewContextSession { purpose: "Fonts".into(), ..NewContextSession::default() });
    let own = own.await.unwrap().id;
    let closed = story.act("post", "/api/context-sessions/{id}/close", own.as_str(), Value::Null, StatusCode::OK).await;
    assert_eq!(closed["is_active"], false);
    let refused = story.act("post", THREAD, own.as_str(), json!({"content": "Too late"}), StatusCode::CONFLICT).await;
    assert_eq!(refused["code"], "session-closed");
    let stays = story.act("post", "/api/context-sessions/{id}/close", &id, Value::Null, StatusCode::CONFLICT).await;
    assert_eq!(stays["code"], "session-stays-open");
    let all = story.call("get", "/api/projects/{id}/context-sessions", PROJECT, "?closed=true", Value::Null).await.json();
    assert_eq!((&all["items"][0]["id"], &all["next"]), (&json!(own), &Value::Null));
    let created = story.act("post", "/api/projects/{id}/context-sessions", PROJECT, json!({"purpose": "Colours"}), StatusCode::CREATED).await;
    assert_eq!((&created["kind"], &created["created_by"], &created["is_active"]), (&json!("shared"), &json!("human"), &json!(true)), "{created}");
    for purpose in [" ".to_owned(), "x".repeat(501), "a\u{0}b".to_owned()] {
        let new = json!({"purpose": purpose});
        story.act("post", "/api/projects/{id}/context-sessions", PROJECT, new, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    memory(story, mara).await;
    assert_eq!(story.get("/api/projects/{id}/context", PROJECT).await, json!({"messages": true, "memory": false}), "the entry was deleted");
}

/// Bad requests have a code, and write nothing.
async fn refusals(story: &mut Story, id: &str) {
    let before = story.server.state.db.latest();
    for query in ["?before=1&after=1", "?visibility=secret", "?before=x", "?cursor=1"] {
        let answer = story.call("get", THREAD, id, query, Value::Null).await;
        assert_eq!((answer.status.is_client_error(), &answer.json()["code"]), (true, &json!("invalid")), "{query}: {}", answer.text);
    }
    for query in ["?q=", "?q=%20%20", "?q=a&threshold=-1", "?q=a&threshold=101", "?q=a&threshold=NaN"] {
        let answer = story.call("get", "/api/context-sessions/{id}/search", id, query, Value::Null).await;
        assert_eq!(answer.json()["code"], "invalid", "{query}: {}", answer.text);
    }
    let syntax = format!("?q=%22NEAR(+OR+*{}&limit=4000000000", "x".repeat(2_000));
    assert_eq!(story.call("get", "/api/context-sessions/{id}/search", id, &syntax, Value::Null).await.json()["items"], json!([]));
    let bodies = [
        json!({"content": " "}),
        json!({"content": "x".repeat(100_001)}),
        json!({"content": "a\u{0}b"}),
        json!({"content": "a", "parent_message_id": 99}),
        json!({"content": "a", "metadata": {"a": "x".repeat(20_000)}}),
        json!({"content": "a", "visibility": "mine"}),
    ];
    for body in bodies {
        let answer = story.call("post", THREAD, id, "", body).await;
        assert!(answer.status.is_client_error() && answer.json()["hint"].is_string(), "{}", answer.text);
    }
    for unknown in ["session_0000000000000000", "x"] {
        let answer = story.call("get", "/api/context-sessions/{id}", unknown, "", Value::Null).await;
        assert!(answer.status.is_client_error(), "{}", answer.text);
    }
    assert_eq!(story.server.state.db.latest(), before, "nothing was written");
}

async fn memory(story: &mut Story, mara: &Caller) {
    let entry = json!({"key": "colour", "value": {"name": "red"}, "expires_in": 600});
    let entry: NewMemoryEntry = serde_json::from_value(entry).unwrap();
    story.server.state.db.set_memory(mara, entry).await.unwrap();
    let listed = story.get("/api/projects/{id}/memory", PROJECT).await["items"][0].clone();
    assert_eq!((&listed["owner"], &listed["kind"], &listed["entry"]["key"]), (&json!("platform/mara"), &Value::Null, &json!("colour")));
    let id = listed["id"].to_string();
    let read = story.get("/api/memory/{id}", &id).await;
    assert_eq!(read["entry"]["value"], json!({"name": "red"}));
    let found = story.call("get", "/api/search", "", "?q=colour+red", Value::Null).await.json()["items"][0].clone();
    assert_eq!((&found["kind"], found["id"].as_str(), &found["key"]), (&json!("memory"), Some(id.as_str()), &json!("colour")), "{found}");
    let reads = story.call("get", "/api/audit", "", "?kind=read&limit=2", Value::Null).await.json()["items"].clone();
    let told = |row: &Value| format!("{} {}", row["action"].as_str().unwrap(), row["subject"].as_str().unwrap());
    let mut told: Vec<String> = reads.as_array().unwrap().iter().map(told).collect();
    told.sort();
    assert_eq!(told, [format!("GET /api/memory/{{id}} memory {id}"), format!("GET /api/search memory {id}")], "{reads}");
    let patch = json!({"value": "blue", "unchanged_since": read["entry"]["updated_at"]});
    let edited = story.act("patch", "/api/memory/{id}", &id, patch.clone(), StatusCode::OK).await;
    assert_eq!((&edited["entry"]["value"], &edited["entry"]["expires_at"]), (&json!("blue"), &read["entry"]["expires_at"]));
    story.act("delete", "/api/memory/{id}", &id, Value::Null, StatusCode::NO_CONTENT).await;
    assert_eq!(story.act("patch", "/api/memory/{id}", &id, patch, StatusCode::NOT_FOUND).await["code"], "not-found");
}

/// A file that is no database is refused.
pub(super) async fn import(story: &mut Story) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.db");
    std::fs::write(&path, "This is a letter and no database, although its name says so.").unwrap();
    let new = json!({"source": "dead_drop", "path": path, "project_id": PROJECT, "dry_run": true});
    let refused: Value = story.act("post", "/api/import", "", new, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "import-unusable", "{refused}");
}
