//! The steps of the story about pauses, takeovers and the sandbox of agents, and about the settings.

use std::path::Path;

use axum::http::StatusCode;
use db::{Caller, NewCheckResult, NewPermission};
use domain::id::{ProjectId, TaskId};
use domain::prompt::Prompt;
use domain::runs::check::{CheckOutcome, CheckStage, CheckState, TaskChecks};
use domain::runs::permission::ToolRule;
use domain::runs::preview::PreviewSubject;
use repo::testing::{commit_all_in, write_in};
use serde_json::{Value, json};

use super::Story;

pub(super) async fn pause(story: &mut Story) {
    let paused = story.act("post", "/api/projects/{id}/pause", "PROJ-001", Value::Null, StatusCode::OK).await;
    assert!(paused["paused_at"].is_string());
    let resumed = story.act("post", "/api/projects/{id}/resume", "PROJ-001", Value::Null, StatusCode::OK).await;
    assert_eq!(resumed["paused_at"], Value::Null);
    let all = story.act("post", "/api/pause", "", Value::Null, StatusCode::OK).await;
    assert_eq!(story.get("/api/server", "").await["paused_at"], all["paused_at"]);
    assert_eq!(story.act("post", "/api/resume", "", Value::Null, StatusCode::OK).await, json!({"paused_at": null}));
}

pub(super) async fn permission(story: &mut Story, coder: &Caller, run: &str) {
    let rule = ToolRule { tool: "Bash".to_owned(), command: Some("make".to_owned()) };
    let new = NewPermission { key: "one".to_owned(), tool: "Bash".to_owned(), input: "make".to_owned(), rule: Some(rule) };
    story.server.state.db.ask_permission(coder, new).await.unwrap();
    let asked = story.get("/api/tasks/{id}", "TASK-004").await;
    assert_eq!((&asked["attention"]["kind"], &asked["permissions"][0]["rule"]["command"]), (&json!("permission"), &json!("make")));
    let decision = json!({"request": 1, "answer": "deny", "reason": "Use cargo."});
    let answered = story.act("post", "/api/runs/{id}/permission", run, decision.clone(), StatusCode::OK).await;
    assert_eq!((&answered["answer"], &answered["answered_by"]), (&json!("deny"), &json!("human")));
    let again = story.act("post", "/api/runs/{id}/permission", run, decision, StatusCode::CONFLICT).await;
    assert_eq!(again["code"], "permission-answered");
    let unknown = json!({"request": 2, "answer": "allow"});
    story.act("post", "/api/runs/{id}/permission", run, unknown, StatusCode::NOT_FOUND).await;
    let settled = story.get("/api/tasks/{id}", "TASK-004").await;
    assert_eq!((&settled["attention"], &settled["permissions"]), (&Value::Null, &Value::Null));
}

/// Creates the worktree of TASK-004 and returns its path.
pub(super) fn worktree(story: &Story, head: &str) -> String {
    let folder = story.server.sample.beside("TASK-004");
    story.server.sample.repository().add_worktree("vibe-relay-TASK-004", &folder, "vr/TASK-004/work", &head.to_owned()).unwrap();
    folder.to_str().unwrap().to_owned()
}

