//! Names, folders and kept work, in real repositories with a real store.

use std::fs;

use db::Caller;
use domain::board::status::Status;
use domain::board::task::NewTask;
use domain::id::TaskId;
use domain::runs::checkout::KeptWork;
use repo::testing::{TestRepository, commit_all_in, init_in, write_in};

use super::*;
use crate::fixture::TestBoard;

fn head(board: &TestBoard, path: &Path) -> Option<Sha> {
    board.repository().worktree_head(&checkout_name(path)).unwrap()
}

#[tokio::test]
async fn project_branch_is_created_once() {
    let board = TestBoard::new().await;
    let (name, tip) = project_branch(&board.db, &board.project).await.unwrap();
    assert_eq!((name.as_str(), Some(&tip)), ("vibe-relay/PROJ-001", board.tip("main").as_ref()));
    assert_eq!(board.project().await.integration_head, Some(tip));
    board.sample.commit_on("main", &[("b", Some("b"))], "the base moves on");
    let again = project_branch(&board.db, &board.project).await.unwrap();
    assert_ne!(Some(again.1), board.tip("main"), "it stays where it was");
    assert_eq!(board.branches(), ["main", "vibe-relay/PROJ-001"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_that_start_together_share_the_project_branch() {
    let sample = TestRepository::new();
    sample.set_branch("vibe-relay/PROJ-001", &sample.repository().ref_sha("main").unwrap().unwrap());
    let board = TestBoard::on(sample).await;
    let mut starts = tokio::task::JoinSet::new();
    for _ in 0..8 {
        // All start from the same project row.
        let (db, project) = (board.db.clone(), board.project.clone());
        starts.spawn(async move { project_branch(&db, &project).await.unwrap().0 });
    }
    for name in starts.join_all().await {
        assert_eq!(name, "vibe-relay/PROJ-001-2");
    }
    assert_eq!(board.branches(), ["main", "vibe-relay/PROJ-001", "vibe-relay/PROJ-001-2"]);
    assert_eq!(board.project().await.integration_branch, "vibe-relay/PROJ-001-2");
}

#[tokio::test]
async fn task_begins_at_the_branch_that_was_chosen_until_it_has_one_of_its_own() {
    let board = TestBoard::new().await;
    let idea = board.sample.commit_on("my-idea", &[("idea.txt", Some("half"))], "An idea");
    let new = NewTask { title: "Continue".to_owned(), start: true, from_branch: Some("my-idea".to_owned()), ..NewTask::default() };
    let task = board.db.create_task(&Caller::owner(), &board.project.id, new).await.unwrap().card.id;
    board.delete_branch("my-idea");
    let error = board.plan_checkout(&task, AgentKind::Coder).await.unwrap_err();
    assert_eq!(error.to_string(), "the branch my-idea, from which this task starts, does not exist; create it again, then press Retry");
    board.sample.set_branch("my-idea", &idea);
    let (path, work) = board.work(&task, &[("rest.txt", "the rest")]).await;
    assert!(path.join("idea.txt").exists());
    board.delete_branch("my-idea");
    let plan = board.plan_checkout(&task, AgentKind::Coder).await.unwrap();
    assert_ne!(plan.base, idea, "it is compared with the project branch, so its commits are reviewed");
    assert!(board.repository().is_ancestor(&idea, &work).unwrap());
}

#[tokio::test]
async fn deleted_project_branch_is_restored_with_its_merges() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    crate::runs::merge::merge(&board.context(), &task).await.unwrap();
    let merged = board.tip("vibe-relay/PROJ-001").unwrap();
    board.delete_branch("vibe-relay/PROJ-001");
    assert_eq!(project_branch(&board.db, &board.project).await.unwrap(), ("vibe-relay/PROJ-001".to_owned(), merged.clone()));
    assert_eq!(board.tip("vibe-relay/PROJ-001"), Some(merged));
}

#[tokio::test]
async fn existing_branch_with_a_tasks_name_stays_untouched() {
    let sample = TestRepository::new();
    let foreign = sample.commit_on("vr/TASK-001/work", &[("theirs", Some("x"))], "theirs");
    let board = TestBoard::on(sample).await;
    let task = board.task("Add a").await;
    let (path, sha) = board.work(&task, &[("a", "a")]).await;
    assert_eq!(board.read(&task).await.branch.as_deref(), Some("vr/TASK-001/work-2"));
    assert_eq!(board.tip("vr/TASK-001/work-2"), Some(sha));
    assert_eq!(board.tip("vr/TASK-001/work"), Some(foreign));
    assert!(!path.join("theirs").exists());
}

/// A deleted database, or another one on this repository, left checkouts under the names that this one would choose.
#[tokio::test]
async fn checkout_of_another_database_stays_untouched() {
    let sample = TestRepository::new();
    let (repository, main) = (sample.repository(), sample.repository().ref_sha("main").unwrap().unwrap());
    let theirs = |name: &str| sample.beside("worktrees/PROJ-001").join(name);
    repository.add_worktree("vibe-relay-TASK-001", &theirs("TASK-001"), "vr/TASK-001/work", &main).unwrap();
    repository.add_detached("vibe-relay-TASK-001-reviewer", &sample.beside("elsewhere"), &main).unwrap();
    write_in(&theirs("TASK-001"), "theirs", "not committed");
    let board = TestBoard::on(sample).await;

    let task = board.task("Add a").await;
    let (path, sha) = board.work(&task, &[("a", "a")]).await;
    assert_eq!(path, board.sample.beside("worktrees/PROJ-001/TASK-001-2"));
    assert_eq!(board.tip("vr/TASK-001/work-2"), Some(sha.clone()));
    let (site, reserved, _) = board.agent(&task, AgentKind::Reviewer).await;
    assert_eq!(head(&board, &site.path), Some(sha));
    remove_temporary(&board.project, &reserved.run).await.unwrap();
    board.end(&reserved).await;
    board.cancel(&task).await;
    board.clean(&task).await;

    assert!(!path.exists() && !site.path.exists());
    let kept = board.sample.beside("worktrees/PROJ-001/TASK-001");
    assert_eq!(fs::read_to_string(kept.join("theirs")).unwrap(), "not committed");
    assert_eq!(head(&board, &kept), Some(main));
    assert!(board.sample.beside("elsewhere/README.md").exists());
}

#[tokio::test]
async fn coder_finds_its_checkout_unchanged() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (path, sha) = board.work(&task, &[("a", "a")]).await;
    write_in(&path, "draft", "not committed");
    let lock = board.sample.git_dir().join("worktrees/vibe-relay-TASK-001/index.lock");
    fs::write(&lock, "left by a killed git").unwrap();
    board.move_to(&Caller::owner(), &task, Status::InProgress, Some("do more")).await;
    let (site, _, _) = board.agent(&task, AgentKind::Coder).await;
    assert_eq!((site.path.as_path(), site.branch.as_deref()), (path.as_path(), Some("vr/TASK-001/work")));
    assert_eq!(head(&board, &path), Some(sha));
    assert_eq!(fs::read_to_string(path.join("draft")).unwrap(), "not committed");
    assert!(!lock.exists());
}

#[tokio::test]
async fn coder_starts_from_the_project_branch() {
    let board = TestBoard::new().await;
    let first = board.task("Add a").await;
    board.work(&first, &[("a", "a")]).await;
    board.approve(&first).await;
    crate::runs::merge::merge(&board.context(), &first).await.unwrap();
    let second = board.task("Add b").await;
    let (path, _) = board.work(&second, &[("b", "b")]).await;
    assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "a");
}

