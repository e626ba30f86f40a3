//! Batches with real checks: how often a check runs, who is sent back, and what a killed server leaves.

use std::collections::BTreeSet;
use std::fs;

use db::Caller;
use domain::board::status::Status;
use domain::runs::check::{CheckState, MAX_MERGE_BATCH};
use domain::runs::profile::{MergeStyle, Profile};

use super::*;
use crate::fixture::checked::Checked;

const PROJECT_BRANCH: &str = "vibe-relay/PROJ-001";
/// Writes down the files that it sees, and fails if one is wrong.
const CHECK: &str = "echo $(ls) >> @/runs; for file in *; do grep -q wrong $file && { echo $file is wrong; exit 1; }; done; true";

/// Approves one task for each content, which adds a file of its own.
async fn approved(checked: &Checked, contents: &[&str]) -> Vec<TaskId> {
    let mut tasks = Vec::new();
    for (number, content) in contents.iter().enumerate() {
        tasks.push(checked.approved(&[(&format!("file{number}"), content)]).await);
    }
    tasks
}

async fn merge_tasks(checked: &Checked, tasks: &[TaskId]) {
    merge_all(&checked.context, &tasks[0], &tasks[1..]).await.unwrap();
}

async fn statuses(checked: &Checked, tasks: &[TaskId]) -> Vec<Status> {
    let mut statuses = Vec::new();
    for task in tasks {
        statuses.push(checked.status(task).await);
    }
    statuses
}

/// How many sets of files were checked, and how often a check was started: one that fails runs twice.
fn runs(checked: &Checked) -> (usize, usize) {
    let text = fs::read_to_string(checked.beside("runs")).unwrap_or_default();
    (text.lines().collect::<BTreeSet<_>>().len(), text.lines().count())
}

/// The subjects of the first parents of the project branch, newest first.
fn merges(checked: &Checked) -> Vec<String> {
    let repository = checked.board.repository();
    let (mut at, base) = (checked.board.tip(PROJECT_BRANCH).unwrap(), checked.board.tip("main").unwrap());
    let mut subjects = Vec::new();
    while at != base {
        let parent = repository.parents_of(&at).unwrap().remove(0);
        subjects.push(repository.log(&parent, &at, 1).unwrap().remove(0).subject);
        at = parent;
    }
    subjects
}

#[tokio::test]
async fn eight_green_tasks_are_checked_once() {
    let checked = Checked::new(&[], &[CHECK]).await;
    let tasks = approved(&checked, &["right"; MAX_MERGE_BATCH]).await;
    merge_tasks(&checked, &tasks).await;
    assert_eq!(runs(&checked), (1, 1));
    assert_eq!(statuses(&checked, &tasks).await, [Status::Done; MAX_MERGE_BATCH]);
    let expected: Vec<String> = tasks.iter().rev().map(|task| format!("Merge {task}: Add a")).collect();
    assert_eq!(merges(&checked), expected, "each has its own merge");
    let head = checked.board.tip(PROJECT_BRANCH).unwrap();
    assert_eq!(checked.board.project().await.integration_head.as_ref(), Some(&head));
    for task in &tasks {
        let card = checked.board.read(task).await.card;
        assert_eq!((card.checks.len(), card.checks[0].state), (1, CheckState::Passed));
        assert_eq!(card.checks[0].tree, checked.board.repository().tree_of(&head).unwrap(), "the card names the files that were checked");
    }
}

