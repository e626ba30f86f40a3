//! Agents that fail: they are retried, reminded or refused a limited number of times, then the card needs attention.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::reducer::Board;
use domain::board::review_round::ReviewRound;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::diff::Diff;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::output::OutputKind;
use domain::runs::run::{Run, RunChange};
use domain::wire::{List, TaskView};
use serde_json::json;
use tests::git::git;
use tests::server::TestServer;

use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/failures.json");

async fn standing_board(max_attempts: u32) -> (TestServer, ProjectId) {
    let change = |options: &mut tests::server::ServerOptions| {
        options.config.max_attempts = max_attempts;
        options.config.max_review_rounds = 2;
    };
    let server = support::scripted_with(SCENARIO, change).await;
    let project = server.project("Errands", None).await.unwrap().id;
    (server, project)
}

async fn needs_the_person(server: &TestServer, project: &ProjectId, task: &TaskId) -> Attention {
    let board = server.until(project, "the person is asked", |board: &Board| board.card(task).unwrap().attention.is_some()).await;
    board.card(task).unwrap().attention.clone().unwrap()
}

fn ends(runs: &[Run]) -> Vec<(AgentKind, Option<EndClass>, Option<FailureClass>)> {
    runs.iter().map(|run| (run.phase, run.end_class, run.failure)).collect()
}

const CODED: (AgentKind, Option<EndClass>, Option<FailureClass>) = (AgentKind::Coder, Some(EndClass::Finished), None);
const REVIEWED: (AgentKind, Option<EndClass>, Option<FailureClass>) = (AgentKind::Reviewer, Some(EndClass::Finished), None);
const KILLED: (AgentKind, Option<EndClass>, Option<FailureClass>) = (AgentKind::Coder, Some(EndClass::Failed), Some(FailureClass::Killed));

#[tokio::test]
async fn killed_agents_use_up_attempts_and_retry_resets_them() {
    let (server, project) = standing_board(2).await;
    let task = add(&server, &project, "Crash twice").await;
    let waits = |board: &Board| matches!(board.card(&task).unwrap().wait_reason, Some(WaitReason::Backoff { after: FailureClass::Killed, .. }));
    server.until(&project, "it waits before the second attempt", waits).await;
    let attention = needs_the_person(&server, &project, &task).await;
    assert_eq!(attention.kind, AttentionKind::Failed);
    assert!(attention.detail.starts_with("2 attempts failed") && attention.detail.contains("Retry"), "{}", attention.detail);
    assert_eq!(ends(&server.runs(&task).await.unwrap()), [KILLED, KILLED]);

    let _: TaskView = server.post(&format!("/api/tasks/{task}/retry"), &json!({})).await.unwrap();
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(ends(&runs), [KILLED, KILLED, CODED, REVIEWED]);
    assert!(runs[..3].windows(2).all(|pair| pair[0].session_id == pair[1].session_id), "the session goes on: {runs:#?}");
}

#[tokio::test]
async fn agent_without_outcome_is_reminded_once() {
    let (server, project) = standing_board(1).await;
    let [once, always] = [add(&server, &project, "Forget once").await, add(&server, &project, "Forget always").await];
    done(&server, &project, &once).await;
    assert_eq!(ends(&server.runs(&once).await.unwrap()), [CODED, REVIEWED]);

    let attention = needs_the_person(&server, &project, &always).await;
    assert_eq!(attention.kind, AttentionKind::NoOutcome);
    let forgot = (AgentKind::Coder, Some(EndClass::Failed), Some(FailureClass::NoOutcome));
    assert_eq!(ends(&server.runs(&always).await.unwrap()), [forgot]);
    let events = server.events(&project).await.unwrap();
    for task in [&once, &always] {
        let reminders = events.iter().filter(|envelope| envelope.task_id.as_ref() == Some(task) && envelope.event == RunChange::Reminded {}.into());
        assert_eq!(reminders.count(), 1, "{task} was reminded once");
    }
}

/// The second attempt fails exactly as the first, so there is no third, and the card says what failed.
#[tokio::test]
async fn card_says_that_a_hook_refused_the_commit() {
    let (server, project) = standing_board(3).await;
    let task = add(&server, &project, "Fail at the hook").await;
    let attention = needs_the_person(&server, &project, &task).await;
    assert_eq!(server.runs(&task).await.unwrap().len(), 2);
    let detail = &attention.detail;
    assert!(
        detail.starts_with("2 attempts failed in the same way: a hook of the repository refused its commit (Nothing is committed on vr/"),
        "{detail}"
    );
    for fact in ["uncommitted: x.txt", "Bash `", "no tests, no commit", "Its last message: \u{201c}The commit was refused.\u{201d}"] {
        assert!(detail.contains(fact), "{fact} is not in: {detail}");
    }
}

