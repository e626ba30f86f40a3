//! The merge queue's step in real repositories with a real store.

use db::Caller;
use domain::board::comment::AuthorRole;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use repo::testing::{commit_all_in, write_in};

use super::*;
use crate::fixture::TestBoard;

mod signature;
mod squash;

const PROJECT_BRANCH: &str = "vibe-relay/PROJ-001";

async fn status(board: &TestBoard, task: &TaskId) -> Status {
    board.read(task).await.card.status
}

#[tokio::test]
async fn approved_work_is_merged_and_its_task_is_done() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (_, sha) = board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    merge(&board.context(), &task).await.unwrap();
    let head = board.tip(PROJECT_BRANCH).unwrap();
    let commits = board.repository().log(&board.tip("main").unwrap(), &head, 9).unwrap();
    let subjects: Vec<&str> = commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["Merge TASK-001: Add a", "work"]);
    assert_eq!(commits[0].author, "Sam Sample");
    assert_eq!(board.project().await.integration_head.as_ref(), Some(&head));
    let done = board.read(&task).await;
    assert_eq!((done.card.status, done.merged_sha), (Status::Done, Some(sha)));
}

#[tokio::test]
async fn second_merge_changes_nothing() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    merge(&board.context(), &task).await.unwrap();
    let (head, seq) = (board.tip(PROJECT_BRANCH), board.db.latest());
    merge(&board.context(), &task).await.unwrap();
    assert_eq!((board.tip(PROJECT_BRANCH), board.db.latest()), (head, seq));
}

/// The server was killed between the repository and the store.
#[tokio::test]
async fn unrecorded_merge_is_recorded_later() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (_, sha) = board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    let identity = board.repository().identity("runner").unwrap();
    board.repository().merge(PROJECT_BRANCH, &board.repository().ref_sha(PROJECT_BRANCH).unwrap().unwrap(), &sha, "Merge", &identity).unwrap();
    let head = board.tip(PROJECT_BRANCH);
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(board.tip(PROJECT_BRANCH), head, "no second merge commit");
    assert_eq!(status(&board, &task).await, Status::Done);
    assert_eq!(board.project().await.integration_head, head);
}

#[tokio::test]
async fn conflict_returns_to_the_coder_with_its_files() {
    let board = TestBoard::new().await;
    let (first, second) = (board.task("Write README").await, board.task("Rewrite README").await);
    board.work(&first, &[("README.md", "one\n")]).await;
    let (_, sha) = board.work(&second, &[("README.md", "two\n"), ("other", "x")]).await;
    board.approve(&first).await;
    board.approve(&second).await;
    merge(&board.context(), &first).await.unwrap();
    let head = board.tip(PROJECT_BRANCH);
    merge(&board.context(), &second).await.unwrap();
    assert_eq!(board.tip(PROJECT_BRANCH), head);
    let back = board.read(&second).await;
    assert_eq!((back.card.status, back.card.approved_sha, back.review_rounds), (Status::InProgress, None, 1));
    let comments = board.db.comments(&second).await.unwrap();
    let last = comments.last().unwrap();
    assert_eq!(last.author_role, AuthorRole::Runner);
    insta::assert_snapshot!(last.content.replace(&sha, "SHA").replace(&sha[..7], "SHA"), @r"
    Merging SHA into vibe-relay/PROJ-001 conflicts in:

    - README.md

    README.md:

    ```
    <<<<<<< SHA
    two
    =======
    one
    >>>>>>> vibe-relay/PROJ-001
    ```

    Run `git merge vibe-relay/PROJ-001` in your worktree, resolve the conflicts, run the tests, commit, and move the task to review again.
    ");
    // The coder's next run follows the comment in its own checkout.
    let (site, _, _) = board.agent(&second, AgentKind::Coder).await;
    assert!(site.path.join("other").exists());
    assert_eq!(Some(site.base), head);
}

#[tokio::test]
async fn conflict_lists_at_most_fifty_files() {
    let board = TestBoard::new().await;
    let names: Vec<String> = (0..60).map(|number| format!("{number:02}-{}", "long".repeat(50))).collect();
    let files = |content: &'static str| names.iter().map(|name| (name.as_str(), content)).collect::<Vec<_>>();
    let (first, second) = (board.task("First").await, board.task("Second").await);
    board.work(&first, &files("one")).await;
    board.work(&second, &files("two")).await;
    board.approve(&first).await;
    board.approve(&second).await;
    merge(&board.context(), &first).await.unwrap();
    merge(&board.context(), &second).await.unwrap();
    let comments = board.db.comments(&second).await.unwrap();
    let text = &comments.last().unwrap().content;
    assert!(text.contains("- 49-long") && !text.contains("- 50-long") && text.contains("\n- and 10 more\n"), "{text}");
}

#[tokio::test]
async fn moved_branch_voids_the_approval() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (path, _) = board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    let before = project_branch(&board.db, &board.project).await.unwrap().1;
    write_in(&path, "sneaked", "in");
    commit_all_in(&path, "after the approval");
    merge(&board.context(), &task).await.unwrap();
    let card = board.read(&task).await.card;
    assert_eq!((card.status, card.approved_sha), (Status::InReview, None));
    assert_eq!(board.tip(PROJECT_BRANCH), Some(before));
}

#[tokio::test]
async fn approved_commit_is_merged_without_its_branch() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    board.delete_branch("vr/TASK-001/work");
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
}

#[tokio::test]
async fn unapproved_task_is_not_merged() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    board.move_to(&Caller::owner(), &task, Status::InProgress, Some("not yet")).await;
    let before = board.branches();
    merge(&board.context(), &task).await.unwrap();
    assert_eq!((status(&board, &task).await, board.branches()), (Status::InProgress, before));
}

#[tokio::test]
async fn empty_diff_is_done_without_a_commit() {
    let board = TestBoard::new().await;
    let task = board.task("Nothing to do").await;
    let (site, reserved, coder) = board.agent(&task, AgentKind::Coder).await;
    board.db.add_comment(&coder, &task, "It is there already.", None).await.unwrap();
    board.move_to(&coder, &task, Status::InReview, None).await;
    board.end(&reserved).await;
    board.approve(&task).await;
    merge(&board.context(), &task).await.unwrap();
    assert_eq!((status(&board, &task).await, board.tip(PROJECT_BRANCH)), (Status::Done, Some(site.base)));
}

/// The human's checkout of the project branch has changes, which a merge must not overwrite.
#[tokio::test]
async fn changes_in_a_humans_checkout_block_the_merge() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("README.md", "theirs\n")]).await;
    board.approve(&task).await;
    std::fs::write(board.sample.git_dir().join("HEAD"), "ref: refs/heads/vibe-relay/PROJ-001\n").unwrap();
    board.sample.write("README.md", "the person's\n");
    let error = merge(&board.context(), &task).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Repository { error: RepoError::CheckedOut { .. } }), "{error}");
    assert!(board.read(&task).await.card.is_approved(), "the human can retry it");
    assert_eq!(board.sample.read("README.md").as_deref(), Some("the person's\n"));
}
