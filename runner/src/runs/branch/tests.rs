//! Approved and unapproved commits on the project branch, in real repositories with a real store.

use std::fs;

use db::Caller;
use domain::board::attention::{Attention, AttentionKind};
use domain::board::project::ProjectEvent;
use domain::board::status::Status;
use domain::event::Event;
use domain::runs::agent_kind::AgentKind;

use super::*;
use crate::fixture::TestBoard;
use crate::runs::checkout::clean;
use crate::runs::merge::merge;

const BRANCH: &str = "vibe-relay/PROJ-001";

/// A board with one merged and one approved task.
async fn approved() -> (TestBoard, TaskId) {
    let board = TestBoard::new().await;
    let (first, second) = (board.task("Add a").await, board.task("Add b").await);
    board.work(&first, &[("a", "a")]).await;
    board.approve(&first).await;
    merge(&board.context(), &first).await.unwrap();
    board.work(&second, &[("b", "b")]).await;
    board.approve(&second).await;
    (board, second)
}

fn evil(board: &TestBoard) -> Sha {
    board.sample.commit_on(BRANCH, &[("evil.txt", Some("evil"))], "Nothing to see\n\nhere")
}

async fn asked(board: &TestBoard, task: &TaskId) -> Option<Attention> {
    board.read(task).await.card.attention
}

async fn status(board: &TestBoard, task: &TaskId) -> Status {
    board.read(task).await.card.status
}

/// The text with known commits replaced by names.
fn named(text: &str, commits: &[(&str, &Sha)]) -> String {
    commits.iter().fold(text.to_owned(), |text, (name, sha)| text.replace(sha.as_str(), name).replace(&sha[..7], name))
}

#[tokio::test]
async fn unapproved_commits_block_merges_until_accepted() {
    let (board, task) = approved().await;
    let left = board.tip(BRANCH).unwrap();
    let tip = evil(&board);
    merge(&board.context(), &task).await.unwrap();
    let attention = asked(&board, &task).await.unwrap();
    assert_eq!((attention.kind, attention.tip.as_ref()), (AttentionKind::Repository, Some(&tip)));
    insta::assert_snapshot!(named(&attention.detail, &[("TIP", &tip), ("LEFT", &left)]), @"The project branch vibe-relay/PROJ-001 has unapproved commits: TIP “Nothing to see” by Sam Sample. No run starts from it and nothing is merged into it. Press Retry to accept it as it is, or restore it with `git branch -f vibe-relay/PROJ-001 LEFT`: work then continues automatically.");
    assert_eq!((board.tip(BRANCH), board.project().await.integration_head), (Some(tip.clone()), Some(left)));
    let seq = board.db.latest();
    merge(&board.context(), &task).await.unwrap();
    recheck(&board.db, &task).await.unwrap();
    assert_eq!((board.db.latest(), asked(&board, &task).await), (seq, Some(attention)), "the human is asked once");

    board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    let head = board.tip(BRANCH).unwrap();
    assert_eq!(board.repository().parents_of(&head).unwrap()[0], tip);
    assert_eq!(board.project().await.integration_head, Some(head));
    let moves = board.db.events_after(seq, None, 99).await.unwrap();
    let moves: Vec<Event> =
        moves.into_iter().map(|event| event.event).filter(|event| matches!(event, Event::Project(ProjectEvent::BranchMoved { .. }))).collect();
    assert_eq!(moves[0], ProjectEvent::BranchMoved { sha: tip }.into(), "the log records the acceptance");
}

#[tokio::test]
async fn project_branch_begins_at_the_snapshot_and_its_work_is_merged() {
    let sample = repo::testing::TestRepository::new();
    sample.write("README.md", "mine\n");
    let (repository, base) = (sample.repository(), sample.repository().ref_sha("main").unwrap().unwrap());
    let start = repository.start_with_snapshot(sample.top(), "main", &base, |_| false).unwrap();
    let board = TestBoard::beginning_at(sample, start.clone()).await;
    assert_eq!((board.tip(BRANCH), project_branch(&board.db, &board.project).await.unwrap().1), (None, start.clone().unwrap()));
    assert_eq!(board.tip(BRANCH), start);
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    merge(&board.context(), &task).await.unwrap();
    let head = board.tip(BRANCH).unwrap();
    assert_eq!(board.repository().parents_of(&head).unwrap()[0], start.unwrap());
    assert_eq!(board.repository().file_at(&head, "README.md").unwrap().as_deref(), Some(&b"mine\n"[..]));
}

