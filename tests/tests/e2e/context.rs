//! Two real agents share a finding: the second finds with one search what the first wrote, and no reviewer sees what a coder kept for itself.

use tests::git::git;

use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/context.json");

#[tokio::test]
async fn coder_finds_what_another_one_wrote_and_its_reviewer_sees_nothing_private() {
    let (server, model) = support::real(SCENARIO).await;
    let project = server.project("Context", None).await.unwrap();
    for title in ["Find the port", "Use it"] {
        let task = add(&server, &project.id, title).await;
        done(&server, &project.id, &task).await;
    }
    assert_eq!(git(&server.repository(), &["show", &format!("{}:port.txt", project.integration_branch)]).unwrap(), "4711");

    let of_second = |text: &str| text.contains("Title: Use it");
    let coder = model.requests_of("coder");
    let second: Vec<_> = coder.iter().filter(|request| of_second(&request.text())).collect();
    assert!(second[0].text().contains("<context>") && second[0].text().contains("] The port of the shop is 4711"), "{}", second[0].text());
    let reviews = model.requests_of("reviewer");
    assert!(reviews.len() >= 6, "both reviewers worked: {} requests", reviews.len());
    assert!(reviews.iter().any(|request| request.text().contains("The port of the shop is 4711")), "a public finding reaches a reviewer");
    for request in &reviews {
        let text = request.text();
        for hidden in ["Marzipan", "Quince"] {
            assert!(!text.contains(hidden), "{}", text.lines().find(|line| line.contains(hidden)).unwrap_or_default());
        }
    }
}
