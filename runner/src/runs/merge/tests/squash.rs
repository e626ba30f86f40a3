//! Squashed work: one commit on the project branch, and everything that asks whether work was merged still answers right.

use domain::runs::profile::{MergeStyle, Profile};
use domain::wire::ProjectPatch;
use repo::SQUASHED_PREFIX;

use super::*;

async fn squashing() -> TestBoard {
    let board = TestBoard::new().await;
    let profile = Profile { merge_style: MergeStyle::Squash, ..Profile::default() };
    let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
    board.db.edit_project(&Caller::owner(), &board.project.id, patch, None).await.unwrap();
    board
}

fn subjects(board: &TestBoard) -> Vec<String> {
    let commits = board.repository().log(&board.tip("main").unwrap(), &board.tip(PROJECT_BRANCH).unwrap(), 9).unwrap();
    commits.into_iter().map(|commit| commit.subject).collect()
}

async fn squashed(board: &TestBoard, title: &str, files: &[(&str, &str)]) -> (TaskId, Sha) {
    let task = board.task(title).await;
    let (_, sha) = board.work(&task, files).await;
    board.approve(&task).await;
    merge(&board.context(), &task).await.unwrap();
    (task, sha)
}

#[tokio::test]
async fn work_is_one_commit_and_its_task_is_done() {
    let board = squashing().await;
    let (task, sha) = squashed(&board, "Add a", &[("a", "a")]).await;
    assert_eq!(subjects(&board), ["Add a"]);
    let head = board.tip(PROJECT_BRANCH).unwrap();
    assert_eq!(board.repository().squashed_head(&head).unwrap(), Some(sha.clone()));
    let done = board.read(&task).await;
    assert_eq!((done.card.status, done.merged_sha), (Status::Done, Some(sha)));
    assert_eq!(board.project().await.integration_head, Some(head));
}

#[tokio::test]
async fn cleanup_rescues_nothing_of_squashed_work_and_keeps_its_commit() {
    let board = squashing().await;
    let (task, sha) = squashed(&board, "Add a", &[("a", "a")]).await;
    assert_eq!(board.clean(&task).await, None, "nothing is unmerged");
    assert_eq!(board.tip("vr/TASK-001/work"), None, "the branch is gone");
    assert_eq!(board.kept(&format!("{SQUASHED_PREFIX}PROJ-001"), "a").as_deref(), Some("a"));
    let before = board.repository().before_merge(PROJECT_BRANCH, &sha).unwrap();
    assert_eq!(before, board.tip("main"), "the changes of the task can still be shown");
}

#[tokio::test]
async fn commits_after_the_squash_are_rescued() {
    let board = squashing().await;
    let task = board.task("Add a").await;
    let (path, _) = board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    merge(&board.context(), &task).await.unwrap();
    write_in(&path, "late", "work");
    commit_all_in(&path, "after the merge");
    let kept = board.clean(&task).await.unwrap();
    assert_eq!(board.kept(&kept, "late").as_deref(), Some("work"));
}

/// The record says merged, but a person removed the commit from the project branch and accepted that.
#[tokio::test]
async fn work_that_left_the_project_branch_is_rescued() {
    let board = squashing().await;
    let before = project_branch(&board.db, &board.project().await).await.unwrap().1;
    let (task, sha) = squashed(&board, "Add a", &[("a", "a")]).await;
    let head = board.tip(PROJECT_BRANCH).unwrap();
    board.repository().move_ref(PROJECT_BRANCH, Some(&head), &before, "rewound").unwrap();
    board.db.record_branch_tip(&board.project.id, PROJECT_BRANCH, Some(&head), &before).await.unwrap();
    let kept = board.clean(&task).await.unwrap();
    assert!(kept.ends_with(&sha[..12]), "{kept}");
}

#[tokio::test]
async fn dependent_starts_from_the_squashed_work() {
    let board = squashing().await;
    squashed(&board, "Add a", &[("a", "one\n")]).await;
    let second = board.task("Change a").await;
    let (path, _) = board.work(&second, &[("a", "two\n")]).await;
    board.approve(&second).await;
    merge(&board.context(), &second).await.unwrap();
    assert!(path.join("a").exists());
    assert_eq!(subjects(&board), ["Change a", "Add a"]);
}

/// A squashed commit is not an ancestor of the project branch, so work that went on from it would conflict with itself.
#[tokio::test]
async fn reopened_task_goes_on_from_the_project_branch() {
    for is_cleaned in [false, true] {
        let board = squashing().await;
        let (task, _) = squashed(&board, "Add a", &[("a", "one\n")]).await;
        if is_cleaned {
            board.clean(&task).await;
        }
        board.move_to(&Caller::owner(), &task, Status::InProgress, Some("Say two.")).await;
        assert_eq!(board.db.wants_new_tree(&task).await.unwrap(), !is_cleaned);
        if !is_cleaned {
            assert_eq!(board.clean(&task).await, None, "as the start of a run does");
        }
        board.work(&task, &[("a", "two\n")]).await;
        board.approve(&task).await;
        merge(&board.context(), &task).await.unwrap();
        assert_eq!((status(&board, &task).await, subjects(&board)), (Status::Done, vec!["Add a".to_owned(), "Add a".to_owned()]));
        assert_eq!(board.clean(&task).await, None);
    }
}

/// The server was killed between the repository and the store.
#[tokio::test]
async fn unrecorded_squash_is_recorded_later() {
    let board = squashing().await;
    let task = board.task("Add a").await;
    let (_, sha) = board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    let (repository, from) = (board.repository(), project_branch(&board.db, &board.project().await).await.unwrap().1);
    repository.squash(PROJECT_BRANCH, &from, &sha, "Add a\n\nTask: TASK-001\n", &repository.identity("runner").unwrap()).unwrap();
    let head = board.tip(PROJECT_BRANCH);
    merge(&board.context(), &task).await.unwrap();
    assert_eq!((board.tip(PROJECT_BRANCH), status(&board, &task).await), (head, Status::Done), "no second commit");
}

#[tokio::test]
async fn forged_squash_needs_the_person() {
    let board = squashing().await;
    let task = board.task("Add a").await;
    let (_, sha) = board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    let from = project_branch(&board.db, &board.project().await).await.unwrap().1;
    let other = board.sample.commit_on("other", &[("evil", Some("x"))], "other");
    let forged = board.sample.commit_as(&other, &[&from], &format!("Add a\n\nTask: TASK-001\nSquashed-commit: {sha}\n"));
    board.sample.set_branch(PROJECT_BRANCH, &forged);
    assert!(matches!(project_branch(&board.db, &board.project().await).await, Err(CheckoutError::UnapprovedCommits(_))));
}