#[tokio::test]
async fn card_says_that_a_commit_could_not_be_signed() {
    let (server, project) = standing_board(1).await;
    let task = add(&server, &project, "Fail to sign").await;
    let attention = needs_the_person(&server, &project, &task).await;
    assert_eq!(attention.kind, AttentionKind::Failed);
    let detail = &attention.detail;
    assert!(detail.contains("its commit could not be signed (Nothing is committed on vr/"), "{detail}");
    assert!(detail.contains("uncommitted: y.txt") && detail.contains("then press Retry."), "{detail}");
}

#[tokio::test]
async fn agent_that_ends_with_a_question_has_asked_it() {
    let (server, project) = standing_board(1).await;
    let task = add(&server, &project, "Ask in words").await;
    let attention = needs_the_person(&server, &project, &task).await;
    assert_eq!(
        (attention.kind, attention.detail.as_str()),
        (AttentionKind::NeedsInput, "SQLite and PostgreSQL both fit. Tell me which one you want.")
    );
    let _: TaskView = server.post(&format!("/api/tasks/{task}/answer"), &json!({"content": "PostgreSQL, please."})).await.unwrap();
    done(&server, &project, &task).await;
    let asked = (AgentKind::Coder, Some(EndClass::AwaitingAnswer), None);
    assert_eq!(ends(&server.runs(&task).await.unwrap()), [asked, CODED, REVIEWED], "no attempt was used");
}

#[tokio::test]
async fn submission_is_checked_and_review_rounds_are_limited() {
    let (server, project) = standing_board(1).await;
    let task = add(&server, &project, "Cut corners").await;
    let attention = needs_the_person(&server, &project, &task).await;
    assert_eq!(attention.kind, AttentionKind::ReviewLimit);
    assert!(attention.detail.contains("rejected it 2 times"), "{}", attention.detail);
    let view = server.task(&task).await.unwrap();
    assert_eq!((view.task.card.status, view.task.review_rounds), (Status::InProgress, 2));
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(ends(&runs), [CODED, REVIEWED, CODED, REVIEWED]);

    let first = server.output(&runs[0].id).await.unwrap().lines;
    let refused = first.iter().find(|line| line.kind == OutputKind::ToolError).unwrap();
    assert!(format!("{refused:?}").contains("1 uncommitted files: draft.txt"), "{refused:?}");
    assert!(first.iter().any(|line| line.text == "Refused: draft.txt."), "the agent was told which file");
}

/// The coder only rewords its commit, the reviewer finds the same, and no third coder starts.
#[tokio::test]
async fn work_without_progress_needs_the_person_with_both_versions() {
    let (server, project) = standing_board(1).await;
    let task = add(&server, &project, "Repeat itself").await;
    let attention = needs_the_person(&server, &project, &task).await;
    assert_eq!(attention.kind, AttentionKind::NoProgress);
    assert!(attention.detail.contains("were sent back 2 times with the same findings"), "{}", attention.detail);
    assert_eq!(ends(&server.runs(&task).await.unwrap()), [CODED, REVIEWED, CODED, REVIEWED]);

    let rounds: List<ReviewRound> = server.get(&format!("/api/tasks/{task}/rounds")).await.unwrap();
    let [first, second] = rounds.items.as_slice() else { panic!("{rounds:?}") };
    assert!(first.sha != second.sha && first.patch_id == second.patch_id, "{rounds:?}");
    assert_eq!((first.findings.as_str(), &first.findings), ("same.txt:1: still a draft.", &second.findings));
    for round in &rounds.items {
        let diff: Diff = server.get(&format!("/api/tasks/{task}/rounds/diff?number={}", round.number)).await.unwrap();
        assert_eq!((diff.files[0].path.as_str(), &diff.head), ("same.txt", &round.sha));
    }
    let kept = || git(&server.repository(), &["for-each-ref", "--format=%(objectname)", "refs/vibe-relay/round"]).unwrap();
    assert_eq!(kept().trim(), first.sha, "the commit that the coder replaced");
    let _: TaskView = server.patch(&format!("/api/tasks/{task}"), &json!({"status": "done"})).await.unwrap();
    done(&server, &project, &task).await;
    tests::wait_for("the round is forgotten", || kept().is_empty()).await;
}