/// Takes TASK-004 over, works on it and gives it back. Returns its new commit.
pub(super) async fn takeover(story: &mut Story) -> String {
    let early = story.act("post", "/api/tasks/{id}/give-back", "TASK-004", Value::Null, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert!(early["detail"].as_str().unwrap().ends_with("it is not taken over"), "{early}");
    let taken = story.act("post", "/api/tasks/{id}/take-over", "TASK-004", Value::Null, StatusCode::OK).await;
    assert_eq!((&taken["held_by"], &taken["takeover"]["folder"]), (&json!("takeover"), &taken["worktree_path"]));
    let folder = Path::new(taken["worktree_path"].as_str().unwrap());
    write_in(folder, "header.html", "<header>");
    let head = commit_all_in(folder, "Add a header");
    write_in(folder, "notes.md", "Later");
    let given = story.act("post", "/api/tasks/{id}/give-back", "TASK-004", Value::Null, StatusCode::OK).await;
    assert_eq!((&given["held_by"], &given["takeover"]), (&Value::Null, &Value::Null));
    let thread = story.get("/api/tasks/{id}/comments", "TASK-004").await;
    let told = thread["items"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    for part in ["Add a header", "- header.html", "- notes.md", "refs/vibe-relay/rescue/TASK-004/given-back"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("footer"), "that was there before: {told}");
    assert_eq!(std::fs::read_to_string(folder.join("notes.md")).unwrap(), "Later", "nothing was moved");
    std::fs::remove_file(folder.join("notes.md")).unwrap();
    head
}

pub(super) async fn sandbox(story: &mut Story) {
    assert_eq!(story.get("/api/server", "").await["sandbox"]["choices"], json!(["none", "jail"]));
    let unoffered = story.act("post", "/api/sandbox", "", json!({"tier": "jail+net"}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(unoffered["detail"], "tier: \"jail+net\" is not offered here");
    let settled = story.act("post", "/api/sandbox", "", json!({"tier": "jail"}), StatusCode::OK).await;
    assert_eq!(settled, json!({"tier": "jail"}));
    assert_eq!(story.get("/api/server", "").await["sandbox"], settled);
    let again = story.act("post", "/api/sandbox", "", json!({"tier": "none"}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(again["detail"], "tier: the sandbox of agents is already chosen");
    let access = json!({"kind": "write", "target": "~/.bashrc"});
    let allowed = story.act("post", "/api/projects/{id}/access", "PROJ-001", access.clone(), StatusCode::OK).await;
    assert_eq!(allowed["allowed_access"], json!([access]));
}

/// A person submits the work and sends it back.
pub(super) async fn review_round(story: &mut Story, head: &str) {
    story.act("patch", "/api/tasks/{id}", "TASK-004", json!({"status": "in_review"}), StatusCode::OK).await;
    read_review(story, head).await;
    let other = "0".repeat(40);
    let outdated = story.act("post", "/api/tasks/{id}/approve", "TASK-004", json!({"sha": other}), StatusCode::CONFLICT).await;
    assert_eq!(outdated["code"], "review-outdated");
    // A card dragged to done, whose commit changed since the board showed it.
    let moved = story.act("patch", "/api/tasks/{id}", "TASK-004", json!({"status": "done", "sha": other}), StatusCode::CONFLICT).await;
    assert_eq!((&moved["code"], &moved["detail"]), (&outdated["code"], &outdated["detail"]));
    let stray = story.act("patch", "/api/tasks/{id}", "TASK-004", json!({"title": "One", "sha": other}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(stray["detail"], "sha: it needs a move");
    assert_eq!(story.get("/api/tasks/{id}", "TASK-004").await["status"], "in_review", "nothing was approved");
    let comment = |line: u32| json!([{"path": "footer.html", "line": line, "side": "new", "text": "Why not `<small>`?"}]);
    let path = "/api/tasks/{id}/review/send-back";
    story.act("post", path, "TASK-004", json!({"sha": other, "words": "Add a date."}), StatusCode::CONFLICT).await;
    let missing = story.act("post", path, "TASK-004", json!({"sha": head, "comments": comment(9)}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(missing["detail"], "comments: footer.html has no line 9");
    let sent = story.act("post", path, "TASK-004", json!({"sha": head, "words": "Add a date.", "comments": comment(1)}), StatusCode::OK).await;
    assert_eq!(sent["status"], "in_progress");
    let again = story.act("post", path, "TASK-004", json!({"sha": head, "words": "Add a date."}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(again["code"], "illegal-move");
    let rounds = story.get("/api/tasks/{id}/rounds", "TASK-004").await;
    let round = &rounds["items"][0];
    assert_eq!((&round["number"], &round["sha"], &round["by"]), (&json!(1), &json!(head), &json!("human")));
    let findings = "Add a date.\n\nOne comment on HEAD:\n\n`footer.html:1`:\n\n    <footer>\n\nWhy not `<small>`?".replace("HEAD", &head[..7]);
    assert_eq!(round["findings"], findings);
    let view = story.get("/api/tasks/{id}/review", "TASK-004").await;
    assert_eq!((&view["verdict"]["approved"], &view["verdict"]["sha"], &view["decisions"]["approve"]), (&json!(false), &json!(head), &json!(false)));
    let since = story.call("get", "/api/tasks/{id}/review/diff", "TASK-004", "?since=1", Value::Null).await.json();
    assert_eq!(since["files"], json!([]), "nothing changed since");
    assert_eq!(round["patch_id"].as_str().map(str::len), Some(40));
    let shown = story.call("get", "/api/tasks/{id}/rounds/diff", "TASK-004", "?number=1", Value::Null).await.json();
    assert_eq!((shown["files"][0]["path"].as_str(), shown["head"].as_str()), (Some("footer.html"), Some(head)));
    let none = story.call("get", "/api/tasks/{id}/rounds/diff", "TASK-004", "?number=2", Value::Null).await;
    assert_eq!((none.status, none.json()["code"].as_str()), (StatusCode::NOT_FOUND, Some("not-found")));
}

/// Reads the submitted work as the page of its review does.
async fn read_review(story: &mut Story, head: &str) {
    let view = story.get("/api/tasks/{id}/review", "TASK-004").await;
    assert_eq!((&view["head"], &view["decisions"]), (&json!(head), &json!({"approve": true, "send_back": true})), "{view}");
    assert_eq!((&view["conflicts"], &view["verdict"], &view["rounds"]), (&json!([]), &Value::Null, &json!([])));
    let diff = story.get("/api/tasks/{id}/review/diff", "TASK-004").await;
    let line = &diff["files"][0]["hunks"][0]["lines"][0];
    assert_eq!((&diff["files"][0]["path"], &line["text"], &line["spans"][0]["kind"]), (&json!("footer.html"), &json!("<footer>"), &json!("keyword")));
    for (kind, query) in [("file", "path=footer.html"), ("lines", "path=footer.html&from=1&to=9"), ("image", "path=logo.png&side=new")] {
        let path = format!("/api/tasks/{{id}}/review/{kind}");
        let (status, expected) = if kind == "image" { (StatusCode::NOT_FOUND, "\"not-found\"") } else { (StatusCode::OK, "<footer>") };
        let answer = story.call("get", &path, "TASK-004", &format!("?{query}&head={head}"), Value::Null).await;
        assert_eq!(answer.status, status, "{kind}: {}", answer.text);
        assert!(answer.text.contains(expected), "{kind}: {}", answer.text);
        let outdated = story.call("get", &path, "TASK-004", &format!("?{}&head={}", query.replace("logo", "a"), "0".repeat(40)), Value::Null).await;
        assert_eq!((outdated.status, outdated.json()["code"].as_str()), (StatusCode::CONFLICT, Some("review-outdated")), "{kind}");
    }
}

/// Looks at what would land, lands it, and looks at what was landed.
pub(super) async fn landing(story: &mut Story) {
    let preview = story.get("/api/projects/{id}/landing", "PROJ-001").await;
    assert_eq!((&preview["way"]["is"], &preview["checkout"]["is"]), (&json!("fast_forward"), &json!("updated")), "{preview}");
    assert_eq!((&preview["commits_total"], &preview["size"]["files"], &preview["files"][0]["hunks"]), (&json!(3), &json!(2), &json!([])));
    assert_eq!((&preview["tasks"][0]["id"], &preview["tasks"][0]["commits"]), (&json!("TASK-004"), &json!(2)), "{preview}");
    let diff = story.get("/api/projects/{id}/landing/diff", "PROJ-001").await;
    assert_eq!((&diff["head"], diff["files"].as_array().unwrap().len()), (&preview["tip"], 2));
    assert_eq!(story.get("/api/projects/{id}/publication", "PROJ-001").await, json!({"target": null, "can_open": false}), "no remote");
    story.server.sample.configure("remote.origin.url", "https://ann:secret@github.com/ann/site.git");
    let target = story.get("/api/projects/{id}/publication", "PROJ-001").await;
    let expected = json!({"remote": "origin", "url": "https://github.com/ann/site.git", "branch": "vibe-relay/PROJ-001", "base_branch": "main", "repository": "github.com/ann/site"});
    assert_eq!((&target["target"], &target["can_open"]), (&expected, &json!(true)), "without the password");
    let published = story.act("post", "/api/projects/{id}/publication", "PROJ-001", json!({"pull_request": true}), StatusCode::OK).await;
    assert_eq!(published["published"]["pull_request"], "https://github.com/ann/site/pull/7", "{published}");
    let imported = story.act("post", "/api/projects/{id}/issues", "PROJ-001", json!({"issue": "7"}), StatusCode::CREATED).await;
    assert_eq!((&imported["title"], &imported["held_by"]), (&json!("The menu is empty"), &json!("human")));
    assert!(imported["description"].as_str().unwrap().starts_with("Issue: https://github.com/ann/site/issues/7\n\nSomeone outside"));
    let again = story.act("post", "/api/projects/{id}/issues", "PROJ-001", json!({"issue": "7"}), StatusCode::CONFLICT).await;
    assert_eq!(again["code"], "issue-imported");
    let cancel = json!({"status": "cancelled", "reason": "obsolete"});
    story.act("patch", "/api/tasks/{id}", imported["id"].as_str().unwrap(), cancel, StatusCode::OK).await;
    let settled = story.act("post", "/api/projects/{id}/publication/settle", "PROJ-001", Value::Null, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(settled["code"], "nothing-to-settle");
    story.server.state.db.flag_pull_request(&ProjectId::new(1), Vec::new(), "test failed").await.unwrap();
    let settled = story.act("post", "/api/projects/{id}/publication/settle", "PROJ-001", Value::Null, StatusCode::OK).await;
    assert_eq!(settled["published"]["status"], json!({"state": "open", "sent_back": 0}));
    let landed = story.act("post", "/api/projects/{id}/land", "PROJ-001", json!({}), StatusCode::OK).await;
    let after = story.call("get", "/api/projects/{id}/landing", "PROJ-001", "?landing=1", Value::Null).await.json();
    assert_eq!((&after["way"]["is"], &after["tasks"], &after["commits"]), (&json!("landed"), &preview["tasks"], &preview["commits"]));
    assert_eq!((&after["landings"][0]["before_sha"], &after["landings"][0]["sha"]), (&preview["base"], &landed["sha"]));
    let diff_after = story.call("get", "/api/projects/{id}/landing/diff", "PROJ-001", "?landing=1", Value::Null).await.json();
    assert_eq!(diff_after["files"], diff["files"], "the same change");
    assert_eq!(story.get("/api/projects/{id}/landing", "PROJ-001").await["way"]["is"], "landed");
    assert_eq!((landed["base_branch"].as_str(), landed["commits"].as_u64()), (Some("main"), Some(3)), "{landed}");
    assert_eq!(story.server.sample.read("footer.html").as_deref(), Some("<footer>"), "the clean checkout follows");
    assert_eq!(story.get("/api/report", "").await["projects"][0]["ready_to_land"], Value::Null);
    let record = &story.get("/api/projects/{id}/board", "PROJ-001").await["project"]["landed"];
    assert_eq!(
        (&record["sha"], &record["base_branch"], &record["commits"], &record["tasks"]),
        (&landed["sha"], &json!("main"), &json!(3), &json!(1))
    );
    assert_eq!(story.get("/api/projects", "").await["items"][0]["landed"], *record);
    let undone = story.act("post", "/api/projects/{id}/landing/undo", "PROJ-001", json!({"landing": 1}), StatusCode::OK).await;
    assert_eq!((&undone["sha"], &undone["commits"]), (&preview["base"], &json!(3)));
    assert_eq!(story.get("/api/projects/{id}/landing", "PROJ-001").await["tasks"], preview["tasks"], "they can land again");
    assert_eq!(story.server.sample.read("footer.html"), None, "the clean checkout follows");
    story.act("post", "/api/projects/{id}/land", "PROJ-001", json!({}), StatusCode::OK).await;
    let again = story.act("post", "/api/projects/{id}/land", "PROJ-001", Value::Null, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(again["code"], "nothing-to-land");
}

pub(super) async fn rescues(story: &mut Story) {
    let reference = "refs/vibe-relay/rescue/TASK-004/uncommitted";
    let sha = story.server.sample.commit_on("kept", &[("kept.txt", Some("kept"))], "Kept");
    story.server.sample.repository().rescue_tip(reference, &sha).unwrap();
    story.server.sample.delete_branch("kept");
    let listed = &story.get("/api/projects/{id}/rescues", "PROJ-001").await["items"][0];
    assert_eq!((&listed["sha"], &listed["bytes"], &listed["kept_at"]), (&json!(sha), &json!(4), &Value::Null), "{listed}");
    let shown = story.call("get", "/api/projects/{id}/rescues/diff", "PROJ-001", &format!("?reference={reference}"), Value::Null).await;
    assert_eq!(shown.json()["files"][0]["path"], "kept.txt", "{}", shown.text);
    let restore = json!({"reference": reference, "branch": "kept"});
    story.act("post", "/api/projects/{id}/rescues/restore", "PROJ-001", restore, StatusCode::OK).await;
    let drop = json!({"reference": reference, "sha": sha});
    let left = story.act("post", "/api/projects/{id}/rescues/drop", "PROJ-001", drop, StatusCode::OK).await;
    assert_eq!(left["items"], json!([]));
    story.server.sample.delete_branch("kept");
}

pub(super) async fn settings(story: &mut Story) {
    let settings = story.get("/api/settings", "").await;
    let all = settings["settings"].as_array().unwrap();
    let of = |key: &str| all.iter().find(|setting| setting["key"] == key).unwrap();
    assert_eq!((&of("max_attempts")["value"], &of("max_attempts")["source"]), (&json!("3"), &json!("default")));
    assert_eq!(of("limits.day_cost_usd")["snippet"], "\"limits\": { \"day_cost_usd\": 200 }");
    assert_eq!((&settings["prompts"][1]["phase"], &settings["prompts"][1]["text"]), (&json!("coder"), &json!(Prompt::Coder.built_in())));
    assert!(settings["in_use"]["kept_since"].is_string() && settings["in_use"]["kept_events"].as_u64() > Some(9), "{}", settings["in_use"]);
}

/// The results of a check, and its output.
pub(super) async fn checks(story: &mut Story, task: &str) {
    let id: TaskId = task.parse().unwrap();
    let output = story.server.sample.beside("check-output");
    std::fs::write(&output, "3 tests passed\n").unwrap();
    let result = NewCheckResult {
        tree: "tree".to_owned(),
        // An earlier one, whose commands nobody knows.
        profile_version: 0,
        command: "make test".to_owned(),
        outcome: CheckOutcome::Passed,
        attempts: 1,
        duration_ms: 12_000,
        tail: "3 tests passed\n".to_owned(),
        output: output.clone(),
    };
    let project = story.server.state.db.card(&id).await.unwrap().project_id;
    story.server.state.db.record_check_result(&project, Some(&id), result).await.unwrap();
    let (stage, state) = (CheckStage::Quick, CheckState::Passed);
    let checks = TaskChecks { stage, state, sha: "head".to_owned(), tree: "tree".to_owned(), profile_version: 0 };
    story.server.state.db.set_task_checks(&id, checks).await.unwrap();
    let listed = story.get("/api/tasks/{id}/checks", task).await;
    assert_eq!((&listed["items"][0]["stage"], &listed["items"][0]["results"][0]["command"]), (&json!("quick"), &json!("make test")));
    let number = listed["items"][0]["results"][0]["id"].as_i64().unwrap();
    let (path, query) = ("/api/tasks/{id}/checks/output", format!("?result={number}"));
    assert_eq!(story.call("get", path, task, &query, Value::Null).await.text, "3 tests passed\n");
    assert_eq!(story.call("get", path, task, "?result=99", Value::Null).await.status, StatusCode::NOT_FOUND);
    std::fs::remove_file(&output).unwrap();
    assert_eq!(story.call("get", path, task, &query, Value::Null).await.status, StatusCode::NOT_FOUND, "it is not kept");
}

/// The app of a task and of its project: asked for, with its log, and ended.
pub(super) async fn apps(story: &mut Story, task: &str) {
    let refused = story.act("post", "/api/tasks/{id}/preview", task, Value::Null, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "no-preview", "{refused}");
    let profile = json!({"profile": {"preview": "npm run dev -- --port {port}"}});
    story.act("patch", "/api/projects/{id}", "PROJ-001", profile, StatusCode::OK).await;
    let id: TaskId = task.parse().unwrap();
    story.server.state.db.record_checkout(&id, "vr/TASK-004/work", "/worktrees/TASK-004").await.unwrap();
    let app = story.act("post", "/api/tasks/{id}/preview", task, Value::Null, StatusCode::OK).await;
    assert_eq!(app["state"], "starting", "{app}");
    assert_eq!(story.get("/api/tasks/{id}", task).await["preview"], app);
    assert_eq!(story.call("get", "/api/tasks/{id}/preview/log", task, "", Value::Null).await.text, "", "its command has not started");
    let log = story.server.state.db.preview_log(&PreviewSubject::Task(id.clone())).await.unwrap();
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    std::fs::write(&log, "ready at 4001\n").unwrap();
    let shown = story.call("get", "/api/tasks/{id}/preview/log", task, "", Value::Null).await;
    assert_eq!((shown.text.as_str(), shown.header("content-type")), ("ready at 4001\n", "text/plain; charset=utf-8"));
    story.act("delete", "/api/tasks/{id}/preview", task, Value::Null, StatusCode::NO_CONTENT).await;
    assert_eq!(story.get("/api/tasks/{id}", task).await["preview"]["state"], "stopping");

    let nothing = story.act("post", "/api/projects/{id}/preview", "PROJ-001", Value::Null, StatusCode::CONFLICT).await;
    assert_eq!(nothing["code"], "nothing-merged", "{nothing}");
    let none = story.act("delete", "/api/projects/{id}/preview", "PROJ-001", Value::Null, StatusCode::CONFLICT).await;
    assert_eq!(none["code"], "no-preview-running", "{none}");
    assert_eq!(story.call("get", "/api/projects/{id}/preview/log", "PROJ-001", "", Value::Null).await.status, StatusCode::CONFLICT);
}