/// One check of all of them, and one for each halving.
#[tokio::test]
async fn one_red_task_of_eight_is_found_by_halving() {
    for wrong in [0, 3, 7] {
        let checked = Checked::new(&[], &[CHECK]).await;
        let mut contents = ["right"; MAX_MERGE_BATCH];
        contents[wrong] = "wrong";
        let tasks = approved(&checked, &contents).await;
        merge_tasks(&checked, &tasks).await;
        let (trees, starts) = runs(&checked);
        assert!(trees <= 1 + MAX_MERGE_BATCH.ilog2() as usize, "{wrong}: {trees} sets of files");
        assert!(starts <= 2 * trees, "{wrong}: {starts} starts");
        let mut expected = [Status::InReview; MAX_MERGE_BATCH];
        expected[..wrong].fill(Status::Done);
        expected[wrong] = Status::InProgress;
        assert_eq!(statuses(&checked, &tasks).await, expected, "{wrong}");
        let back = checked.board.read(&tasks[wrong]).await;
        assert_eq!((back.card.checks[0].state, back.review_rounds), (CheckState::Failed, 1));
        let comment = checked.board.db.comments(&tasks[wrong]).await.unwrap().pop().unwrap().content;
        assert!(
            comment.contains("merged into vibe-relay/PROJ-001 it fails these checks") && comment.contains(&format!("    file{wrong} is wrong\n"))
        );

        let rest = &tasks[wrong + 1..];
        if !rest.is_empty() {
            merge_tasks(&checked, rest).await;
            assert_eq!(runs(&checked).0, trees + 1, "one more check for the others");
        }
        expected[wrong + 1..].fill(Status::Done);
        assert_eq!(statuses(&checked, &tasks).await, expected, "{wrong}");
    }
}

#[tokio::test]
async fn every_red_task_of_a_batch_goes_back_alone() {
    let checked = Checked::new(&[], &[CHECK]).await;
    let tasks = approved(&checked, &["right", "wrong", "right", "wrong", "right"]).await;
    for from in [0, 2, 4] {
        merge_tasks(&checked, &tasks[from..]).await;
    }
    let (done, back) = (Status::Done, Status::InProgress);
    assert_eq!(statuses(&checked, &tasks).await, [done, back, done, back, done]);
}

/// Two changes can pass alone and fail together.
#[tokio::test]
async fn later_task_of_two_that_fail_together_goes_back() {
    let checked = Checked::new(&[], &["test ! -e file0 || test ! -e file2"]).await;
    let tasks = approved(&checked, &["a", "b", "c"]).await;
    merge_tasks(&checked, &tasks).await;
    assert_eq!(statuses(&checked, &tasks).await, [Status::Done, Status::Done, Status::InProgress]);
}

#[tokio::test]
async fn conflict_leaves_the_batch_and_goes_back_alone() {
    let checked = Checked::new(&[], &[CHECK]).await;
    let first = checked.approved(&[("a", "one\n")]).await;
    let second = checked.approved(&[("a", "two\n")]).await;
    let third = checked.approved(&[("b", "three\n")]).await;
    let tasks = [first, second, third];
    merge_tasks(&checked, &tasks).await;
    assert_eq!(statuses(&checked, &tasks).await, [Status::Done, Status::InReview, Status::Done]);
    merge_tasks(&checked, &tasks[1..2]).await;
    assert_eq!(statuses(&checked, &tasks).await[1], Status::InProgress);
    assert_eq!(runs(&checked), (1, 1), "a conflict needs no check");
    let comment = checked.board.db.comments(&tasks[1]).await.unwrap().pop().unwrap().content;
    assert!(comment.contains("conflicts in:\n\n- a\n"), "{comment}");
}

#[tokio::test]
async fn moved_branch_is_not_part_of_a_batch() {
    let checked = Checked::new(&[], &[CHECK]).await;
    let tasks = approved(&checked, &["a", "b", "c"]).await;
    checked.board.sample.commit_on(&checked.board.read(&tasks[1]).await.branch.unwrap(), &[("later", Some("x"))], "After the approval");
    merge_tasks(&checked, &tasks).await;
    assert_eq!(statuses(&checked, &tasks).await, [Status::Done, Status::InReview, Status::Done]);
    merge_tasks(&checked, &tasks[1..2]).await;
    let card = checked.board.read(&tasks[1]).await.card;
    assert_eq!((card.status, card.approved_sha), (Status::InReview, None));
}

