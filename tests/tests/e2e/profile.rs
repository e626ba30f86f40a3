//! The profile of a repository with real agents: setup before each agent, copied files, passed variables, and a setup that fails.

use domain::board::attention::AttentionKind;
use domain::board::project::Project;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::output::{Output, OutputKind};
use domain::runs::profile::Profile;
use domain::wire::{NewProject, ProjectPatch};
use serde_json::json;
use tests::git::git;

use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/profile.json");
/// Counts how often it runs, beside the worktrees.
const INSTALL: &str = "echo run >> ../../../setups; mkdir -p deps && echo \"left-pad $STORY_TOKEN\" > deps/list";

#[tokio::test]
async fn agents_build_in_prepared_worktrees_and_a_failed_setup_asks_the_person() {
    let (server, model) = support::real_with(SCENARIO, |options, _| {
        options.environment.push(("STORY_TOKEN".to_owned(), "from-the-server".to_owned()));
    })
    .await;
    let repository = server.repository();
    std::fs::write(repository.join(".gitignore"), ".env*\ndeps/\n").unwrap();
    git(&repository, &["add", ".gitignore"]).unwrap();
    git(&repository, &["commit", "-qm", "Ignore local files"]).unwrap();
    std::fs::write(repository.join(".env"), "KEY=1\n").unwrap();
    let profile = Profile {
        setup: vec!["echo looking for a package; exit 7".to_owned()],
        reuse: vec!["deps".to_owned()],
        env: vec!["STORY_TOKEN".to_owned()],
        ..Profile::default()
    };
    let new = NewProject {
        title: "Prepared".to_owned(),
        repo_path: Some(repository.display().to_string()),
        plan: Some(false),
        profile: Some(profile.clone()),
        ..NewProject::default()
    };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    assert_eq!(project.profile, profile);

    let first = add(&server, &project.id, "First").await;
    let asks = |board: &domain::board::reducer::Board| board.card(&first).is_some_and(|card| card.attention.is_some() && card.run.is_none());
    let board = server.until(&project.id, "the failed setup asks", asks).await;
    let attention = board.card(&first).unwrap().attention.clone().unwrap();
    assert_eq!(attention.kind, AttentionKind::Setup);
    assert!(attention.detail.contains("`echo looking for a package; exit 7` ended with exit code 7. looking for a package"), "{}", attention.detail);
    assert!(model.requests_of("coder").is_empty(), "no agent started, so nothing was spent");
    let runs = server.runs(&first).await.unwrap();
    assert_eq!((runs.len(), runs[0].end_class, runs[0].failure), (1, Some(EndClass::NotSetUp), Some(FailureClass::Setup)));
    let output: Output = server.get(&format!("/api/runs/{}/output", runs[0].id)).await.unwrap();
    let shown = |kind: OutputKind, text: &str| output.lines.iter().any(|line| line.kind == kind && line.text.contains(text));
    assert!(shown(OutputKind::ToolUse, "exit 7") && shown(OutputKind::Note, "looking for a package"), "{:?}", output.lines);

    let repaired = ProjectPatch { profile: Some(Profile { setup: vec![INSTALL.to_owned()], ..profile }), ..ProjectPatch::default() };
    let _: Project = server.patch(&format!("/api/projects/{}", project.id), &repaired).await.unwrap();
    let _: serde_json::Value = server.post(&format!("/api/tasks/{first}/retry"), &json!({})).await.unwrap();
    done(&server, &project.id, &first).await;
    let runs = server.runs(&first).await.unwrap();
    let coder = runs.iter().find(|run| run.end_class == Some(EndClass::Finished)).unwrap();
    assert_eq!(coder.attempt, 1, "the failed setup used no attempt");
    let built = git(&repository, &["show", &format!("{}:built-First.txt", project.integration_branch)]).unwrap();
    assert_eq!(built, "KEY=1\nleft-pad from-the-server\nfrom-the-server");
    assert_eq!(std::fs::read_to_string(server.root().join("reviewed.txt")).unwrap(), "KEY=1\nleft-pad from-the-server\n", "reviewers build too");
    let setups = || std::fs::read_to_string(server.root().join("setups")).unwrap().lines().count();
    assert_eq!(setups(), 1, "the reviewer got a copy");
    let request = model.requests_of("coder").into_iter().next().unwrap();
    assert!(request.text().contains("Setup: already done: `echo run >>") && request.text().contains(".env copied into it"), "the agent knows");
    let copied = git(&repository, &["log", "--all", "--format=", "--name-only"]).unwrap();
    assert!(!copied.contains(".env") && !copied.contains("deps/"), "nothing that was copied is committed");

    let second = add(&server, &project.id, "Second").await;
    done(&server, &project.id, &second).await;
    assert_eq!(setups(), 1, "so does a later task with the same lock files");
}
