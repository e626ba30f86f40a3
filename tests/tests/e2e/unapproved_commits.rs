//! Unapproved commits on the project branch: all work stops until the human has decided, no matter who made them.

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::wire::TaskView;
use serde_json::{Value, json};
use tests::git::git;
use tests::server::TestServer;

use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/unapproved_commits.json");
const BRANCH: &str = "vibe-relay/PROJ-001";

async fn needs_attention(server: &TestServer, project: &ProjectId, task: &TaskId) -> Card {
    let board = server.until(project, "the card needs attention", |board: &Board| board.card(task).unwrap().attention.is_some()).await;
    board.card(task).unwrap().clone()
}

fn files(server: &TestServer) -> Vec<String> {
    let files = git(&server.repository(), &["ls-tree", "--name-only", BRANCH]).unwrap();
    files.lines().filter(|name| name.starts_with("TASK")).map(str::to_owned).collect()
}

#[tokio::test]
async fn unapproved_commits_block_merges() {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let first = add(&server, &project, "Sneak something in").await;
    let card = needs_attention(&server, &project, &first).await;
    let attention = card.attention.clone().unwrap();
    assert_eq!((attention.kind, card.status, card.is_approved()), (AttentionKind::Repository, Status::InReview, true));
    assert!(attention.detail.contains("“Nothing to see”"), "{}", attention.detail);
    assert_eq!(files(&server), ["TASK-001.evil"]);

    let second = add(&server, &project, "Errand").await;
    let waits = |board: &Board| board.card(&second).unwrap().wait_reason == Some(WaitReason::UnapprovedCommits { task: first.clone() });
    server.until(&project, "the other card says what it waits for", waits).await;
    assert_eq!(server.runs(&second).await.unwrap().len(), 0);

    git(&server.repository(), &["branch", "-q", "-f", BRANCH, "main"]).unwrap();
    let _: Value = server.post(&format!("/api/tasks/{first}/comments"), &json!({"content": "I reset the branch."})).await.unwrap();
    done(&server, &project, &first).await;
    done(&server, &project, &second).await;
    assert_eq!(files(&server), ["TASK-001.txt", "TASK-002.txt"]);

    let third = add(&server, &project, "Sneak in what is wanted").await;
    needs_attention(&server, &project, &third).await;
    let _: TaskView = server.post(&format!("/api/tasks/{third}/retry"), &json!({})).await.unwrap();
    done(&server, &project, &third).await;
    assert_eq!(files(&server), ["TASK-001.txt", "TASK-002.txt", "TASK-003.evil", "TASK-003.txt"]);
}