#[tokio::test]
async fn batch_ends_when_one_of_its_tasks_is_taken_back() {
    let checked = Checked::new(&[], &["echo run >> @/runs; while [ ! -e @/go ]; do sleep 0.05; done"]).await;
    let tasks = approved(&checked, &["a", "b", "c"]).await;
    let before = checked.board.tip(PROJECT_BRANCH);
    let (context, ids) = (checked.context.clone(), tasks.clone());
    let step = tokio::spawn(async move { merge_all(&context, &ids[0], &ids[1..]).await });
    checked.until("the check", || checked.lines("runs") == 1).await;
    checked.board.move_to(&Caller::owner(), &tasks[1], Status::InProgress, Some("not yet")).await;
    step.await.unwrap().unwrap();
    assert_eq!(statuses(&checked, &tasks).await, [Status::InReview, Status::InProgress, Status::InReview]);
    assert_eq!(checked.board.tip(PROJECT_BRANCH), before);
    fs::write(checked.beside("go"), "").unwrap();
    merge_tasks(&checked, &[tasks[0].clone(), tasks[2].clone()]).await;
    assert_eq!(statuses(&checked, &tasks).await, [Status::Done, Status::InProgress, Status::Done]);
}

/// The next server makes the same batch and finds the check that still runs.
#[tokio::test]
async fn server_killed_during_the_check_of_a_batch_starts_no_second_one() {
    let checked = Checked::new(&[], &["echo run >> @/runs; while [ ! -e @/go ]; do sleep 0.05; done"]).await;
    let tasks = approved(&checked, &["a", "b", "c"]).await;
    let (context, ids) = (checked.context.clone(), tasks.clone());
    let server = tokio::spawn(async move { merge_all(&context, &ids[0], &ids[1..]).await });
    checked.until("the check", || checked.lines("runs") == 1).await;
    server.abort();
    let _ = server.await;
    fs::write(checked.beside("go"), "").unwrap();
    merge_tasks(&checked, &tasks).await;
    assert_eq!((statuses(&checked, &tasks).await, checked.lines("runs")), (vec![Status::Done; 3], 1));
}

/// The server was killed between the repository and the store.
#[tokio::test]
async fn unrecorded_batch_is_recorded_later() {
    for style in [MergeStyle::Merge, MergeStyle::Squash] {
        let checked = Checked::new(&[], &[]).await;
        checked.set(Profile { merge_style: style, ..Profile::default() }, &[], &[CHECK]).await;
        let tasks = approved(&checked, &["a", "b", "c"]).await;
        let batch = Batch::of(&checked.context, &tasks[0], &tasks[1..]).await.unwrap().unwrap();
        assert!(batch.search().await.unwrap().is_none());
        let head = batch.links[2].head.clone();
        assert!(batch.advance(&batch.links, &head).await.unwrap());
        assert_eq!(runs(&checked), (1, 1));
        for _ in 0..2 {
            merge_tasks(&checked, &tasks).await;
        }
        assert_eq!(statuses(&checked, &tasks).await, [Status::Done; 3], "{style}");
        assert_eq!(checked.board.tip(PROJECT_BRANCH), Some(head), "no second merge");
        assert_eq!(runs(&checked), (1, 1), "and no second check");
    }
}

/// Each commit of a batch has to be a real merge of approved work.
#[tokio::test]
async fn forged_commit_among_merges_is_not_approved() {
    let checked = Checked::new(&[], &[CHECK]).await;
    let tasks = approved(&checked, &["a", "b"]).await;
    let batch = Batch::of(&checked.context, &tasks[0], &tasks[1..]).await.unwrap().unwrap();
    let first = &batch.links[0];
    assert!(batch.advance(&batch.links[..1], &first.head).await.unwrap());
    checked.board.sample.commit_on(PROJECT_BRANCH, &[("forged", Some("x"))], "Between");
    let (repository, at) = (checked.board.repository(), checked.board.tip(PROJECT_BRANCH).unwrap());
    let identity = repository.identity("runner").unwrap();
    repository.merge(PROJECT_BRANCH, &at, &batch.links[1].sha, "Merge", &identity).unwrap();
    merge_tasks(&checked, &tasks).await;
    assert_eq!(statuses(&checked, &tasks).await, [Status::InReview; 2]);
    let attention = checked.board.read(&tasks[0]).await.card.attention.unwrap();
    assert!(attention.detail.contains("has unapproved commits"), "{}", attention.detail);
}
