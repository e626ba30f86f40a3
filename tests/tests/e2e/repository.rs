//! Changes to a repository behind the board's back: no work is lost, and removed commits return only on request.

use domain::wire::LandingResult;
use reqwest::Method;
use serde_json::json;
use tests::git::git;

use crate::support::{self, add, at_work, done};

const LANDING: &str = include_str!("../../scenarios/landing.json");
const NESTED: &str = include_str!("../../scenarios/nested.json");

#[tokio::test]
async fn removed_secret_stays_removed_unless_confirmed() {
    let server = support::scripted(LANDING).await;
    let repository = server.repository();
    std::fs::write(repository.join(".env"), "KEY=1\n").unwrap();
    git(&repository, &["add", "."]).unwrap();
    git(&repository, &["commit", "-q", "-m", "Add a key"]).unwrap();
    let project = server.project("Readme", None).await.unwrap().id;
    let task = add(&server, &project, "One").await;
    at_work(&server, &task).await;
    git(&repository, &["reset", "-q", "--hard", "HEAD~1"]).unwrap();
    support::open(&server, task.as_str());
    done(&server, &project, &task).await;

    let (land, before) = (format!("/api/projects/{project}/land"), git(&repository, &["rev-parse", "main"]).unwrap());
    let problem = server.refusal(server.request(Method::POST, &land).json(&json!({}))).await.unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (409, "commits-return"));
    assert!(problem.detail.contains("“Add a key”"), "{}", problem.detail);
    assert_eq!((git(&repository, &["rev-parse", "main"]).unwrap(), repository.join(".env").exists()), (before, false));

    let landed: LandingResult = server.post(&land, &json!({"bring_back": problem.returning.unwrap().confirmation})).await.unwrap();
    assert_eq!(git(&repository, &["rev-parse", "main"]).unwrap(), landed.sha);
    assert!(repository.join(".env").exists(), "the person asked for it");
}

#[tokio::test]
async fn nested_repository_is_refused_and_its_commits_are_kept() {
    let server = support::scripted(NESTED).await;
    let project = server.project("Nested", None).await.unwrap().id;
    let task = add(&server, &project, "One").await;
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(runs.len(), 2, "the refusal cost no attempt");
    server.until(&project, "the checkout is removed", |board| board.card(&task).is_some_and(|card| card.comments > 0)).await;
    let told = server.comments(&task).await.unwrap().remove(0).comment.content;
    assert!(told.contains("nested repository `inner`"), "{told}");
    let reference = told.split('`').find(|part| part.contains("/nested/inner-")).unwrap_or_else(|| panic!("{told}"));
    assert_eq!(git(&server.repository(), &["log", "--format=%s", reference]).unwrap(), "Work inside");
}