#[tokio::test]
async fn restored_branch_continues_by_itself() {
    let (board, task) = approved().await;
    let left = board.tip(BRANCH).unwrap();
    evil(&board);
    merge(&board.context(), &task).await.unwrap();
    board.sample.set_branch(BRANCH, &left);
    recheck(&board.db, &task).await.unwrap();
    assert_eq!(asked(&board, &task).await, None);
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    assert_eq!(board.repository().file_at(&board.tip(BRANCH).unwrap(), "evil.txt").unwrap(), None);
}

#[tokio::test]
async fn restored_branch_can_be_retried() {
    let (board, task) = approved().await;
    let left = board.tip(BRANCH).unwrap();
    let tip = evil(&board);
    merge(&board.context(), &task).await.unwrap();
    board.sample.set_branch(BRANCH, &left);
    board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    // Accepting it then does not accept it later.
    let head = board.tip(BRANCH).unwrap();
    board.sample.set_branch(BRANCH, &tip);
    let error = project_branch(&board.db, &board.project).await.unwrap_err();
    assert!(matches!(error, CheckoutError::UnapprovedCommits(_)), "{error}");
    assert_eq!(board.project().await.integration_head, Some(head));
}

#[tokio::test]
async fn human_accepts_only_the_shown_tip() {
    let (board, task) = approved().await;
    evil(&board);
    merge(&board.context(), &task).await.unwrap();
    let newer = board.sample.commit_on(BRANCH, &[("more.txt", Some("evil"))], "And more");
    board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    merge(&board.context(), &task).await.unwrap();
    let attention = asked(&board, &task).await.unwrap();
    assert_eq!(attention.tip, Some(newer));
    assert!(attention.detail.contains("“And more”") && attention.detail.contains("“Nothing to see”"), "{}", attention.detail);
}

#[tokio::test]
async fn unapproved_commits_block_runs_and_one_card_asks() {
    let (board, _) = approved().await;
    let [one, two] = [board.task("One").await, board.task("Two").await];
    evil(&board);
    for phase in [AgentKind::Planner, AgentKind::Coder, AgentKind::Orchestrator] {
        let error = board.plan_checkout(&one, phase).await.unwrap_err();
        let CheckoutError::UnapprovedCommits(foreign) = error else { panic!("{error}") };
        request_decision(&board.db, &one, &foreign).await.unwrap();
        request_decision(&board.db, &two, &foreign).await.unwrap();
    }
    assert!(asked(&board, &one).await.is_some());
    assert_eq!(asked(&board, &two).await, None);
    let [one, two] = [board.read(&one).await, board.read(&two).await];
    assert!([&one, &two].iter().all(|task| task.branch.is_none() && task.card.runs == 0), "no attempt was made");
}

/// A reviewer merges the work itself and adds a file.
#[tokio::test]
async fn foreign_merge_counts_only_with_the_same_tree() {
    let (board, task) = approved().await;
    let left = board.tip(BRANCH).unwrap();
    let repository = board.repository();
    let sha = board.read(&task).await.card.approved_sha.unwrap();
    let identity = repository.identity("runner").unwrap();
    let work = board.sample.commit_on("aside", &[("evil.txt", Some("evil"))], "evil");
    let evil = board.sample.commit_as(&work, &[&left, &sha], "Merge TASK-002: Add b");
    board.sample.set_branch(BRANCH, &evil);
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(asked(&board, &task).await.unwrap().tip, Some(evil));

    board.sample.set_branch(BRANCH, &left);
    recheck(&board.db, &task).await.unwrap();
    repository.merge(BRANCH, &repository.ref_sha(BRANCH).unwrap().unwrap(), &sha, "Merged by hand", &identity).unwrap();
    let head = board.tip(BRANCH);
    assert_eq!(project_branch(&board.db, &board.project).await.unwrap().1, head.clone().unwrap(), "also for another card");
    merge(&board.context(), &task).await.unwrap();
    assert_eq!((status(&board, &task).await, board.tip(BRANCH)), (Status::Done, head));
}

