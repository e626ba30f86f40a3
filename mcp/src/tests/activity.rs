//! Whether agents are at work, and what they know is still true: tools, warnings and the notice about changed files.

use std::fs::File;
use std::time::{Duration, SystemTime};

use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::team::role::Role;
use domain::time::Timestamp;
use domain::warroom::freshness::LoadedFile;
use serde_json::{Value, json};

use super::fixture::{Board, Client, call, done, refused};

/// Lets a file look as if it was changed at this time from now.
fn touched(board: &Board, path: &str, from_now: i64) {
    let at = SystemTime::now();
    let span = Duration::from_secs(from_now.unsigned_abs());
    let file = File::options().write(true).open(board.sample.top().join(path)).unwrap();
    file.set_modified(if from_now < 0 { at - span } else { at + span }).unwrap();
}

async fn updated(client: &Client, count: usize) -> String {
    let mut told = String::new();
    for _ in 0..count {
        told = done(client, "update_task", json!({"task_id": "TASK-002", "result": "Half"})).await.text;
    }
    told
}

#[tokio::test]
async fn updates_of_a_task_are_counted_shown_and_warned_of() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    done(&lena, "create_task", json!({"title": "Search", "assigned_to": "mara"})).await;
    done(&mara, "update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    assert!(!updated(&mara, 2).await.contains("WARNING"));
    let fourth = updated(&mara, 1).await;
    assert!(fourth.contains("WARNING: activity count at 4, consider reassessing."), "{fourth}");
    let sixth = updated(&mara, 2).await;
    assert!(sixth.contains("activity count at 6"), "{sixth}");
    let shown = done(&lena, "get_task", json!({"task_id": "TASK-002"})).await;
    assert!(shown.text.contains("activity: 6") && shown.text.contains("needs the human: mara"), "{}", shown.text);
    assert_eq!(shown.data["task"]["activity_count"], 6);
    let listed = done(&lena, "list_tasks", json!({})).await;
    assert!(listed.text.contains("assigned to mara · activity: 6"), "{}", listed.text);
    let party = done(&lena, "party_status", json!({})).await.text;
    assert!(party.contains("TASK-002 in_progress Search · activity 6"), "{party}");
    let who = done(&lena, "who", json!({})).await.data;
    let counts: Vec<(&Value, &Value)> = who["agents"].as_array().unwrap().iter().map(|agent| (&agent["name"], &agent["activity_count"])).collect();
    assert_eq!(counts, [(&json!("lena"), &json!(0)), (&json!("mara"), &json!(6))]);
}

#[tokio::test]
async fn activity_of_an_agent_is_that_of_its_files_its_zone_or_its_calls() {
    let board = Board::new().await;
    for path in ["src/a.rs", "audio/mix.rs"] {
        board.sample.write(path, "one");
        touched(&board, path, -3600);
    }
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let check = async || done(&lena, "check_activity", json!({"agent_name": "mara"})).await;
    assert!(check().await.text.starts_with("mara was never seen.\nIt has no open task.\nNothing changed"), "{}", check().await.text);
    done(&lena, "set_zone", json!({"name": "audio", "paths": ["audio/"], "owner": "mara"})).await;
    let zone = check().await;
    assert!(zone.text.contains("zone audio/**: last changed ") && zone.text.contains(", audio/mix.rs"), "{}", zone.text);
    done(&mara, "claim_file", json!({"file_path": "src/a.rs"})).await;
    done(&mara, "claim_file", json!({"file_path": "src/new.rs"})).await;
    let held = check().await;
    let party = done(&lena, "party_status", json!({})).await.text;
    assert!(party.contains("holds src/a.rs, src/new.rs (src/a.rs changed "), "{party}");
    assert!(held.text.contains("holds src/a.rs: changed ") && held.text.contains("holds src/new.rs: no such file"), "{}", held.text);
    assert!(held.data["activity"]["zone"].as_array().unwrap().is_empty(), "files count before a zone");
    assert!(!held.text.contains("may be stuck"), "it called just now: {}", held.text);
    db::testing::set_time(db::now().after(Duration::from_secs(660)));
    let quiet = check().await.text;
    assert!(quiet.contains("Nothing changed for 10 minutes: it may be stuck or gone. Send \"sitrep mara\" to it"), "{quiet}");
    assert!(refused(&lena, "check_activity", json!({"agent_name": "nobody"})).await.contains("nobody"));
}

