//! Whose commits the project branch holds, in real repositories with a real store.

use std::fs;

use db::Caller;
use domain::board::attention::{Attention, AttentionKind};
use domain::board::status::Status;
use domain::event::Event;
use domain::runs::agent_kind::AgentKind;

use super::*;
use crate::checkout::clean;
use crate::fixture::Board;
use crate::merge::merge;

const BRANCH: &str = "vibe-relay/PROJ-001";

/// A board with one merged task, and one that is approved.
async fn approved() -> (Board, TaskId) {
    let board = Board::new().await;
    let (first, second) = (board.task("Add a").await, board.task("Add b").await);
    board.work(&first, &[("a", "a")]).await;
    board.approve(&first).await;
    merge(&board.db, &first).await.unwrap();
    board.work(&second, &[("b", "b")]).await;
    board.approve(&second).await;
    (board, second)
}

fn evil(board: &Board) -> Sha {
    board.sample.commit_on(BRANCH, &[("evil.txt", Some("evil"))], "Nothing to see\n\nhere")
}

async fn asked(board: &Board, task: &TaskId) -> Option<Attention> {
    board.read(task).await.card.attention
}

async fn status(board: &Board, task: &TaskId) -> Status {
    board.read(task).await.card.status
}

/// The text with every known commit by its name.
fn named(text: &str, commits: &[(&str, &Sha)]) -> String {
    commits.iter().fold(text.to_owned(), |text, (name, sha)| text.replace(sha.as_str(), name).replace(&sha[..7], name))
}

#[tokio::test]
async fn nothing_is_merged_into_what_nobody_approved_until_the_person_takes_it() {
    let (board, task) = approved().await;
    let left = board.tip(BRANCH).unwrap();
    let tip = evil(&board);
    merge(&board.db, &task).await.unwrap();
    let attention = asked(&board, &task).await.unwrap();
    assert_eq!((attention.kind, attention.tip.as_ref()), (AttentionKind::Repository, Some(&tip)));
    insta::assert_snapshot!(named(&attention.detail, &[("TIP", &tip), ("LEFT", &left)]), @"The project branch vibe-relay/PROJ-001 holds what nobody approved: TIP “Nothing to see” by Sam Sample. Nothing is begun from it or merged into it. Press Retry to take it as it is, or set it back with `git branch -f vibe-relay/PROJ-001 LEFT`: work then goes on by itself.");
    assert_eq!((board.tip(BRANCH), board.project().await.integration_head), (Some(tip.clone()), Some(left)));
    let seq = board.db.latest();
    merge(&board.db, &task).await.unwrap();
    look_again(&board.db, &task).await.unwrap();
    assert_eq!((board.db.latest(), asked(&board, &task).await), (seq, Some(attention)), "it is asked once");

    board.db.retry_task(&Caller::Human, &task).await.unwrap();
    merge(&board.db, &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    let head = board.tip(BRANCH).unwrap();
    assert_eq!(board.repository().parents_of(&head).unwrap()[0], tip);
    assert_eq!(board.project().await.integration_head, Some(head));
    let moves = board.db.events_after(seq, None, 99).await.unwrap();
    let moves: Vec<Event> = moves.into_iter().map(|event| event.event).filter(|event| matches!(event, Event::ProjectBranchMoved { .. })).collect();
    assert_eq!(moves[0], Event::ProjectBranchMoved { sha: tip }, "that it was taken is in the log");
}

#[tokio::test]
async fn a_branch_that_was_set_back_goes_on_by_itself() {
    let (board, task) = approved().await;
    let left = board.tip(BRANCH).unwrap();
    evil(&board);
    merge(&board.db, &task).await.unwrap();
    board.sample.set_branch(BRANCH, &left);
    look_again(&board.db, &task).await.unwrap();
    assert_eq!(asked(&board, &task).await, None);
    merge(&board.db, &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    assert_eq!(board.repository().file_at(&board.tip(BRANCH).unwrap(), "evil.txt").unwrap(), None);
}

#[tokio::test]
async fn a_branch_that_was_set_back_may_be_retried_too() {
    let (board, task) = approved().await;
    let left = board.tip(BRANCH).unwrap();
    let tip = evil(&board);
    merge(&board.db, &task).await.unwrap();
    board.sample.set_branch(BRANCH, &left);
    board.db.retry_task(&Caller::Human, &task).await.unwrap();
    merge(&board.db, &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    // What was taken then is not taken for ever.
    let head = board.tip(BRANCH).unwrap();
    board.sample.set_branch(BRANCH, &tip);
    let error = project_branch(&board.db, &board.project).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Foreign(_)), "{error}");
    assert_eq!(board.project().await.integration_head, Some(head));
}

#[tokio::test]
async fn the_person_takes_what_they_were_shown_and_no_more() {
    let (board, task) = approved().await;
    evil(&board);
    merge(&board.db, &task).await.unwrap();
    let newer = board.sample.commit_on(BRANCH, &[("more.txt", Some("evil"))], "And more");
    board.db.retry_task(&Caller::Human, &task).await.unwrap();
    merge(&board.db, &task).await.unwrap();
    let attention = asked(&board, &task).await.unwrap();
    assert_eq!(attention.tip, Some(newer));
    assert!(attention.detail.contains("“And more”") && attention.detail.contains("“Nothing to see”"), "{}", attention.detail);
}

#[tokio::test]
async fn no_run_begins_from_it_and_one_card_asks() {
    let (board, _) = approved().await;
    let [one, two] = [board.task("One").await, board.task("Two").await];
    evil(&board);
    for phase in [AgentKind::Planner, AgentKind::Coder, AgentKind::Orchestrator] {
        let error = board.site(&one, phase).await.unwrap_err();
        let CheckoutError::Foreign(foreign) = error else { panic!("{error}") };
        ask(&board.db, &one, &foreign).await.unwrap();
        ask(&board.db, &two, &foreign).await.unwrap();
    }
    assert!(asked(&board, &one).await.is_some());
    assert_eq!(asked(&board, &two).await, None);
    let [one, two] = [board.read(&one).await, board.read(&two).await];
    assert!([&one, &two].iter().all(|task| task.branch.is_none() && task.card.runs == 0), "no attempt was made");
}

/// A reviewer that merges the work itself, with something more in it.
#[tokio::test]
async fn a_merge_of_the_approved_commit_counts_as_ours_only_with_what_ours_would_hold() {
    let (board, task) = approved().await;
    let left = board.tip(BRANCH).unwrap();
    let repository = board.repository();
    let sha = board.read(&task).await.card.approved_sha.unwrap();
    let identity = repository.identity("runner").unwrap();
    let work = board.sample.commit_on("aside", &[("evil.txt", Some("evil"))], "evil");
    let evil = board.sample.commit_as(&work, &[&left, &sha], "Merge TASK-002: Add b");
    board.sample.set_branch(BRANCH, &evil);
    merge(&board.db, &task).await.unwrap();
    assert_eq!(asked(&board, &task).await.unwrap().tip, Some(evil));

    board.sample.set_branch(BRANCH, &left);
    look_again(&board.db, &task).await.unwrap();
    repository.merge(BRANCH, &repository.ref_sha(BRANCH).unwrap().unwrap(), &sha, "Merged by hand", &identity).unwrap();
    let head = board.tip(BRANCH);
    assert_eq!(project_branch(&board.db, &board.project).await.unwrap().1, head.clone().unwrap(), "also for another card");
    merge(&board.db, &task).await.unwrap();
    assert_eq!((status(&board, &task).await, board.tip(BRANCH)), (Status::Done, head));
}

#[tokio::test]
async fn a_branch_moved_on_to_the_approved_commit_holds_nothing_else() {
    let board = Board::new().await;
    let task = board.task("Add a").await;
    let (_, sha) = board.work(&task, &[("a", "a")]).await;
    board.sample.set_branch(BRANCH, &sha);
    let error = project_branch(&board.db, &board.project).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Foreign(_)), "it is not approved yet: {error}");
    board.approve(&task).await;
    merge(&board.db, &task).await.unwrap();
    assert_eq!((status(&board, &task).await, board.tip(BRANCH)), (Status::Done, Some(sha)));
}

