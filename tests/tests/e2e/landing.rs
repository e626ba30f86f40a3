//! Merging and landing: a merge conflict returns to its coder, and landing on the base branch does not touch uncommitted files of the
//! human.

use domain::board::comment::AuthorRole;
use domain::runs::agent_kind::AgentKind;
use domain::wire::{CommentView, LandingResult};
use reqwest::Method;
use serde_json::json;
use tests::git::git;

use crate::support::{self, add, at_work, done};

const SCENARIO: &str = include_str!("../../scenarios/landing.json");

#[tokio::test]
async fn merge_conflict_returns_to_its_coder() {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Readme", None).await.unwrap().id;
    let tasks = [add(&server, &project, "One").await, add(&server, &project, "Two").await];
    // Both start from the same commit.
    for task in &tasks {
        at_work(&server, task).await;
    }
    for task in &tasks {
        support::open(&server, task.as_str());
    }
    for task in &tasks {
        done(&server, &project, task).await;
    }
    let mut rounds = Vec::new();
    for task in &tasks {
        rounds.push((server.task(task).await.unwrap().task.review_rounds, task));
    }
    rounds.sort();
    assert_eq!(rounds.iter().map(|(rounds, _)| *rounds).collect::<Vec<_>>(), [0, 1], "the task merged second resolves the conflict");
    let second = rounds[1].1;
    let comments = server.comments(second).await.unwrap();
    // A comment about files that the other task holds may come before it.
    let is_conflict = |view: &&CommentView| view.comment.content.contains("conflicts in:\n\n- README.md\n");
    let conflict = comments.iter().find(is_conflict).unwrap_or_else(|| panic!("no comment names the conflict: {comments:?}"));
    assert_eq!(conflict.comment.author_role, AuthorRole::Runner);
    let runs = server.runs(second).await.unwrap();
    let phases: Vec<AgentKind> = runs.iter().map(|run| run.phase).collect();
    assert_eq!(phases, [AgentKind::Coder, AgentKind::Reviewer, AgentKind::Coder, AgentKind::Reviewer], "the resolved conflict is reviewed again");
    assert_eq!(runs[0].session_id, runs[2].session_id);
    let repository = server.repository();
    assert_eq!(git(&repository, &["show", "vibe-relay/PROJ-001:README.md"]).unwrap(), "Both.");

    let land = format!("/api/projects/{project}/land");
    std::fs::write(repository.join("README.md"), "My own words.\n").unwrap();
    std::fs::write(repository.join("notes.txt"), "Nobody's business.\n").unwrap();
    let before = git(&repository, &["rev-parse", "main"]).unwrap();
    let problem = server.refusal(server.request(Method::POST, &land).json(&json!({}))).await.unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (422, "checkout-dirty"));
    assert!(problem.detail.contains("README.md") && !problem.detail.contains("notes.txt"), "{}", problem.detail);
    assert!(problem.hint.contains("Commit or stash"), "{}", problem.hint);
    assert_eq!(git(&repository, &["rev-parse", "main"]).unwrap(), before, "main did not move");
    assert_eq!(std::fs::read_to_string(repository.join("README.md")).unwrap(), "My own words.\n");

    git(&repository, &["checkout", "-q", "README.md"]).unwrap();
    let landed: LandingResult = server.post(&land, &json!({})).await.unwrap();
    assert_eq!((landed.base_branch.as_str(), git(&repository, &["rev-parse", "main"]).unwrap()), ("main", landed.sha));
    assert_eq!(std::fs::read_to_string(repository.join("README.md")).unwrap(), "Both.\n");
    assert_eq!(git(&repository, &["status", "--porcelain"]).unwrap(), "?? notes.txt", "an unrelated file stays");
}

#[tokio::test]
async fn dirty_checkout_stays_while_work_lands_and_is_undone() {
    let server = support::scripted(SCENARIO).await;
    let repository = server.repository();
    for (file, content) in [("edited.md", "one\n"), ("staged.md", "one\n"), ("deleted.md", "one\n")] {
        std::fs::write(repository.join(file), content).unwrap();
    }
    git(&repository, &["add", "."]).unwrap();
    git(&repository, &["commit", "-q", "-m", "More files"]).unwrap();
    let project = server.project("Readme", None).await.unwrap().id;
    let task = add(&server, &project, "One").await;
    support::open(&server, task.as_str());
    done(&server, &project, &task).await;

    std::fs::write(repository.join("edited.md"), "mine\n").unwrap();
    std::fs::write(repository.join("staged.md"), "mine\n").unwrap();
    git(&repository, &["add", "staged.md"]).unwrap();
    std::fs::write(repository.join("staged.md"), "mine, later\n").unwrap();
    std::fs::remove_file(repository.join("deleted.md")).unwrap();
    std::fs::write(repository.join("untracked.md"), "mine\n").unwrap();
    let seen = || {
        let files = ["edited.md", "staged.md", "deleted.md", "untracked.md"].map(|file| std::fs::read(repository.join(file)).ok());
        (files, git(&repository, &["status", "--porcelain"]).unwrap(), git(&repository, &["diff", "--cached"]).unwrap())
    };
    let (before, main) = (seen(), git(&repository, &["rev-parse", "main"]).unwrap());
    let readme = || std::fs::read_to_string(repository.join("README.md")).unwrap();
    let original = readme();
    let landed: LandingResult = server.post(&format!("/api/projects/{project}/land"), &json!({})).await.unwrap();
    assert_eq!((git(&repository, &["rev-parse", "main"]).unwrap(), readme().as_str()), (landed.sha, "One.\n"));
    assert_eq!(seen(), before, "nothing of the person changed");
    let undone: LandingResult = server.post(&format!("/api/projects/{project}/landing/undo"), &json!({})).await.unwrap();
    assert_eq!((&undone.sha, git(&repository, &["rev-parse", "main"]).unwrap(), readme()), (&main, main.clone(), original));
    assert_eq!(seen(), before, "nothing of the person changed");
}
