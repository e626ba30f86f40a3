//! Checks with agents: red work goes back before a review, the reviewer sees what passed, and a flaky check on a merge runs again. Tasks that
//! wait together are checked together.

use std::collections::BTreeSet;

use domain::board::comment::AuthorRole;
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::runs::agent_kind::AgentKind;
use domain::runs::check::{CheckStage, CheckState, StageResults};
use domain::runs::profile::Profile;
use domain::runs::profile::checks::{CheckList, Checks};
use domain::wire::{List, NewProject};
use tests::git::git;

use crate::support::{self, add, done, open, reached};

const BATCH: &str = include_str!("../../scenarios/batch.json");
const SCENARIO: &str = include_str!("../../scenarios/checks.json");
const QUICK: &str = "grep -q right answer.txt || { echo \"expected right, found $(cat answer.txt)\"; exit 1; }";
/// Fails the first time, as a test does that depends on the time.
const FULL: &str = "echo run >> ../../../merges; echo try $(wc -l < ../../../merges); test $(wc -l < ../../../merges) -gt 1";

#[tokio::test]
async fn red_checks_return_work_and_a_flaky_one_on_a_merge_runs_again() {
    let (server, model) = support::real(SCENARIO).await;
    let list = |command: &str| CheckList { commands: vec![command.to_owned()], minutes: 5 };
    let profile = Profile { checks: Checks { quick: list(QUICK), full: list(FULL) }, ..Profile::default() };
    let new = NewProject {
        title: "Checked".to_owned(),
        repo_path: Some(server.repository().display().to_string()),
        plan: Some(false),
        profile: Some(profile),
        ..NewProject::default()
    };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    let task = add(&server, &project.id, "Answer").await;
    done(&server, &project.id, &task).await;

    let coder = model.requests_of("coder").into_iter().next().unwrap().text();
    assert!(coder.contains(&format!("Checks: before the review: `{QUICK}`; on the merge: `{FULL}`. Run them before step 6")), "{coder}");
    let view = server.task(&task).await.unwrap();
    assert_eq!(view.task.review_rounds, 1, "it counts as a round");
    let comments: List<domain::board::comment::Comment> = server.get(&format!("/api/tasks/{task}/comments")).await.unwrap();
    let [sent_back] = comments.items.as_slice() else { panic!("{comments:?}") };
    assert_eq!(sent_back.author_role, AuthorRole::Runner);
    assert!(
        sent_back.content.contains("so no reviewer has seen it") && sent_back.content.contains("    expected right, found wrong"),
        "{sent_back:?}"
    );
    let phases: Vec<AgentKind> = server.runs(&task).await.unwrap().iter().map(|run| run.phase).collect();
    assert_eq!(phases, [AgentKind::Coder, AgentKind::Coder, AgentKind::Reviewer], "the red work cost no reviewer");
    let reviewer = model.requests_of("reviewer").into_iter().next().unwrap().text();
    assert!(reviewer.contains(&format!("Checks: already run on this commit: `{QUICK}` passed after ")), "{reviewer}");

    let stages: List<StageResults> = server.get(&format!("/api/tasks/{task}/checks")).await.unwrap();
    let [quick, full] = stages.items.as_slice() else { panic!("{stages:?}") };
    assert_eq!((quick.checks.stage, quick.checks.state), (CheckStage::Quick, CheckState::Passed));
    assert_eq!((full.checks.stage, full.checks.state, full.results[0].attempts), (CheckStage::Full, CheckState::Passed, 2), "{full:?}");
    assert_eq!(full.results[0].tail, "try 2\n");
    let landed = git(&server.repository(), &["show", &format!("{}:answer.txt", project.integration_branch)]).unwrap();
    assert_eq!(landed, "right");
    let tree = git(&server.repository(), &["rev-parse", &format!("{}^{{tree}}", project.integration_branch)]).unwrap();
    assert_eq!(tree, full.checks.tree, "the project branch has the files that were checked");
}

/// Notes the files that it sees, and waits at a gate.
const COUNTED: &str = "cat TASK-*.txt | tr '\\n' ' ' >> ../../../seen; echo >> ../../../seen; touch ../../../check.reached; \
    until [ -e ../../../check.open ]; do sleep 0.05; done; ! grep wrong TASK-*.txt";

#[tokio::test]
async fn tasks_that_wait_for_a_merge_are_checked_together_and_the_red_one_goes_back_alone() {
    let server = support::scripted(BATCH).await;
    let full = CheckList { commands: vec![COUNTED.to_owned()], minutes: 5 };
    let profile = Profile { checks: Checks { full, ..Checks::default() }, ..Profile::default() };
    let new = NewProject {
        title: "Busy".to_owned(),
        repo_path: Some(server.repository().display().to_string()),
        plan: Some(false),
        profile: Some(profile),
        ..NewProject::default()
    };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    let first = add(&server, &project.id, "right").await;
    reached(&server, "check").await;
    let mut waiting = Vec::new();
    for number in 0..8 {
        waiting.push(add(&server, &project.id, if number == 3 { "wrong" } else { "right" }).await);
    }
    let all_wait = |board: &Board| waiting.iter().all(|task| board.card(task).is_some_and(|card| card.is_approved() && card.run.is_none()));
    server.until(&project.id, "eight tasks wait for their merge", all_wait).await;
    open(&server, "check");
    for task in [&first].into_iter().chain(&waiting) {
        done(&server, &project.id, task).await;
    }
    let seen = std::fs::read_to_string(server.root().join("seen")).unwrap();
    let checked = seen.lines().collect::<BTreeSet<_>>().len();
    // The first, eight together, three halvings, those after the red one, and the repaired one.
    assert!(checked <= 7, "{checked} merges were checked instead of 10:\n{seen}");
    for task in &waiting {
        let view = server.task(task).await.unwrap();
        assert_eq!(view.task.review_rounds, u32::from(*task == waiting[3]), "{task}");
    }
    let comments = server.comments(&waiting[3]).await.unwrap();
    let tail = format!("    {}.txt:wrong", waiting[3]);
    assert!(comments.iter().any(|view| view.comment.content.contains(&tail)), "{comments:?}");
    let log = git(&server.repository(), &["log", "--first-parent", "--format=%s", &format!("main..{}", project.integration_branch)]).unwrap();
    assert_eq!(log.lines().count(), 9, "each task has its own merge:\n{log}");
}