#[tokio::test]
async fn reviewer_sees_exactly_the_submitted_commit() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (coder, sha) = board.work(&task, &[("a", "a")]).await;
    write_in(&coder, "draft", "not committed");
    let (site, reserved, _) = board.agent(&task, AgentKind::Reviewer).await;
    let newer = commit_all_in(&coder, "sneaked in");
    assert_eq!((&site.sha, site.branch.as_ref(), site.shown_branch.as_str()), (&sha, None, "vr/TASK-001/work"));
    assert_eq!(Some(&site.base), board.tip("vibe-relay/PROJ-001").as_ref());
    assert_eq!(head(&board, &site.path), Some(sha));
    assert!(site.path.join("a").exists() && !site.path.join("draft").exists());

    write_in(&site.path, "built", "by the reviewer");
    remove_temporary(&board.project, &reserved.run).await.unwrap();
    remove_temporary(&board.project, &reserved.run).await.unwrap();
    assert!(!site.path.exists() && coder.join("draft").exists());
    board.end(&reserved).await;
    assert_eq!(board.plan_checkout(&task, AgentKind::Reviewer).await.unwrap().sha, newer);
}

#[tokio::test]
async fn review_needs_a_branch() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.delete_branch("vr/TASK-001/work");
    let error = board.plan_checkout(&task, AgentKind::Reviewer).await.unwrap_err();
    insta::assert_snapshot!(error, @"the branch vr/TASK-001/work does not exist; send the card back with a comment to start the work again");
    board.move_to(&Caller::owner(), &task, Status::InProgress, Some("start again")).await;
    let (site, _, _) = board.agent(&task, AgentKind::Coder).await;
    assert_eq!(site.branch.as_deref(), Some("vr/TASK-001/work"));
    assert!(board.tip("vr/TASK-001/work").is_some());
}