#[tokio::test]
async fn fast_forward_to_the_approved_commit_is_approved() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (_, sha) = board.work(&task, &[("a", "a")]).await;
    board.sample.set_branch(BRANCH, &sha);
    let error = project_branch(&board.db, &board.project).await.unwrap_err();
    assert!(matches!(error, CheckoutError::UnapprovedCommits(_)), "it is not approved yet: {error}");
    board.approve(&task).await;
    merge(&board.context(), &task).await.unwrap();
    assert_eq!((status(&board, &task).await, board.tip(BRANCH)), (Status::Done, Some(sha)));
}

#[tokio::test]
async fn lost_merges_are_reported_and_can_be_restored() {
    let (board, task) = approved().await;
    let (main, left) = (board.tip("main").unwrap(), board.tip(BRANCH).unwrap());
    board.sample.set_branch(BRANCH, &main);
    merge(&board.context(), &task).await.unwrap();
    let attention = asked(&board, &task).await.unwrap();
    let merged = board.repository().parents_of(&left).unwrap().remove(1);
    insta::assert_snapshot!(named(&attention.detail, &[("MERGED", &merged), ("LEFT", &left)]), @"The project branch vibe-relay/PROJ-001 lacks merged commits: LEFT “Merge TASK-001: Add a” by Sam Sample, MERGED “work” by Sam Sample. No run starts from it and nothing is merged into it. Press Retry to accept it as it is, or restore it with `git branch -f vibe-relay/PROJ-001 LEFT`: work then continues automatically.");
    let kept = format!("refs/vibe-relay/rescue/PROJ-001/{}", &left[..12]);
    assert_eq!(board.kept(&kept, "a").as_deref(), Some("a"), "`git gc` spares it");
    assert!(board.db.owns_reference(&board.project.git_dir, &kept).await.unwrap());

    let other = board.sample.commit_on(BRANCH, &[("c", Some("c"))], "Instead");
    recheck(&board.db, &task).await.unwrap();
    board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    merge(&board.context(), &task).await.unwrap();
    let attention = asked(&board, &task).await.unwrap();
    insta::assert_snapshot!(named(&attention.detail, &[("MERGED", &merged), ("LEFT", &left), ("OTHER", &other)]), @"The project branch vibe-relay/PROJ-001 has unapproved commits: OTHER “Instead” by Sam Sample; and lacks merged commits: LEFT “Merge TASK-001: Add a” by Sam Sample, MERGED “work” by Sam Sample. No run starts from it and nothing is merged into it. Press Retry to accept it as it is, or restore it with `git branch -f vibe-relay/PROJ-001 LEFT`: work then continues automatically.");
    board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    let head = board.tip(BRANCH).unwrap();
    assert_eq!(board.repository().parents_of(&head).unwrap()[0], other, "the human accepted it");
}

#[tokio::test]
async fn recorded_tip_may_be_gone_from_the_repository() {
    let (board, task) = approved().await;
    let nowhere: Sha = "0123456789".repeat(4);
    let left = board.project().await.integration_head;
    board.db.record_branch_tip(&board.project.id, BRANCH, left.as_ref(), &nowhere).await.unwrap();
    merge(&board.context(), &task).await.unwrap();
    let detail = asked(&board, &task).await.unwrap().detail;
    assert!(detail.contains("“Merge TASK-001: Add a” by Sam Sample") && !detail.contains("git branch"), "{detail}");
    board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
}

/// The server was killed between the repository and the store, and the base moved on.
#[tokio::test]
async fn unrecorded_new_branch_is_approved() {
    let board = TestBoard::new().await;
    board.db.claim_reference(&board.project.git_dir, BRANCH, None).await.unwrap();
    let made = board.repository().ensure_project_branch(BRANCH, "main").unwrap();
    board.sample.commit_on("main", &[("b", Some("b"))], "the base moves on");
    assert_eq!(project_branch(&board.db, &board.project).await.unwrap(), (BRANCH.to_owned(), made));

    let board = TestBoard::new().await;
    board.db.claim_reference(&board.project.git_dir, BRANCH, None).await.unwrap();
    board.repository().ensure_project_branch(BRANCH, "main").unwrap();
    evil(&board);
    let error = project_branch(&board.db, &board.project).await.unwrap_err();
    assert!(matches!(error, CheckoutError::UnapprovedCommits(_)), "{error}");
}

