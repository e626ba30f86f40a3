//! Commits on the project branch that passed no review: whoever made them, nothing goes on before the person has seen them.

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::wire::TaskView;
use serde_json::{Value, json};
use tests::git::git;
use tests::relay::Relay;

use crate::scene::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/foreign.json");
const BRANCH: &str = "vibe-relay/PROJ-001";

async fn asks(relay: &Relay, project: &ProjectId, task: &TaskId) -> Card {
    let board = relay.until(project, "the person is asked", |board: &Board| board.card(task).unwrap().attention.is_some()).await;
    board.card(task).unwrap().clone()
}

fn files(relay: &Relay) -> Vec<String> {
    let files = git(&relay.repository(), &["ls-tree", "--name-only", BRANCH]).unwrap();
    files.lines().filter(|name| name.starts_with("TASK")).map(str::to_owned).collect()
}

#[tokio::test]
async fn what_a_reviewer_adds_itself_is_merged_with_nothing() {
    let relay = scene::scripted(SCENARIO).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let first = add(&relay, &project, "Sneak something in").await;
    let card = asks(&relay, &project, &first).await;
    let attention = card.attention.clone().unwrap();
    assert_eq!((attention.kind, card.status, card.is_approved()), (AttentionKind::Repository, Status::InReview, true));
    assert!(attention.detail.contains("“Nothing to see”"), "{}", attention.detail);
    assert_eq!(files(&relay), ["TASK-001.evil"]);

    let second = add(&relay, &project, "Errand").await;
    let waits = |board: &Board| board.card(&second).unwrap().wait_reason == Some(WaitReason::UnapprovedCommits { task: first.clone() });
    relay.until(&project, "the other card says what it waits for", waits).await;
    assert_eq!(relay.runs(&second).await.unwrap().len(), 0);

    git(&relay.repository(), &["branch", "-q", "-f", BRANCH, "main"]).unwrap();
    let _: Value = relay.post(&format!("/api/tasks/{first}/comments"), &json!({"content": "I took it back."})).await.unwrap();
    done(&relay, &project, &first).await;
    done(&relay, &project, &second).await;
    assert_eq!(files(&relay), ["TASK-001.txt", "TASK-002.txt"]);

    let third = add(&relay, &project, "Sneak in what is wanted").await;
    asks(&relay, &project, &third).await;
    let _: TaskView = relay.post(&format!("/api/tasks/{third}/retry"), &json!({})).await.unwrap();
    done(&relay, &project, &third).await;
    assert_eq!(files(&relay), ["TASK-001.txt", "TASK-002.txt", "TASK-003.evil", "TASK-003.txt"]);
}