#[tokio::test]
async fn activity_of_a_managed_agent_is_in_its_worktree() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let (client, lena) = (server.modern(&coder.run.token).await, server.modern(&board.agent("lena", &[Role::Lead]).await).await);
    repo::testing::write_in(&coder.worktree, "page.html", "<h1>");
    done(&client, "claim_file", json!({"file_path": coder.worktree.join("page.html")})).await;
    let name = format!("coder-{}", coder.task);
    let told = done(&lena, "check_activity", json!({"agent_name": name})).await.text;
    assert!(told.contains("holds page.html: changed "), "the checkout of the person has no such file: {told}");
    let own = done(&client, "check_freshness", json!({})).await;
    assert_eq!(own.data["freshness"]["agent"], name);
    assert!(!own.data["freshness"]["loaded_at"].is_null(), "its run started: {}", own.text);
    let changed = async || -> Vec<String> {
        let files = done(&client, "check_freshness", json!({})).await.data["freshness"]["changed"].clone();
        files.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(changed().await, ["page.html"], "it was written after the start");
    // The output of the run shows that it knows the file, and that it read another one.
    let read = |path: &str, at: Timestamp| LoadedFile { path: path.to_owned(), at };
    repo::testing::write_in(&coder.worktree, "notes.md", "one");
    let (before, after) = (db::now().before(Duration::from_secs(60)), db::now().after(Duration::from_secs(60)));
    board.db.record_loaded_files(&coder.run.run.id, vec![read("page.html", after), read("notes.md", before)]).await.unwrap();
    assert_eq!(changed().await, ["notes.md"]);
    let party = done(&lena, "party_status", json!({})).await;
    assert!(party.text.contains("holds page.html (changed "), "{}", party.text);
    let member = party.data["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap();
    assert_eq!(member["last_change"]["path"], "page.html", "{member}");
}

#[tokio::test]
async fn files_that_changed_since_a_report_are_named_and_announced_once() {
    let board = Board::new().await;
    for path in ["src/a.rs", "src/b.rs", "audio/mix.rs"] {
        board.sample.write(path, "one");
        touched(&board, path, -3600);
    }
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let fresh = async || done(&mara, "check_freshness", json!({})).await.text;
    assert!(fresh().await.starts_with("It is not known when mara loaded its files."));
    done(&mara, "set_context", json!({"context": "x"})).await;
    done(&mara, "claim_file", json!({"file_path": "src/"})).await;
    assert!(fresh().await.starts_with("No file of mara changed since "));
    touched(&board, "src/b.rs", 5);
    touched(&board, "audio/mix.rs", 5);
    let named = fresh().await;
    assert!(named.starts_with("1 file of mara changed since ") && named.contains("\nsrc/b.rs at "), "{named}");
    let notice = "1 file changed since you last loaded it: call check_freshness";
    let announced = async |after: u64| {
        db::testing::set_time(db::now().after(Duration::from_secs(after)));
        done(&mara, "get_board", json!({})).await.text.contains(notice)
    };
    assert!(!announced(1).await, "they are not looked at with each call");
    assert!(announced(60).await);
    assert!(!announced(60).await, "once for each change");
    touched(&board, "src/b.rs", 90);
    assert!(announced(60).await, "it changed again");
    db::testing::set_time(db::now().after(Duration::from_secs(600)));
    done(&mara, "set_context", json!({"context": "x"})).await;
    assert!(!announced(60).await && fresh().await.starts_with("No file"));
}

#[tokio::test]
async fn agent_with_little_context_left_gets_light_tasks_first() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    done(&lena, "create_task", json!({"title": "Large", "files": ["src/"]})).await;
    done(&lena, "create_task", json!({"title": "Small", "files": ["README.md"]})).await;
    let order = async || {
        let listed = done(&mara, "list_tasks", json!({})).await;
        let ids: Vec<String> = listed.data["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
        (ids[ids.len() - 2..].to_vec(), ids[0].clone(), listed.text)
    };
    assert_eq!(order().await.0, ["TASK-002", "TASK-003"]);
    done(&mara, "set_context", json!({"context": "x", "tokens_used": 70, "tokens_limit": 100})).await;
    let (_, first, text) = order().await;
    assert!(first == "TASK-003" && text.starts_with("Light tasks come first, because 30 % of your context is left."), "{text}");
    let large = done(&lena, "update_task", json!({"task_id": "TASK-002", "assigned_to": "mara"})).await.text;
    assert!(large.contains("WARNING: mara has 30 % of its context left, which is enough for light tasks only"), "{large}");
    let created = done(&lena, "create_task", json!({"title": "More", "files": ["a", "b", "c"], "assigned_to": "mara"})).await.text;
    assert!(created.contains("WARNING: mara has 30 %"), "{created}");
    let small = done(&lena, "update_task", json!({"task_id": "TASK-003", "assigned_to": "mara"})).await.text;
    assert!(!small.contains("WARNING"), "{small}");
    done(&mara, "set_context", json!({"context": "x", "tokens_used": 80, "tokens_limit": 100})).await;
    let refused = call(&lena, "create_task", json!({"title": "Next", "assigned_to": "mara"})).await;
    assert_eq!(refused.data["code"], "context-used-up");
    assert!(refused.text.contains("has to hand over first") && refused.text.contains("Next: Send \"fenix_down mara\""), "{}", refused.text);
}

#[tokio::test]
async fn lead_reviews_old_tasks_at_a_new_session() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    done(&lena, "create_task", json!({"title": "Search"})).await;
    done(&lena, "create_task", json!({"title": "Sort"})).await;
    let nothing_to_plan = db::MoveRequest { to: Status::Done, reason: Some("Nothing to plan".to_owned()), merge: false };
    board.db.move_task(&db::Caller::owner(), &TaskId::new(1), nothing_to_plan, EvidenceResult::Nothing).await.unwrap();
    done(&lena, "debrief", json!({"summary": "Nothing"})).await;
    let ended = done(&lena, "end_session", json!({})).await.text;
    assert!(ended.contains("TASK-002, TASK-003") && ended.contains("update_task"), "{ended}");
    done(&lena, "set_battle_plan", json!({"plan": "Go on"})).await;
    let blocked = refused(&lena, "create_task", json!({"title": "Next"})).await;
    assert!(
        blocked.starts_with("BLOCKED: creating tasks waits for your review of 2 tasks") && blocked.contains("Next: Call update_task"),
        "{blocked}"
    );
    assert_eq!(done(&lena, "list_tasks", json!({"status": "stale"})).await.data["tasks"].as_array().unwrap().len(), 2);
    done(&lena, "update_task", json!({"task_id": "TASK-002", "status": "obsolete"})).await;
    let stale = done(&lena, "update_task", json!({"task_id": "TASK-003", "status": "stale"})).await;
    assert_eq!(stale.data["task"]["stage"], "stale");
    done(&lena, "create_task", json!({"title": "Next"})).await;
}
