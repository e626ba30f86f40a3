//! Landing: refusals, repetition, and recovery after a crash.

use axum::http::StatusCode;
use db::BaseMerge;
use serde_json::json;

use super::support::{Answer, TestServer};

async fn land(server: &TestServer) -> Answer {
    server.call("post", "/api/projects/PROJ-001/land", "").await
}

fn refusal(answer: &Answer) -> (StatusCode, String) {
    (answer.status, answer.json()["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn landing_needs_a_merged_task() {
    let server = TestServer::new().await;
    let project = server.project().await;
    assert_eq!(refusal(&land(&server).await), (StatusCode::UNPROCESSABLE_ENTITY, "nothing-to-land".into()));
    server.sample.repository().ensure_project_branch(&format!("vibe-relay/{project}"), "main").unwrap();
    assert_eq!(refusal(&land(&server).await), (StatusCode::UNPROCESSABLE_ENTITY, "nothing-to-land".into()));
    assert_eq!(server.state.db.project(&project).await.unwrap().landed_sha, None);
}

#[tokio::test]
async fn uncommitted_files_are_not_overwritten() {
    let server = TestServer::new().await;
    server.merged(&server.project().await, "README.md", "by an agent\n").await;
    server.sample.write("README.md", "by the human\n");
    let before = server.sample.repository().ref_sha("main").unwrap();
    let answer = land(&server).await;
    assert_eq!(refusal(&answer), (StatusCode::UNPROCESSABLE_ENTITY, "checkout-dirty".into()));
    insta::assert_snapshot!(answer.json()["detail"].as_str().unwrap(), @"your checkout has changes in README.md that landing would overwrite; nothing was changed");
    assert_eq!(server.sample.read("README.md").as_deref(), Some("by the human\n"));
    assert_eq!(server.sample.repository().ref_sha("main").unwrap(), before);
}

#[tokio::test]
async fn conflict_with_the_base_branch_lists_the_files() {
    let server = TestServer::new().await;
    server.merged(&server.project().await, "README.md", "by an agent\n").await;
    server.sample.write("README.md", "by the human\n");
    server.sample.commit_all("mine");
    let answer = land(&server).await;
    assert_eq!(refusal(&answer), (StatusCode::UNPROCESSABLE_ENTITY, "land-conflict".into()));
    insta::assert_snapshot!(answer.json()["detail"].as_str().unwrap(), @"main and vibe-relay/PROJ-001 both changed README.md; nothing was changed");
}

#[tokio::test]
async fn landing_waits_for_the_task_that_brings_the_base_together() {
    let server = TestServer::new().await;
    let project = server.project().await;
    server.merged(&project, "one.txt", "1").await;
    let sha = "1".repeat(40);
    let task = server.state.db.create_sync_task(&project, &sha, "Merge main", "It conflicts.").await.unwrap().unwrap();
    let answer = land(&server).await;
    assert_eq!(refusal(&answer), (StatusCode::CONFLICT, "sync-pending".into()));
    assert!(answer.json()["detail"].as_str().unwrap().contains(task.as_str()), "{}", answer.json());
    let cancelled = server.call("post", &format!("/api/tasks/{task}/cancel"), r#"{"reason": "obsolete"}"#).await;
    assert_eq!(cancelled.status, StatusCode::OK);
    assert_eq!(land(&server).await.status, StatusCode::OK, "a person does not want these changes");
}

#[tokio::test]
async fn unapproved_commits_are_not_landed() {
    let server = TestServer::new().await;
    let project = server.project().await;
    server.merged(&project, "one.txt", "1").await;
    let before = server.sample.repository().ref_sha("main").unwrap();
    let left = server.state.db.project(&project).await.unwrap().integration_head.unwrap();
    server.sample.set_branch("side", &left);
    let foreign = server.sample.commit_on("side", &[("evil.txt", Some("evil"))], "not reviewed");
    server.sample.set_branch("vibe-relay/PROJ-001", &foreign);
    let answer = land(&server).await;
    assert_eq!(refusal(&answer), (StatusCode::UNPROCESSABLE_ENTITY, "branch-foreign".into()));
    let detail = answer.json()["detail"].as_str().unwrap().replace(&foreign[..7], "SHA");
    insta::assert_snapshot!(detail, @"vibe-relay/PROJ-001 has moved since the last merge; SHA “not reviewed” is not approved; nothing was changed");
    assert_eq!(server.sample.repository().ref_sha("main").unwrap(), before);
    server.sample.set_branch("vibe-relay/PROJ-001", &left);
    assert_eq!(land(&server).await.status, StatusCode::OK);
}

#[tokio::test]
async fn landing_happens_once_and_an_unrecorded_one_is_repeated() {
    let server = TestServer::new().await;
    let project = server.project().await;
    server.merged(&project, "one.txt", "1").await;
    let (one, two) = tokio::join!(land(&server), land(&server));
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422]);
    let record = server.state.db.project(&project).await.unwrap();
    assert_eq!(record.landed_sha, record.integration_head);

    server.merged(&project, "two.txt", "2").await;
    let tip = server.state.db.project(&project).await.unwrap().integration_head.unwrap();
    server.sample.set_branch("main", &tip);
    let again = land(&server).await;
    assert_eq!((again.status, again.json()["commits"].as_u64()), (StatusCode::OK, Some(0)), "{}", again.text);
    assert_eq!(server.state.db.project(&project).await.unwrap().landed_sha, Some(tip));
}

#[tokio::test]
async fn landing_is_taken_back_until_it_was_pushed() {
    let server = TestServer::new().await;
    let project = server.project().await;
    let undo = async |body: &str| server.call("post", "/api/projects/PROJ-001/landing/undo", body).await;
    assert_eq!(refusal(&undo("").await), (StatusCode::UNPROCESSABLE_ENTITY, "nothing-to-undo".into()));
    server.merged(&project, "README.md", "by an agent\n").await;
    let before = server.sample.repository().ref_sha("main").unwrap();
    let original = server.sample.read("README.md");
    land(&server).await;

    server.sample.write("README.md", "by the human\n");
    assert_eq!(refusal(&undo("").await), (StatusCode::UNPROCESSABLE_ENTITY, "checkout-dirty".into()));
    server.sample.write("README.md", "by an agent\n");
    assert_eq!(refusal(&undo(r#"{"landing": 7}"#).await), (StatusCode::CONFLICT, "not-the-last-landing".into()));
    let undone = undo("").await;
    assert_eq!((undone.status, undone.json()["sha"].as_str()), (StatusCode::OK, before.as_deref()), "{}", undone.text);
    assert_eq!((server.sample.repository().ref_sha("main").unwrap(), server.sample.read("README.md")), (before, original));
    let preview = server.call("get", "/api/projects/PROJ-001/landing", "").await.json();
    assert_eq!((&preview["way"]["is"], &preview["tasks"][0]["id"]), (&json!("fast_forward"), &json!("TASK-001")), "no commit returns");

    let landed = land(&server).await.json();
    let sha = landed["sha"].as_str().unwrap();
    server.sample.configure("remote.origin.url", "/nowhere");
    server.sample.set_reference("refs/remotes/origin/main", sha);
    let answer = undo("").await;
    assert_eq!(refusal(&answer), (StatusCode::CONFLICT, "landing-pushed".into()));
    let detail = answer.json()["detail"].as_str().unwrap().replace(&sha[..7], "SHA");
    insta::assert_snapshot!(detail, @"origin/main already has the landed commit SHA; nothing was changed");
    server.sample.delete_reference("refs/remotes/origin/main");
    server.sample.commit_on("main", &[("more", Some("more"))], "more");
    assert_eq!(refusal(&undo("").await), (StatusCode::CONFLICT, "moved-since-landing".into()));
}

#[tokio::test]
async fn removed_commits_return_only_with_their_confirmation() {
    let server = TestServer::new().await;
    let secret = server.sample.commit_on("main", &[(".env", Some("KEY=1"))], "Add a key");
    let project = server.project().await;
    server.merged(&project, "one.txt", "1").await;
    server.sample.set_branch("main", &server.sample.repository().parents_of(&secret).unwrap()[0]);
    let before = server.sample.repository().ref_sha("main").unwrap();
    let answer = land(&server).await;
    assert_eq!(refusal(&answer), (StatusCode::CONFLICT, "commits-return".into()));
    let json = answer.json();
    assert_eq!((json["returning"]["total"].as_u64(), json["returning"]["commits"][0]["sha"].as_str()), (Some(1), Some(secret.as_str())));
    let detail = json["detail"].as_str().unwrap().replace(&secret[..7], "SHA");
    insta::assert_snapshot!(detail, @"landing would bring commits back to main that were removed from it: SHA “Add a key” by Sam Sample; nothing was changed");
    let confirm = async |text: &str| server.call("post", "/api/projects/PROJ-001/land", &format!(r#"{{"bring_back": "{text}"}}"#)).await;
    assert_eq!(refusal(&confirm("not this").await).1, "commits-return");
    assert_eq!(server.sample.repository().ref_sha("main").unwrap(), before);

    let landed = confirm(json["returning"]["confirmation"].as_str().unwrap()).await;
    assert_eq!(landed.status, StatusCode::OK, "{}", landed.text);
    let record = server.state.db.project(&project).await.unwrap();
    assert_eq!(Some(record.base_head), server.sample.repository().ref_sha("main").unwrap());
}

#[tokio::test]
async fn missing_base_branch_can_be_replaced() {
    let server = TestServer::new().await;
    let project = server.project().await;
    server.merged(&project, "one.txt", "1").await;
    let repository = server.sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    repository.move_ref("trunk", None, &start, "renamed").unwrap();
    server.sample.delete_branch("main");

    let answer = land(&server).await;
    assert_eq!(refusal(&answer), (StatusCode::UNPROCESSABLE_ENTITY, "base-missing".into()));
    insta::assert_snapshot!(answer.json()["hint"].as_str().unwrap(), @"Name the branch that replaces it with `vibe-relay project edit PROJ-001 --base-branch BRANCH`, then land again.");
    let replace = async |branch: &str| server.call("patch", "/api/projects/PROJ-001", &format!(r#"{{"base_branch": "{branch}"}}"#)).await;
    assert_eq!(refusal(&replace("nowhere").await), (StatusCode::UNPROCESSABLE_ENTITY, "branch-missing".into()));
    assert_eq!(refusal(&replace("vibe-relay/PROJ-001").await), (StatusCode::UNPROCESSABLE_ENTITY, "invalid".into()));
    let replaced = replace("trunk").await;
    assert_eq!((replaced.status, replaced.json()["base_branch"].as_str()), (StatusCode::OK, Some("trunk")), "{}", replaced.text);
    let landed = land(&server).await;
    assert_eq!(landed.status, StatusCode::OK, "{}", landed.text);
    assert_eq!(repository.ref_sha("trunk").unwrap(), server.state.db.project(&project).await.unwrap().landed_sha);
}

/// Only the project branch has the merge of the base that was made after the landing.
#[tokio::test]
async fn base_that_was_followed_after_a_landing_does_not_list_landed_work_again() {
    let server = TestServer::new().await;
    let project = server.project().await;
    server.merged(&project, "one.txt", "1").await;
    assert_eq!(land(&server).await.status, StatusCode::OK);
    let repository = server.sample.repository();
    let landed = repository.ref_sha("main").unwrap().unwrap();
    let db = &server.state.db;
    let record = db.project(&project).await.unwrap();
    let (branch, from) = (record.integration_branch, record.integration_head.unwrap());
    let base = server.sample.commit_on("main", &[("theirs.txt", Some("x"))], "theirs");
    let head = server.sample.commit_as(&base, &[&from, &base], "Merge main");
    server.sample.set_branch(&branch, &head);
    db.record_base_merge(&project, BaseMerge { from, branch, head, base_branch: "main".to_owned(), sha: base }).await.unwrap();
    server.sample.set_branch("release", &landed);
    let replaced = server.call("patch", "/api/projects/PROJ-001", r#"{"base_branch": "release"}"#).await;
    assert_eq!(replaced.status, StatusCode::OK, "{}", replaced.text);
    assert_eq!(db.landing_facts(&project, None).await.unwrap().tasks, [], "nothing waits to be landed");
}

#[tokio::test]
async fn replacing_the_base_branch_brings_no_removed_commit_back() {
    let server = TestServer::new().await;
    let secret = server.sample.commit_on("main", &[(".env", Some("KEY=1"))], "Add a key");
    let project = server.project().await;
    server.merged(&project, "one.txt", "1").await;
    server.sample.set_branch("trunk", &server.sample.repository().parents_of(&secret).unwrap()[0]);
    let replaced = server.call("patch", "/api/projects/PROJ-001", r#"{"base_branch": "trunk"}"#).await;
    assert_eq!(replaced.status, StatusCode::OK, "{}", replaced.text);
    let answer = land(&server).await;
    assert_eq!(refusal(&answer), (StatusCode::CONFLICT, "commits-return".into()));
    assert_eq!(answer.json()["returning"]["commits"][0]["sha"].as_str(), Some(secret.as_str()));
}

#[tokio::test]
async fn preview_says_what_landing_would_do_and_changes_nothing() {
    let server = TestServer::new().await;
    let project = server.project().await;
    let preview = async || server.call("get", "/api/projects/PROJ-001/landing", "").await;
    assert_eq!(refusal(&preview().await), (StatusCode::UNPROCESSABLE_ENTITY, "nothing-to-land".into()));
    server.merged(&project, "README.md", "by an agent\n").await;
    let main = server.sample.repository().ref_sha("main").unwrap().unwrap();
    let seen = preview().await.json();
    assert_eq!((&seen["way"]["is"], &seen["checkout"]["is"], &seen["base"]), (&json!("fast_forward"), &json!("updated"), &json!(main)));

    server.sample.write("README.md", "by the human\n");
    let seen = preview().await.json();
    assert_eq!(seen["checkout"], json!({"is": "blocked", "files": {"changed": ["README.md"]}}));
    assert_eq!(refusal(&land(&server).await).1, "checkout-dirty", "as landing says");
    server.sample.commit_all("mine");
    let seen = preview().await.json();
    assert_eq!((&seen["way"], &seen["checkout"]["is"]), (&json!({"is": "conflict", "paths": ["README.md"]}), &json!("updated")));
    assert_eq!(refusal(&land(&server).await).1, "land-conflict", "as landing says");
    let left = server.state.db.project(&project).await.unwrap().integration_head.unwrap();
    server.sample.set_branch("side", &left);
    let foreign = server.sample.commit_on("side", &[("evil.txt", Some("evil"))], "not reviewed");
    server.sample.set_branch("vibe-relay/PROJ-001", &foreign);
    let seen = preview().await.json();
    assert_eq!((&seen["way"]["is"], &seen["way"]["commits"][0]["subject"]), (&json!("unapproved"), &json!("not reviewed")));
}