#[tokio::test]
async fn a_branch_that_lost_what_was_merged_is_told_and_can_be_set_back() {
    let (board, task) = approved().await;
    let (main, left) = (board.tip("main").unwrap(), board.tip(BRANCH).unwrap());
    board.sample.set_branch(BRANCH, &main);
    merge(&board.db, &task).await.unwrap();
    let attention = asked(&board, &task).await.unwrap();
    let merged = board.repository().parents_of(&left).unwrap().remove(1);
    insta::assert_snapshot!(named(&attention.detail, &[("MERGED", &merged), ("LEFT", &left)]), @"The project branch vibe-relay/PROJ-001 lacks what was merged: LEFT “Merge TASK-001: Add a” by Sam Sample, MERGED “work” by Sam Sample. Nothing is begun from it or merged into it. Press Retry to take it as it is, or set it back with `git branch -f vibe-relay/PROJ-001 LEFT`: work then goes on by itself.");
    let kept = format!("refs/vibe-relay/rescue/PROJ-001/{}", &left[..12]);
    assert_eq!(board.kept(&kept, "a").as_deref(), Some("a"), "`git gc` spares it");
    assert!(board.db.owns_reference(&board.project.git_dir, &kept).await.unwrap());

    let other = board.sample.commit_on(BRANCH, &[("c", Some("c"))], "Instead");
    look_again(&board.db, &task).await.unwrap();
    board.db.retry_task(&Caller::Human, &task).await.unwrap();
    merge(&board.db, &task).await.unwrap();
    let attention = asked(&board, &task).await.unwrap();
    insta::assert_snapshot!(named(&attention.detail, &[("MERGED", &merged), ("LEFT", &left), ("OTHER", &other)]), @"The project branch vibe-relay/PROJ-001 holds what nobody approved: OTHER “Instead” by Sam Sample; and lacks what was merged: LEFT “Merge TASK-001: Add a” by Sam Sample, MERGED “work” by Sam Sample. Nothing is begun from it or merged into it. Press Retry to take it as it is, or set it back with `git branch -f vibe-relay/PROJ-001 LEFT`: work then goes on by itself.");
    board.db.retry_task(&Caller::Human, &task).await.unwrap();
    merge(&board.db, &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    let head = board.tip(BRANCH).unwrap();
    assert_eq!(board.repository().parents_of(&head).unwrap()[0], other, "the person wanted it so");
}

#[tokio::test]
async fn where_the_branch_was_left_may_be_gone_from_the_repository() {
    let (board, task) = approved().await;
    let nowhere: Sha = "0123456789".repeat(4);
    let left = board.project().await.integration_head;
    board.db.record_branch_tip(&board.project.id, BRANCH, left.as_ref(), &nowhere).await.unwrap();
    merge(&board.db, &task).await.unwrap();
    let detail = asked(&board, &task).await.unwrap().detail;
    assert!(detail.contains("“Merge TASK-001: Add a” by Sam Sample") && !detail.contains("git branch"), "{detail}");
    board.db.retry_task(&Caller::Human, &task).await.unwrap();
    merge(&board.db, &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
}

/// The server was killed between the repository and the store, and the base went on.
#[tokio::test]
async fn a_branch_that_was_made_and_not_recorded_is_ours() {
    let board = Board::new().await;
    board.db.claim_reference(&board.project.git_dir, BRANCH, None).await.unwrap();
    let made = board.repository().ensure_project_branch(BRANCH, "main").unwrap();
    board.sample.commit_on("main", &[("b", Some("b"))], "the base goes on");
    assert_eq!(project_branch(&board.db, &board.project).await.unwrap(), (BRANCH.to_owned(), made));

    let board = Board::new().await;
    board.db.claim_reference(&board.project.git_dir, BRANCH, None).await.unwrap();
    board.repository().ensure_project_branch(BRANCH, "main").unwrap();
    evil(&board);
    let error = project_branch(&board.db, &board.project).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Foreign(_)), "{error}");
}

