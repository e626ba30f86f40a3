//! Work of several agents comes together: on the project branch, where a conflict goes back to its coder, and on the base branch, without
//! touching what the person has not committed.

use domain::board::comment::AuthorRole;
use domain::runs::agent_kind::AgentKind;
use domain::wire::LandingResult;
use reqwest::Method;
use serde_json::json;
use tests::git::git;

use crate::scene::{self, add, at_work, done};

const SCENARIO: &str = include_str!("../../scenarios/landing.json");

#[tokio::test]
async fn a_conflict_goes_back_to_its_coder_and_is_settled() {
    let relay = scene::scripted(SCENARIO).await;
    let project = relay.project("Readme", None).await.unwrap().id;
    let tasks = [add(&relay, &project, "One").await, add(&relay, &project, "Two").await];
    // Both begin from the same commit.
    for task in &tasks {
        at_work(&relay, task).await;
    }
    for task in &tasks {
        scene::open(&relay, task.as_str());
    }
    for task in &tasks {
        done(&relay, &project, task).await;
    }
    let mut rounds = Vec::new();
    for task in &tasks {
        rounds.push((relay.task(task).await.unwrap().task.review_rounds, task));
    }
    rounds.sort();
    assert_eq!(rounds.iter().map(|(rounds, _)| *rounds).collect::<Vec<_>>(), [0, 1], "who is merged second settles it");
    let second = rounds[1].1;
    let comments = relay.comments(second).await.unwrap();
    let conflict = &comments[0].comment;
    assert_eq!(conflict.author_role, AuthorRole::Runner);
    assert!(conflict.content.contains("conflicts in:\n\n- README.md\n"), "{}", conflict.content);
    let runs = relay.runs(second).await.unwrap();
    let phases: Vec<AgentKind> = runs.iter().map(|run| run.phase).collect();
    assert_eq!(phases, [AgentKind::Coder, AgentKind::Reviewer, AgentKind::Coder, AgentKind::Reviewer], "what was settled is reviewed anew");
    assert_eq!(runs[0].session_id, runs[2].session_id);
    let repository = relay.repository();
    assert_eq!(git(&repository, &["show", "vibe-relay/PROJ-001:README.md"]).unwrap(), "Both.");

    let land = format!("/api/projects/{project}/land");
    std::fs::write(repository.join("README.md"), "My own words.\n").unwrap();
    std::fs::write(repository.join("notes.txt"), "Nobody's business.\n").unwrap();
    let before = git(&repository, &["rev-parse", "main"]).unwrap();
    let problem = relay.refusal(relay.request(Method::POST, &land).json(&json!({}))).await.unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (422, "checkout-dirty"));
    assert!(problem.detail.contains("README.md") && !problem.detail.contains("notes.txt"), "{}", problem.detail);
    assert!(problem.hint.contains("Commit or stash"), "{}", problem.hint);
    assert_eq!(git(&repository, &["rev-parse", "main"]).unwrap(), before, "nothing was moved");
    assert_eq!(std::fs::read_to_string(repository.join("README.md")).unwrap(), "My own words.\n");

    git(&repository, &["checkout", "-q", "README.md"]).unwrap();
    let landed: LandingResult = relay.post(&land, &json!({})).await.unwrap();
    assert_eq!((landed.base_branch.as_str(), git(&repository, &["rev-parse", "main"]).unwrap()), ("main", landed.sha));
    assert_eq!(std::fs::read_to_string(repository.join("README.md")).unwrap(), "Both.\n");
    assert_eq!(git(&repository, &["status", "--porcelain"]).unwrap(), "?? notes.txt", "a file that is in nobody's way stays");
}
