//! A person sets and ends battle plans, reads and writes the raid log, takes a claim away, reads results, and ends a session.

use axum::http::StatusCode;
use db::{Caller, MoveRequest};
use domain::board::status::Status;
use domain::board::task::NewTask;
use domain::id::ProjectId;
use domain::runs::evidence::EvidenceResult;
use domain::team::message::NewMessage;
use domain::warroom::handover::NewHandover;
use domain::warroom::raid_log::NewRaidLogEntry;
use domain::warroom::result::NewTaskResult;
use serde_json::{Value, json};

use super::Story;

const PROJECT: &str = "PROJ-001";
const PLANS: &str = "/api/projects/{id}/battle-plans";
const HANDOVERS: &str = "/api/projects/{id}/handovers";
const LOG: &str = "/api/projects/{id}/raid-log";

pub(super) async fn plan_and_log(story: &mut Story, mara: &Caller) {
    let first = story.act("post", PLANS, PROJECT, json!({"plan": "Footer first"}), StatusCode::CREATED).await;
    assert_eq!((&first["scope"], &first["status"], &first["author"]), (&json!("project"), &json!("active"), &json!("human")), "{first}");
    let second = story.act("post", PLANS, PROJECT, json!({"plan": "Fonts first"}), StatusCode::CREATED).await;
    let listed = story.get(PLANS, PROJECT).await;
    assert_eq!((&listed["items"][0], &listed["items"][1]["status"], &listed["next"]), (&second, &json!("superseded"), &Value::Null), "{listed}");
    let older = story.call("get", PLANS, PROJECT, &format!("?status=superseded&before={}", second["id"]), Value::Null).await.json();
    assert_eq!(older["items"][0]["id"], first["id"]);
    let id = second["id"].to_string();
    let path = "/api/battle-plans/{id}";
    let wrong = story.act("patch", path, &id, json!({"status": "superseded"}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(wrong["code"], "invalid");
    let ended = story.act("patch", path, &id, json!({"status": "completed"}), StatusCode::OK).await;
    assert!(ended["status"] == "completed" && ended["ended_at"].is_string(), "{ended}");
    let again = story.act("patch", path, &id, json!({"status": "abandoned"}), StatusCode::CONFLICT).await;
    assert_eq!((&again["code"], again["hint"].is_string()), (&json!("battle-plan-ended"), true));
    story.act("patch", path, "404", json!({"status": "completed"}), StatusCode::NOT_FOUND).await;

    let (db, project) = (story.server.state.db.clone(), ProjectId::new(1));
    for (entry, priority) in [("Reading", "low"), ("The port is taken", "high")] {
        let new: NewRaidLogEntry = serde_json::from_value(json!({"entry": entry, "priority": priority})).unwrap();
        db.log_raid(mara, &project, new).await.unwrap();
    }
    for manifest in ["Old", "Next: the parser"] {
        let new = NewHandover { manifest: manifest.to_owned(), ..NewHandover::default() };
        db.hand_over(mara, &project, new).await.unwrap();
    }
    let listed = story.get(HANDOVERS, PROJECT).await;
    assert_eq!(
        (&listed["items"][0]["manifest"], &listed["items"][0]["agent"], &listed["next"]),
        (&json!("Next: the parser"), &json!("platform/mara"), &Value::Null)
    );
    let before = format!("?before={}", listed["items"][0]["id"]);
    let older = story.call("get", HANDOVERS, PROJECT, &before, Value::Null).await.json();
    assert_eq!((older["items"].as_array().unwrap().len(), &older["items"][0]["manifest"]), (1, &json!("Old")));
    let added = story.act("post", LOG, PROJECT, json!({"entry": "Use the next port"}), StatusCode::CREATED).await;
    assert_eq!((&added["author"], &added["priority"]), (&json!("human"), &json!("normal")), "{added}");
    let texts = |page: &Value| page["items"].as_array().unwrap().iter().map(|entry| entry["entry"].clone()).collect::<Vec<_>>();
    assert_eq!(texts(&story.get(LOG, PROJECT).await), ["Use the next port", "The port is taken", "Reading"]);
    let page = story.call("get", LOG, PROJECT, "?priority=normal&limit=1", Value::Null).await.json();
    assert_eq!((texts(&page), &page["next"]), (vec![json!("Use the next port")], &added["id"]));
    let query = format!("?priority=normal&agent=mara&before={}", page["next"]);
    let page = story.call("get", LOG, PROJECT, &query, Value::Null).await.json();
    assert_eq!((texts(&page), &page["next"]), (vec![json!("The port is taken")], &Value::Null));
    let found = story.call("get", "/api/search", "", "?q=next+prot", Value::Null).await.json()["items"][0].clone();
    assert_eq!((&found["kind"], &found["id"]), (&json!("log"), &json!(added["id"].to_string())), "{found}");

    let before = db.latest();
    for body in [json!({"plan": " "}), json!({"plan": "x".repeat(10_001)}), json!({"plan": "a\u{0}b"}), json!({"plan": "x", "scope": "zone"})] {
        story.act("post", PLANS, PROJECT, body, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    for body in [json!({"entry": " "}), json!({"entry": "x".repeat(10_001)}), json!({"entry": "x", "priority": "huge"}), json!({})] {
        story.act("post", LOG, PROJECT, body, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    for query in ["?priority=huge", "?before=x", "?agent=nobody-here"] {
        let answer = story.call("get", LOG, PROJECT, query, Value::Null).await;
        assert!(answer.status.is_client_error() && answer.json()["hint"].is_string(), "{query}: {}", answer.text);
    }
    assert_eq!(db.latest(), before, "nothing was written");
}

/// A person reads the claims and takes one away.
pub(super) async fn release_claim(story: &mut Story, mara: &Caller) {
    let (db, project) = (story.server.state.db.clone(), ProjectId::new(1));
    db.claim_file(mara, &project, &"src/lib.rs".parse().unwrap()).await.unwrap();
    let listed = story.get("/api/projects/{id}/claims", PROJECT).await;
    assert_eq!((&listed["claims"][0]["path"], &listed["waits"]), (&json!("src/lib.rs"), &json!([])), "{listed}");
    let release = "/api/projects/{id}/claims/release";
    for (body, code) in [
        (json!({"path": "src/lib.rs", "reason": " "}), "claim-reason-needed"),
        (json!({"path": "../etc", "reason": "x"}), "invalid"),
        (json!({"path": "src/lib.rs"}), "invalid"),
    ] {
        let refused = story.act("post", release, PROJECT, body, StatusCode::UNPROCESSABLE_ENTITY).await;
        assert_eq!(refused["code"], code, "{refused}");
    }
    let taken = story.act("post", release, PROJECT, json!({"path": "SRC/lib.rs", "reason": "I edit it myself"}), StatusCode::OK).await;
    assert_eq!(taken["path"], "src/lib.rs");
    let gone = story.act("post", release, PROJECT, json!({"path": "src/lib.rs", "reason": "again"}), StatusCode::NOT_FOUND).await;
    assert_eq!(gone["code"], "claim-not-held");
}

/// A person tells all agents to stop, and withdraws the order.
pub(super) async fn orders(story: &mut Story) {
    let (triggers, withdraw) = ("/api/projects/{id}/triggers", "/api/projects/{id}/triggers/withdraw");
    for (body, code) in [
        (json!({"word": "rally", "target": "mara"}), "order-is-for-all"),
        (json!({"word": "sitrep"}), "order-without-agent"),
        (json!({"word": "hot_zone"}), "order-without-zone"),
        (json!({"word": "recon", "target": "mara"}), "order-without-subject"),
        (json!({"word": "stand_down", "target": "a b"}), "order-target-is-not-a-word"),
        (json!({"word": "retreat", "note": "two\nlines"}), "order-note-too-long"),
    ] {
        let refused = story.act("post", triggers, PROJECT, body, StatusCode::UNPROCESSABLE_ENTITY).await;
        assert_eq!(refused["code"], code, "{refused}");
    }
    let sent = story.act("post", triggers, PROJECT, json!({"word": "retreat", "note": "we stop for today"}), StatusCode::CREATED).await;
    assert!(sent["content"].as_str().unwrap().starts_with("retreat: we stop for today\n"), "{sent}");
    let listed = story.get(triggers, PROJECT).await;
    assert_eq!((&listed["active"][0]["word"], &listed["active"][0]["author"]), (&json!("retreat"), &json!("human")), "{listed}");
    let taken_back = story.act("post", withdraw, PROJECT, json!({"word": "retreat"}), StatusCode::OK).await;
    assert_eq!(taken_back["end"], "withdrawn");
    let refused = story.act("post", withdraw, PROJECT, json!({"word": "retreat"}), StatusCode::CONFLICT).await;
    assert_eq!(refused["code"], "order-not-active");
    assert_eq!(story.get(triggers, PROJECT).await["active"], json!([]));
}

/// A person writes intel and a trap, which end as archived and resolved.
pub(super) async fn share_knowledge(story: &mut Story) {
    let list = "/api/projects/{id}/knowledge";
    let new = |kind: &str, body: &str, evidence: &str| json!({"kind": kind, "topic": "port", "body": body, "evidence": evidence});
    for (body, code) in [
        (new("intel", "It is probably taken", "a.rs:1"), "knowledge-unconfirmed"),
        (new("trap", "It is taken", "I saw it"), "knowledge-without-evidence"),
        (new("note", "It is taken", "a.rs:1"), "invalid"),
    ] {
        assert_eq!(story.act("post", list, PROJECT, body, StatusCode::UNPROCESSABLE_ENTITY).await["code"], code);
    }
    let gone = json!({"reason": "It is free", "evidence": "$ ss\nnothing"});
    for (kind, path) in [("intel", "/api/knowledge/{id}/archive"), ("trap", "/api/knowledge/{id}/resolve")] {
        let made = story.act("post", list, PROJECT, new(kind, "It is taken", "$ ss\n:80"), StatusCode::CREATED).await;
        assert_eq!((&made["author"], &made["version"], &made["closed_at"]), (&json!("human"), &json!(1), &Value::Null), "{made}");
        let live = story.call("get", list, PROJECT, &format!("?kind={kind}&state=live"), Value::Null).await.json();
        assert_eq!(live["items"], json!([made]));
        let id = made["id"].to_string();
        let hunch = json!({"reason": "Maybe it is free", "evidence": "a.rs:1"});
        assert_eq!(story.act("post", path, &id, hunch, StatusCode::UNPROCESSABLE_ENTITY).await["code"], "knowledge-unconfirmed");
        let closed = story.act("post", path, &id, gone.clone(), StatusCode::OK).await;
        assert_eq!((&closed["closed_by"], &closed["closing"]), (&json!("human"), &json!("It is free\n\n$ ss\nnothing")));
        assert_eq!(story.act("post", path, &id, gone.clone(), StatusCode::CONFLICT).await["code"], "knowledge-closed");
        story.act("post", path, "404", gone.clone(), StatusCode::NOT_FOUND).await;
    }
    let all = story.get(list, PROJECT).await;
    assert_eq!((all["items"].as_array().unwrap().len(), &all["next"]), (2, &Value::Null));
    let older = story.call("get", list, PROJECT, &format!("?state=closed&before={}", all["items"][0]["id"]), Value::Null).await.json();
    assert_eq!(older["items"], json!([all["items"][1]]));
}

/// A person divides the repository into zones.
pub(super) async fn zones(story: &mut Story, mara: &Caller) {
    let (zones, remove) = ("/api/projects/{id}/zones", "/api/projects/{id}/zones/remove");
    let audio = json!({"name": "audio", "paths": ["audio/"], "owner": "human"});
    let set = story.act("put", zones, PROJECT, audio, StatusCode::OK).await;
    assert_eq!((&set["paths"], &set["owner"], &set["oracle"]), (&json!(["audio/**"]), &json!("human"), &json!(null)), "{set}");
    for (body, status, code) in [
        (json!({"name": "Audio", "paths": ["a"]}), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        (json!({"name": "x", "paths": ["../etc"]}), StatusCode::UNPROCESSABLE_ENTITY, "claim-outside"),
        (json!({"name": "x", "paths": ["**"]}), StatusCode::UNPROCESSABLE_ENTITY, "zone-whole-repository"),
        (json!({"name": "x", "paths": ["audio/"]}), StatusCode::CONFLICT, "zone-path-taken"),
    ] {
        let refused = story.act("put", zones, PROJECT, body, status).await;
        assert_eq!(refused["code"], code, "{refused}");
    }
    let listed = story.get(zones, PROJECT).await;
    assert_eq!((&listed["items"][0]["name"], &listed["coverage"]["without_oracle"]), (&json!("audio"), &json!(["audio"])), "{listed}");
    let map = story.get("/api/projects/{id}/heat-map", PROJECT).await;
    assert_eq!((&map["zones"][0]["zone"], &map["zones"][1]["zone"], &map["without_oracle"]), (&json!("audio"), &Value::Null, &json!(["audio"])));
    assert!(map["folders"].as_array().is_some_and(|parts| !parts.is_empty()) && map["tasks"].as_u64() > Some(0), "{map}");
    ask_oracles(story, mara).await;
    formation(story).await;
    let mapped = story.act("post", "/api/projects/{id}/code-map", PROJECT, Value::Null, StatusCode::OK).await;
    assert_eq!((&mapped["files"], &mapped["path"]), (&json!(3), &json!("code-maps/PROJ-001/CODE_MAP.md")));
    assert_eq!(story.get("/api/projects/{id}/code-map", PROJECT).await, Value::Null, "nothing is kept here");
    let proposals = "/api/projects/{id}/zones/proposals";
    for (from, status, code) in [
        ("code_map", StatusCode::NOT_FOUND, "code-map-missing"),
        ("codeowners", StatusCode::NOT_FOUND, "codeowners-missing"),
        ("guess", StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
    ] {
        let none = story.call("get", proposals, PROJECT, &format!("?from={from}"), Value::Null).await;
        assert_eq!((none.status, none.json()["code"].as_str()), (status, Some(code)), "{}", none.text);
    }
    let folder = repo::KeptCodeMap::folder(&story.server.state.db.folder(), PROJECT);
    let repository = story.server.sample.repository();
    story.server.sample.write("src/lib.rs", &"pub fn run() {}\n".repeat(300));
    repository.renew_code_map(&story.server.sample.commit_all("add code"), &folder).unwrap();
    let kept = story.get("/api/projects/{id}/code-map", PROJECT).await;
    assert_eq!((&kept["languages"][0]["name"], &kept["languages"][0]["lines"]), (&json!("Rust"), &json!(300)), "{kept}");
    assert!(kept["made_at"].is_string() && kept["path"].as_str().is_some_and(|path| path.ends_with("PROJ-001/CODE_MAP.md")), "{kept}");
    let found = story.call("get", proposals, PROJECT, "?from=code_map", Value::Null).await.json();
    assert_eq!(found["proposals"], json!([{"zone": {"name": "src", "paths": ["src/"], "owner": null, "oracle": null}, "note": "300 lines of code"}]));
    let apply = "/api/projects/{id}/zones/apply";
    let (core, taken) = (found["proposals"][0]["zone"].clone(), json!({"name": "core", "paths": ["audio/"]}));
    story.act("post", apply, PROJECT, json!({"zones": [core, taken]}), StatusCode::CONFLICT).await;
    assert_eq!(story.get(zones, PROJECT).await["items"].as_array().unwrap().len(), 1, "all or none");
    let applied = story.act("post", apply, PROJECT, json!({"zones": [core]}), StatusCode::OK).await;
    assert_eq!((&applied["items"][0]["name"], &applied["items"][0]["author"]), (&json!("src"), &json!("human")));
    story.act("post", remove, PROJECT, json!({"name": "src"}), StatusCode::NO_CONTENT).await;
    story.act("post", remove, PROJECT, json!({"name": "audio"}), StatusCode::NO_CONTENT).await;
    let gone = story.act("post", remove, PROJECT, json!({"name": "audio"}), StatusCode::NOT_FOUND).await;
    assert_eq!(gone["code"], "not-found");
}

/// A person sees how many agents suit the project, and applies the number of coders.
async fn formation(story: &mut Story) {
    let formation = "/api/projects/{id}/formation";
    let proposed = story.get(formation, PROJECT).await;
    assert_eq!((&proposed["formation"], &proposed["coders"], &proposed["builders"]), (&json!("skirmish"), &json!(1), &json!(1)), "{proposed}");
    assert!(proposed["lines"].as_u64().is_some_and(|lines| (1..1_000).contains(&lines)), "{proposed}");
    assert_eq!((&proposed["zones_without_oracle"], &proposed["max_coders"]), (&json!([]), &Value::Null));
    let project = "/api/projects/{id}";
    let limited = story.act("patch", project, PROJECT, json!({"max_coders": proposed["coders"]}), StatusCode::OK).await;
    assert_eq!((&limited["max_coders"], &story.get(formation, PROJECT).await["max_coders"]), (&json!(1), &json!(1)));
    story.act("patch", project, PROJECT, json!({"max_coders": 65}), StatusCode::UNPROCESSABLE_ENTITY).await;
    story.act("patch", project, PROJECT, json!({"max_coders": 0}), StatusCode::OK).await;
}

/// A person asks the oracle of the zone audio, and sees what it answered.
async fn ask_oracles(story: &mut Story, mara: &Caller) {
    let (questions, used) = ("/api/projects/{id}/oracle-questions", "/api/projects/{id}/oracle-use");
    let ask = |zone: &str, question: &str| json!({"zones": [zone], "question": question});
    let nobody = story.act("post", questions, PROJECT, ask("audio", "Why?"), StatusCode::CONFLICT).await;
    assert_eq!(nobody["code"], "zone-without-oracle", "{nobody}");
    let audio = json!({"name": "audio", "paths": ["audio/"], "oracle": "mara"});
    story.act("put", "/api/projects/{id}/zones", PROJECT, audio, StatusCode::OK).await;
    let asked = story.act("post", questions, PROJECT, ask("audio/mix.rs", "Who frees the buffer?"), StatusCode::CREATED).await;
    assert_eq!((&asked["items"][0]["oracle"], &asked["items"][0]["answer"]), (&json!("platform/mara"), &Value::Null), "{asked}");
    for (body, status, code) in [
        (ask("README.md", "Why?"), StatusCode::NOT_FOUND, "no-zone"),
        (ask("audio", " "), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        (json!({"zones": [], "question": "Why?"}), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
    ] {
        let refused = story.act("post", questions, PROJECT, body, status).await;
        assert_eq!(refused["code"], code, "{refused}");
    }
    let (db, project) = (story.server.state.db.clone(), ProjectId::new(1));
    while db.check_inbox(mara, &project, None).await.unwrap().remaining > 0 {}
    let id = asked["items"][0]["id"].as_i64();
    let reply = NewMessage { to: "human".into(), content: "The mixer".into(), cc: Vec::new(), task_id: None, reply_to: id };
    db.send(mara, &project, reply).await.unwrap();
    let listed = story.get(questions, PROJECT).await;
    assert_eq!((&listed["items"][0]["answer"]["text"], &listed["next"]), (&json!("The mixer"), &Value::Null), "{listed}");
    let older = story.call("get", questions, PROJECT, &format!("?before={}", id.unwrap()), Value::Null).await.json();
    assert_eq!(older["items"], json!([]));
    let used = story.get(used, PROJECT).await;
    assert_eq!((&used["items"][0]["questions"], &used["items"][0]["answers"], &used["items"][0]["answer_bytes"]), (&json!(1), &json!(1), &json!(9)));
}

/// A person reads the result of a task, and ends the session of a project after a debrief.
pub(super) async fn end_session(story: &mut Story) {
    let (db, owner) = (story.server.state.db.clone(), Caller::owner());
    let result = "/api/tasks/{id}/result";
    let project = story.server.project().await;
    let task = db.create_task(&owner, &project, NewTask { title: "Journey".to_owned(), start: true, ..NewTask::default() }).await.unwrap().card.id;
    db.move_task(&owner, &task, MoveRequest::to(Status::InProgress), EvidenceResult::Nothing).await.unwrap();
    let none = story.call("get", result, task.as_str(), "", Value::Null).await;
    assert_eq!((none.status, none.json()["code"].as_str()), (StatusCode::NOT_FOUND, Some("not-found")), "{}", none.text);
    let content = "# Tried\nA trie\n# Worked\nThe trie\n# Next agent\nUmlauts: search.rs:12".to_owned();
    db.submit_result(&owner, &task, NewTaskResult { content: content.clone(), file: None }).await.unwrap();
    let shown = story.get(result, task.as_str()).await;
    assert_eq!((&shown["content"], &shown["author"], &shown["derived"]), (&json!(content), &json!("human"), &json!(false)));

    let (debriefs, end, project) = ("/api/projects/{id}/debriefs", "/api/projects/{id}/end-session", project.to_string());
    let open = story.act("post", end, &project, Value::Null, StatusCode::CONFLICT).await;
    assert_eq!((&open["code"], open["detail"].as_str().unwrap().contains(task.as_str())), (&json!("session-has-open-tasks"), true), "{open}");
    db.move_task(&owner, &task, MoveRequest::to(Status::Done), EvidenceResult::Nothing).await.unwrap();
    let missing = story.act("post", end, &project, Value::Null, StatusCode::CONFLICT).await;
    assert_eq!((&missing["code"], missing["hint"].is_string()), (&json!("debrief-missing"), true));
    for body in [json!({"summary": " "}), json!({"summary": "x".repeat(20_001)}), json!({"summary": "a\u{0}b"}), json!({})] {
        story.act("post", debriefs, &project, body, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    let filed = story.act("post", debriefs, &project, json!({"summary": "The trie is built"}), StatusCode::CREATED).await;
    let ended = story.act("post", end, &project, Value::Null, StatusCode::OK).await;
    assert_eq!((&ended["waiting"], &ended["log_entries"]), (&json!([]), &json!(0)), "{ended}");
    let listed = story.get(debriefs, &project).await;
    assert_eq!(
        (&listed["items"][0]["id"], &listed["items"][0]["session_ended_at"], &listed["next"]),
        (&filed["id"], &ended["ended_at"], &Value::Null)
    );
    let before = story.call("get", debriefs, &project, &format!("?before={}", filed["id"]), Value::Null).await.json();
    assert_eq!(before["items"], json!([]));
}