#[tokio::test]
async fn five_commits_are_named_and_no_more() {
    let (board, task) = approved().await;
    for number in 0..6 {
        board.sample.commit_on(BRANCH, &[("evil.txt", Some(&number.to_string()))], &format!("Commit {number} {}", "x".repeat(500)));
    }
    merge(&board.db, &task).await.unwrap();
    let detail = asked(&board, &task).await.unwrap().detail;
    assert!(detail.contains("Commit 5") && detail.contains("Commit 1") && !detail.contains("Commit 0") && detail.contains(", and more."), "{detail}");
    assert!(detail.len() < 1200, "{} bytes", detail.len());
}

/// The person commits in their own checkout of the project branch, and says that it is right so.
#[tokio::test]
async fn the_persons_own_checkout_follows_when_they_took_what_they_committed() {
    let board = Board::new().await;
    let task = board.task("Add b").await;
    board.work(&task, &[("b", "b")]).await;
    board.approve(&task).await;
    fs::write(board.sample.git_dir().join("HEAD"), format!("ref: refs/heads/{BRANCH}\n")).unwrap();
    board.sample.write("theirs", "mine");
    board.sample.commit_all("My own");
    merge(&board.db, &task).await.unwrap();
    assert!(asked(&board, &task).await.unwrap().detail.contains("“My own”"));
    board.db.retry_task(&Caller::Human, &task).await.unwrap();
    merge(&board.db, &task).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    assert_eq!((board.sample.read("theirs").as_deref(), board.sample.read("b").as_deref()), (Some("mine"), Some("b")));
}

/// A finished task's work that is only in what the person may take back.
#[tokio::test]
async fn work_that_only_foreign_commits_hold_is_kept() {
    let board = Board::new().await;
    let task = board.task("Add a").await;
    let (path, sha) = board.work(&task, &[("a", "a")]).await;
    let identity = board.repository().identity("runner").unwrap();
    board.repository().merge(BRANCH, &board.repository().ref_sha(BRANCH).unwrap().unwrap(), &sha, "Merged by its own agent", &identity).unwrap();
    board.cancel(&task).await;
    let rescue = clean(&board.db, &board.project().await, &board.read(&task).await).await.unwrap().unwrap();
    assert_eq!(rescue, format!("refs/vibe-relay/rescue/TASK-001/{}", &sha[..12]));
    assert!(!path.exists());
    assert_eq!(board.kept(&rescue, "a").as_deref(), Some("a"));
}

#[tokio::test]
async fn a_repository_that_cannot_be_read_is_looked_at_later() {
    let (board, task) = approved().await;
    evil(&board);
    merge(&board.db, &task).await.unwrap();
    fs::rename(board.sample.git_dir(), board.sample.beside("away")).unwrap();
    look_again(&board.db, &task).await.unwrap();
    assert!(asked(&board, &task).await.is_some());
}