#[tokio::test]
async fn orchestrator_compares_with_the_base_branch() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    crate::runs::merge::merge(&board.context(), &task).await.unwrap();
    let site = board.plan_checkout(&task, AgentKind::Orchestrator).await.unwrap();
    assert_eq!((Some(site.sha), Some(site.base)), (board.tip("vibe-relay/PROJ-001"), board.tip("main")));
    let planner = board.plan_checkout(&task, AgentKind::Planner).await.unwrap();
    assert_eq!(Some(planner.base), board.tip("vibe-relay/PROJ-001"));
}

/// A cancelled task whose coder committed `a` and left `draft` uncommitted.
async fn cancelled(board: &TestBoard) -> (TaskId, PathBuf, Sha) {
    let task = board.task("Add a").await;
    let (path, sha) = board.work(&task, &[("a", "a")]).await;
    write_in(&path, "draft", "not committed");
    board.cancel(&task).await;
    (task, path, sha)
}

#[tokio::test]
async fn merged_work_needs_no_rescue_ref() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (path, _) = board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    crate::runs::merge::merge(&board.context(), &task).await.unwrap();
    assert_eq!(board.clean(&task).await, None);
    assert!(!path.exists() && !board.sample.git_dir().join("refs/vibe-relay").exists());
    assert_eq!(board.branches(), ["main", "vibe-relay/PROJ-001"]);
    let task = board.read(&task).await;
    assert_eq!((task.branch, task.worktree_path), (None, None));
}

#[tokio::test]
async fn unmerged_work_is_kept() {
    let board = TestBoard::new().await;
    let (task, path, sha) = cancelled(&board).await;
    assert_eq!(board.clean(&task).await.as_deref(), Some("refs/vibe-relay/rescue/TASK-001/uncommitted"));
    assert!(!path.exists());
    assert_eq!(board.branches(), ["main", "vibe-relay/PROJ-001"]);
    assert_eq!(board.kept("refs/vibe-relay/rescue/TASK-001/uncommitted", "draft").as_deref(), Some("not committed"));
    let commits = format!("refs/vibe-relay/rescue/TASK-001/{}", &sha[..12]);
    assert_eq!(board.kept(&commits, "a").as_deref(), Some("a"));
    for name in ["refs/vibe-relay/rescue/TASK-001/uncommitted", &commits] {
        assert!(board.db.owns_reference(&board.project.git_dir, name).await.unwrap(), "{name}");
    }
}

/// After a kill at any step, repeating the cleanup ends in the same state.
#[tokio::test]
async fn second_cleanup_changes_nothing() {
    let board = TestBoard::new().await;
    let (task, path, sha) = cancelled(&board).await;
    let before = board.read(&task).await;
    clean(&board.db, &board.project, &before).await.unwrap();
    assert_eq!(clean(&board.db, &board.project, &before).await.unwrap(), KeptWork::default(), "nothing is left to keep");
    assert!(!path.exists());
    assert_eq!(board.kept(&format!("refs/vibe-relay/rescue/TASK-001/{}", &sha[..12]), "a").as_deref(), Some("a"));
}

/// The second cleanup has other commits than the rescue reference of the first.
#[tokio::test]
async fn reopened_task_can_be_cancelled_again() {
    let board = TestBoard::new().await;
    let (task, _, first) = cancelled(&board).await;
    board.clean(&task).await;
    board.move_to(&Caller::owner(), &task, Status::Backlog, None).await;
    board.db.start_task(&Caller::owner(), &task).await.unwrap();
    let (path, second) = board.work(&task, &[("b", "b")]).await;
    assert!(!path.join("a").exists(), "it started from scratch");
    board.cancel(&task).await;
    let rescue = board.clean(&task).await.unwrap();
    assert_eq!(rescue, format!("refs/vibe-relay/rescue/TASK-001/{}", &second[..12]));
    assert_eq!(board.kept(&rescue, "b").as_deref(), Some("b"));
    assert_eq!(board.kept(&format!("refs/vibe-relay/rescue/TASK-001/{}", &first[..12]), "a").as_deref(), Some("a"));
}

/// An agent that left its branch and committed elsewhere.
#[tokio::test]
async fn commits_outside_the_branch_are_kept() {
    let board = TestBoard::new().await;
    let (task, path, tip) = cancelled(&board).await;
    let aside = board.sample.commit_on("aside", &[("aside", Some("x"))], "beside the branch");
    board.delete_branch("aside");
    fs::write(board.sample.git_dir().join("worktrees/vibe-relay-TASK-001/HEAD"), format!("{aside}\n")).unwrap();
    board.clean(&task).await;
    assert!(!path.exists());
    assert_eq!(board.kept(&format!("refs/vibe-relay/rescue/TASK-001/{}", &aside[..12]), "aside").as_deref(), Some("x"));
    assert_eq!(board.kept(&format!("refs/vibe-relay/rescue/TASK-001/{}", &tip[..12]), "a").as_deref(), Some("a"));
    assert_eq!(board.kept("refs/vibe-relay/rescue/TASK-001/uncommitted", "draft").as_deref(), Some("not committed"));
}