#[tokio::test]
async fn at_most_five_commits_are_listed() {
    let (board, task) = approved().await;
    for number in 0..6 {
        board.sample.commit_on(BRANCH, &[("evil.txt", Some(&number.to_string()))], &format!("Commit {number} {}", "x".repeat(500)));
    }
    merge(&board.context(), &task).await.unwrap();
    let detail = asked(&board, &task).await.unwrap().detail;
    assert!(detail.contains("Commit 5") && detail.contains("Commit 1") && !detail.contains("Commit 0") && detail.contains(", and more."), "{detail}");
    assert!(detail.len() < 1200, "{} bytes", detail.len());
}

/// The human commits in a checkout of the project branch and accepts the result.
#[tokio::test]
async fn accepted_branch_updates_the_humans_checkout() {
    let board = TestBoard::new().await;
    let task = board.task("Add b").await;
    board.work(&task, &[("b", "b")]).await;
    board.approve(&task).await;
    fs::write(board.sample.git_dir().join("HEAD"), format!("ref: refs/heads/{BRANCH}\n")).unwrap();
    board.sample.write("theirs", "mine");
    board.sample.commit_all("My own");
    merge(&board.context(), &task).await.unwrap();
    assert!(asked(&board, &task).await.unwrap().detail.contains("“My own”"));
    board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    merge(&board.context(), &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    assert_eq!((board.sample.read("theirs").as_deref(), board.sample.read("b").as_deref()), (Some("mine"), Some("b")));
}

/// A finished task's work that only removable commits hold.
#[tokio::test]
async fn work_held_only_by_unapproved_commits_is_kept() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (path, sha) = board.work(&task, &[("a", "a")]).await;
    let identity = board.repository().identity("runner").unwrap();
    board.repository().merge(BRANCH, &board.repository().ref_sha(BRANCH).unwrap().unwrap(), &sha, "Merged by its own agent", &identity).unwrap();
    board.cancel(&task).await;
    let rescue = clean(&board.db, &board.project().await, &board.read(&task).await).await.unwrap().own.unwrap();
    assert_eq!(rescue, format!("refs/vibe-relay/rescue/TASK-001/{}", &sha[..12]));
    assert!(!path.exists());
    assert_eq!(board.kept(&rescue, "a").as_deref(), Some("a"));
}

#[tokio::test]
async fn unreadable_repository_is_retried_later() {
    let (board, task) = approved().await;
    evil(&board);
    merge(&board.context(), &task).await.unwrap();
    fs::rename(board.sample.git_dir(), board.sample.beside("away")).unwrap();
    recheck(&board.db, &task).await.unwrap();
    assert!(asked(&board, &task).await.is_some());
}

#[tokio::test]
async fn base_branch_is_followed_until_it_loses_commits() {
    let board = TestBoard::new().await;
    let began = board.tip("main").unwrap();
    assert_eq!(board.project().await.base_head, began);
    let next = board.sample.commit_on("main", &[("b", Some("b"))], "the base moves on");
    project_branch(&board.db, &board.project).await.unwrap();
    assert_eq!(board.project().await.base_head, next);
    board.sample.set_branch("main", &began);
    project_branch(&board.db, &board.project).await.unwrap();
    assert_eq!(board.project().await.base_head, next, "what was removed is remembered");
}

#[tokio::test]
async fn missing_base_branch_names_the_command_that_replaces_it() {
    let board = TestBoard::new().await;
    board.sample.set_branch("mainline", &board.tip("main").unwrap());
    board.sample.delete_branch("main");
    let error = project_branch(&board.db, &board.project).await.unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"the base branch main does not exist; similar branches: mainline. Name the branch that replaces it with `vibe-relay project edit PROJ-001 --base-branch BRANCH`, then press Retry.");
}

#[tokio::test]
async fn moved_repository_names_the_command_that_finds_it() {
    let board = TestBoard::new().await;
    fs::rename(board.sample.top(), board.sample.beside("moved")).unwrap();
    let error = project_branch(&board.db, &board.project).await.unwrap_err().to_string();
    let error = error.replace(board.sample.top().to_str().unwrap(), "SITE");
    insta::assert_snapshot!(error, @"the repository SITE/.git does not exist. Mount the drive that it is on, or name its new folder with `vibe-relay project relocate PROJECT FOLDER`.");
}
