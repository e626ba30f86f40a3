//! Two real agents on one file: the hook refuses the second at the edit and in the shell, and both changes merge without a conflict. If the project only warns,
//! the same work conflicts.

use domain::board::comment::AuthorRole;
use domain::board::project::Project;
use domain::board::wait_reason::WaitReason;
use domain::runs::failure::EndClass;
use domain::warroom::claim::ClaimMode;
use domain::wire::ProjectPatch;
use tests::git::git;

use crate::support::{self, add, done, open, reached};

const SCENARIO: &str = include_str!("../../scenarios/claims.json");

#[tokio::test]
async fn second_agent_on_a_file_is_refused_at_the_edit_and_gets_it_later() {
    let (server, model) = support::real(SCENARIO).await;
    let project = server.project("Claims", None).await.unwrap();
    let first = add(&server, &project.id, "First").await;
    reached(&server, "first").await;
    let second = add(&server, &project.id, "Second").await;
    reached(&server, "second").await;
    let waiting = Some(WaitReason::FileClaimed { path: "README.md".to_owned(), holder: format!("coder-{first}") });
    let is_waiting = |board: &domain::board::reducer::Board| board.card(&second).is_some_and(|card| card.wait_reason == waiting);
    server.until(&project.id, "the second waits without a process", is_waiting).await;
    open(&server, "first");
    for task in [&first, &second] {
        done(&server, &project.id, task).await;
    }

    let refused = model.requests_of("coder").into_iter().rfind(|request| request.text().contains("README.md is claimed by coder-")).unwrap();
    assert!(refused.text().contains("Work on other files."), "the refusal names the next step");
    let refusals = model.requests_of("coder").iter().map(|request| request.text().matches("README.md is claimed by coder-").count()).max();
    assert!(refusals >= Some(2), "the shell is refused as the edit is: {refusals:?}");
    let runs = server.runs(&second).await.unwrap();
    let ends: Vec<Option<EndClass>> = runs.iter().map(|run| run.end_class).collect();
    assert_eq!(ends[..2], [Some(EndClass::Parked), Some(EndClass::Finished)], "{runs:?}");
    let merged = git(&server.repository(), &["show", &format!("{}:README.md", project.integration_branch)]).unwrap();
    assert_eq!(merged, "A test. Second. First.");
    for task in [&first, &second] {
        assert_eq!(server.task(task).await.unwrap().task.review_rounds, 0, "{task} merged without a conflict");
    }
}

#[tokio::test]
async fn same_work_conflicts_if_the_project_only_warns() {
    let (server, model) = support::real(SCENARIO).await;
    let project = server.project("Claims", None).await.unwrap();
    let patch = ProjectPatch { claim_mode: Some(ClaimMode::Advisory), ..ProjectPatch::default() };
    let _: Project = server.patch(&format!("/api/projects/{}", project.id), &patch).await.unwrap();
    let first = add(&server, &project.id, "First").await;
    reached(&server, "first").await;
    let careless = add(&server, &project.id, "Careless").await;
    done(&server, &project.id, &careless).await;
    open(&server, "first");
    done(&server, &project.id, &first).await;
    let warned = model.requests_of("coder").into_iter().any(|request| request.text().contains("README.md is claimed by coder-"));
    assert!(warned, "the model reads the warning");
    let comments = server.comments(&first).await.unwrap();
    let conflict = comments.iter().find(|view| view.comment.author_role == AuthorRole::Runner).unwrap();
    assert!(conflict.comment.content.contains("conflicts in:\n\n- README.md\n"), "{}", conflict.comment.content);
}
