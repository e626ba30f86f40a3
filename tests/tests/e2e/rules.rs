//! Nobody instructs a reviewer but the human and the base branch: a coder rewrites every file and memory that agents read.

use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/rules.json");

#[tokio::test]
async fn rules_of_the_work_under_review_do_not_reach_its_reviewer() {
    let (server, model) = support::real(SCENARIO).await;
    let project = server.project("Rules", None).await.unwrap().id;
    let task = add(&server, &project, "Poison").await;
    done(&server, &project, &task).await;

    let reviews = model.requests_of("reviewer");
    assert!(reviews.len() >= 3, "the reviewer worked: {} requests", reviews.len());
    assert!(reviews.iter().any(|request| request.text().contains("heliotrope")), "the base's CLAUDE.md reached no reviewer");
    for request in &reviews {
        let text = request.text();
        assert!(!text.contains("Marzipan"), "{}", text.lines().find(|line| line.contains("Marzipan")).unwrap_or_default());
    }
    let coder = model.requests_of("coder");
    assert!(coder.iter().any(|request| request.text().contains("heliotrope")), "a coder follows the rules of its checkout");

    // The files of the attack stay, and no conversation of an agent does.
    let projects = server.root().join("home/projects");
    let left = || std::fs::read_dir(&projects).into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = |name: String| name.ends_with("TASK-001") || name.ends_with("TASK-001-reviewer");
    server.until(&project, "the conversations are removed", |_| !left().any(ours)).await;
}