#[tokio::test]
async fn files_are_kept_without_a_branch_or_valid_head() {
    let board = TestBoard::new().await;
    let (task, path, _) = cancelled(&board).await;
    board.delete_branch("vr/TASK-001/work");
    fs::write(board.sample.git_dir().join("worktrees/vibe-relay-TASK-001/HEAD"), "0".repeat(40)).unwrap();
    board.clean(&task).await.unwrap();
    assert!(!path.exists());
    let reference = "refs/vibe-relay/rescue/TASK-001/uncommitted";
    assert_eq!((board.kept(reference, "draft").as_deref(), board.kept(reference, "a").as_deref()), (Some("not committed"), Some("a")));
}

#[tokio::test]
async fn branch_in_a_humans_checkout_stays() {
    let board = TestBoard::new().await;
    let (task, path, sha) = cancelled(&board).await;
    fs::write(board.sample.git_dir().join("HEAD"), "ref: refs/heads/vr/TASK-001/work\n").unwrap();
    board.clean(&task).await.unwrap();
    assert!(!path.exists());
    assert_eq!(board.tip("vr/TASK-001/work"), Some(sha));
    assert_eq!(board.read(&task).await.worktree_path, None, "the cleanup is not retried");
}

#[tokio::test]
async fn task_without_checkout_has_nothing_to_clean() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.cancel(&task).await;
    assert_eq!(board.clean(&task).await, None);
}

#[tokio::test]
async fn stale_locks_of_a_killed_server_are_removed() {
    let board = TestBoard::new().await;
    let (resting, working) = (board.task("Add a").await, board.task("Add b").await);
    board.work(&resting, &[("a", "a")]).await;
    board.approve(&resting).await;
    let (site, ..) = board.agent(&working, AgentKind::Coder).await;
    let rescued = format!("{}TASK-001/uncommitted", repo::RESCUE_PREFIX);
    board.db.claim_reference(&board.project.git_dir, &rescued, Some(&resting)).await.unwrap();
    let lock = |name: &str| board.sample.git_dir().join(format!("{name}.lock"));
    let ours = [lock("refs/heads/vibe-relay/PROJ-001"), lock("refs/heads/vr/TASK-001/work"), lock(&rescued)];
    let others = [lock("refs/heads/main"), lock(&format!("refs/heads/{}", site.shown_branch))];
    for path in ours.iter().chain(&others) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    unlock(&board.db, &board.project.git_dir).await.unwrap();
    assert!(ours.iter().all(|path| !path.exists()));
    assert!(others.iter().all(|path| path.exists()), "the locks of the human and of a committing agent stay");
    crate::runs::merge::merge(&board.context(), &resting).await.unwrap();
    assert!(board.read(&resting).await.merged_sha.is_some());
}

#[tokio::test]
async fn commits_of_a_nested_repository_outlive_the_checkout() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (path, _) = board.work(&task, &[("a", "a"), (".gitignore", "tool/\n")]).await;
    let inner = path.join("tool");
    init_in(&inner);
    write_in(&inner, "inner.txt", "inner");
    let commit = commit_all_in(&inner, "work inside");
    board.cancel(&task).await;
    board.clean(&task).await;
    assert!(!path.exists());
    let told = board.db.comments(&task).await.unwrap().pop().unwrap().content;
    let reference = told.split('`').find(|part| part.contains("/nested/tool-")).unwrap_or_else(|| panic!("{told}"));
    assert!(told.contains("nested repository `tool`"), "{told}");
    assert_eq!(board.kept(reference, "inner.txt").as_deref(), Some("inner"));
    assert_eq!(board.repository().file_at(&commit, "inner.txt").unwrap().unwrap(), b"inner");
}

#[tokio::test]
async fn checkout_stays_while_a_nested_repository_cannot_be_kept() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    let (path, _) = board.work(&task, &[("a", "a"), (".gitignore", "tool/\n")]).await;
    init_in(&path.join("tool"));
    commit_all_in(&path.join("tool"), "work inside");
    fs::write(path.join("tool/.git/config"), "[core\n").unwrap();
    board.cancel(&task).await;
    let error = clean(&board.db, &board.project().await, &board.read(&task).await).await.unwrap_err();
    assert!(error.to_string().contains("the nested repository tool (could not read"), "{error}");
    assert!(path.join("tool/.git/HEAD").exists());
}
