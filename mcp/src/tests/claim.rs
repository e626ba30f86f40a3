//! Claims of files over the tools: one name for each file, one holder, and what a hook reads.

use std::os::unix::fs::symlink;

use domain::board::status::Status;
use domain::team::role::Role;
use domain::warroom::claim::ClaimMode;
use domain::wire::ProjectPatch;
use serde_json::json;

use super::fixture::{Board, PERSON, done, refused};

#[tokio::test]
async fn every_alias_of_a_file_is_one_claim() {
    let board = Board::new().await;
    board.sample.write("src/lib.rs", "one");
    symlink("lib.rs", board.sample.top().join("src/alias.rs")).unwrap();
    let (mara, ole) = (board.agent("mara", &[]).await, board.agent("ole", &[]).await);
    let server = board.serve().await;
    let (mara, ole) = (server.modern(&mara).await, server.modern(&ole).await);
    let claimed = done(&mara, "claim_file", json!({"agent_name": "mara", "file_path": "src/lib.rs"})).await;
    insta::assert_snapshot!(claimed.text.lines().next().unwrap(), @"src/lib.rs is yours. release_file passes it on.");
    let absolute = board.sample.top().join("src/lib.rs");
    for alias in ["./src//lib.rs", "SRC/Lib.rs", "src/alias.rs", "src/", "src/*.rs", absolute.to_str().unwrap()] {
        let text = refused(&ole, "claim_file", json!({"file_path": alias})).await;
        assert!(text.contains("is claimed by mara (since ") && text.contains("Work on other files."), "{alias}: {text}");
    }
    let listed = done(&ole, "get_claims", json!({})).await;
    assert_eq!(listed.data["claims"][0]["path"], "src/lib.rs", "{}", listed.text);
    assert_eq!(listed.data["waits"].as_array().unwrap().len(), 3, "equal paths are one wait: {}", listed.text);
    done(&mara, "release_file", json!({"file_path": absolute})).await;
    let inbox = done(&ole, "check_inbox", json!({})).await.text;
    assert!(inbox.contains("[CLAIM] src/lib.rs is yours now: mara released it."), "{inbox}");
}

#[tokio::test]
async fn impossible_claims_are_refused() {
    let board = Board::new().await;
    let other = Board::new().await;
    symlink("/etc", board.sample.top().join("etc")).unwrap();
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let foreign = other.sample.top().join("README.md");
    for outside in ["../../etc", "/etc/passwd", "etc/passwd", foreign.to_str().unwrap()] {
        let text = refused(&mara, "claim_file", json!({"file_path": outside})).await;
        assert!(text.contains("is outside of the repository"), "{outside}: {text}");
    }
    for (given, said) in [
        ("", "the path is empty"),
        ("**", "claims the whole repository"),
        (".", "claims the whole repository"),
        (".git/config", "inside the .git folder"),
    ] {
        let text = refused(&mara, "claim_file", json!({"file_path": given})).await;
        assert!(text.contains(said), "{given}: {text}");
    }
    let long = "x".repeat(1 << 20);
    assert!(refused(&mara, "claim_file", json!({"file_path": long})).await.contains("at most 512 are allowed"));
    assert!(refused(&mara, "claim_file", json!({"file_path": "a\u{0}b"})).await.contains("a control character"));
    assert_eq!(done(&mara, "get_claims", json!({})).await.text.lines().next().unwrap(), "No claims.");
}

#[tokio::test]
async fn claim_is_taken_away_by_leads_and_persons_with_a_reason() {
    let board = Board::new().await;
    let (mara, lena) = (board.agent("mara", &[]).await, board.agent("lena", &[Role::Lead]).await);
    let server = board.serve().await;
    let (mara, lena, person) = (server.modern(&mara).await, server.modern(&lena).await, server.modern(PERSON).await);
    done(&mara, "claim_file", json!({"file_path": "a.rs"})).await;
    assert!(refused(&lena, "release_file", json!({"file_path": "a.rs"})).await.contains("only a lead or a person can take it away"));
    assert!(refused(&lena, "release_file", json!({"file_path": "a.rs", "force": true})).await.contains("needs a reason"));
    done(&lena, "release_file", json!({"file_path": "a.rs", "force": "true", "reason": "The release waits for it"})).await;
    assert!(done(&mara, "check_inbox", json!({})).await.text.contains("a.rs was taken from you by lena: The release waits for it"));
    done(&person, "claim_file", json!({"file_path": "b.rs"})).await;
    let text = refused(&mara, "release_file", json!({"file_path": "b.rs", "force": true, "reason": "mine"})).await;
    assert!(text.contains("b.rs is claimed by human"), "{text}");
}

#[tokio::test]
async fn hook_of_a_coder_claims_what_it_edits() {
    let board = Board::new().await;
    let (one, two) = (board.coder().await, board.coder().await);
    let server = board.serve().await;
    let (first, second) = (server.modern(&one.run.token).await, server.modern(&two.run.token).await);
    let in_first = one.worktree.join("src/lib.rs");
    let in_second = two.worktree.join("src/lib.rs");
    assert_eq!(done(&first, "claim_file", json!({"file_path": in_first})).await.text, "");
    for unclaimed in ["/tmp/notes.md".into(), two.worktree.clone()] {
        assert_eq!(done(&second, "claim_file", json!({"file_path": unclaimed})).await.text, "", "it is no file of a repository");
    }
    let text = refused(&second, "claim_file", json!({"file_path": in_second})).await;
    assert!(text.contains(&format!("src/lib.rs is claimed by coder-{} (since ", one.task)), "{text}");
    let patch = ProjectPatch { claim_mode: Some(ClaimMode::Advisory), ..ProjectPatch::default() };
    board.db.edit_project(&db::Caller::owner(), &board.project.id, patch, None).await.unwrap();
    let warned = done(&second, "claim_file", json!({"file_path": in_second})).await.text;
    assert!(warned.contains("is claimed by") && warned.contains("you are the first in line"), "{warned}");
    // Only who holds what another agent waits for has something to pass on.
    for (client, passes_on) in [(&first, true), (&second, false)] {
        let listed: Vec<String> = client.list_all_tools().await.unwrap().iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(listed.contains(&"release_file".to_owned()), passes_on, "{listed:?}");
        assert!(!listed.contains(&"claim_file".to_owned()), "{listed:?}");
    }
    board
        .db
        .move_task(&db::Caller::owner(), &one.task, db::MoveRequest::to(Status::Backlog), domain::runs::evidence::EvidenceResult::Nothing)
        .await
        .unwrap();
}

#[tokio::test]
async fn hook_takes_no_notice_from_the_model() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let (client, person) = (server.modern(&coder.run.token).await, server.modern(PERSON).await);
    done(&client, "get_my_tasks", json!({})).await;
    done(&person, "add_comment", json!({"task_id": coder.task, "content": "Use the other colour", "author_role": "human"})).await;
    assert_eq!(done(&client, "claim_file", json!({"file_path": "a.rs"})).await.text, "");
    let next = done(&client, "get_my_tasks", json!({})).await.text;
    assert!(next.contains("Use the other colour"), "{next}");
}
