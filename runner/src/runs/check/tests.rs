//! Checks with real processes: what runs on a merge and on submitted work, what is reused, and what a killed server finds again.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use db::Caller;
use domain::board::attention::AttentionKind;
use domain::board::comment::AuthorRole;
use domain::board::status::Status;
use domain::runs::profile::Profile;
use domain::runs::sandbox::SandboxTier;

use super::submission::check_submission;
use super::*;
use crate::fixture::checked::Checked;
use crate::runs::merge::merge;

const PROJECT_BRANCH: &str = "vibe-relay/PROJ-001";

/// [`crate::process::start_shim`] starts this program with the arguments `shim RUN_DIR`, which the test harness takes for names of tests.
#[test]
fn run_as_shim() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, command, run_dir] = arguments.as_slice()
        && command == "shim"
    {
        let code = crate::shim::main(Path::new(run_dir));
        std::process::exit(if code == ExitCode::SUCCESS { 0 } else { 1 });
    }
}

#[tokio::test]
async fn merge_is_recorded_after_its_checks_passed_on_the_merged_files() {
    let checked = Checked::new(&[], &["test -f a", "grep -q project README.md || test -f README.md"]).await;
    let task = checked.approved(&[("a", "a")]).await;
    checked.merge(&task).await;
    let done = checked.board.read(&task).await;
    assert_eq!(done.card.status, Status::Done);
    let [checks] = done.card.checks.as_slice() else { panic!("{:?}", done.card.checks) };
    assert_eq!((checks.stage, checks.state), (CheckStage::Full, CheckState::Passed));
    let head = checked.board.tip(PROJECT_BRANCH).unwrap();
    assert_eq!(checks.tree, checked.board.repository().tree_of(&head).unwrap());
    assert_eq!(checked.results(&task).await.len(), 2);
}

#[tokio::test]
async fn red_check_on_a_merge_runs_once_more_and_then_returns_the_work_with_its_output() {
    let checked = Checked::new(&[], &["echo run >> @/runs; echo expected 1, found 2; exit 3", "echo other >> @/others"]).await;
    let task = checked.board.task("Add a").await;
    let (_, sha) = checked.board.work(&task, &[("a", "a")]).await;
    checked.board.approve(&task).await;
    let before = checked.board.tip(PROJECT_BRANCH);
    checked.merge(&task).await;
    assert_eq!((checked.lines("runs"), checked.lines("others")), (2, 1));
    assert_eq!(checked.board.tip(PROJECT_BRANCH), before, "the branch did not move");
    let back = checked.board.read(&task).await;
    assert_eq!((back.card.status, back.card.approved_sha, back.review_rounds), (Status::InProgress, None, 1));
    assert_eq!(back.card.checks[0].state, CheckState::Failed);
    let comment = checked.board.db.comments(&task).await.unwrap().pop().unwrap();
    assert_eq!(comment.author_role, AuthorRole::Runner);
    let shown = comment.content.replace(&sha, "SHA").replace(&checked.beside("").display().to_string(), "@/");
    let shown: String = shown.lines().map(|line| line.split(" after ").next().unwrap_or(line)).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(shown, @r"
    SHA was approved, but when merged into vibe-relay/PROJ-001 it fails these checks:

    `echo run >> @/runs; echo expected 1, found 2; exit 3` failed twice

        expected 1, found 2
        (exit code 3)

    Merge vibe-relay/PROJ-001 into this branch, fix what they show, run them yourself, commit, and move the task to review again.
    ");
}

#[tokio::test]
async fn flaky_check_on_a_merge_is_believed_when_it_passes() {
    let checked = Checked::new(&[], &["echo run >> @/runs; test $(wc -l < @/runs) -gt 1"]).await;
    let task = checked.approved(&[("a", "a")]).await;
    checked.merge(&task).await;
    assert_eq!((checked.status(&task).await, checked.lines("runs")), (Status::Done, 2));
    assert!(checked.results(&task).await[0].ends_with(": passed at the second attempt"));
}

#[tokio::test]
async fn same_tree_is_not_checked_again_and_ignored_files_stay_warm() {
    let build = "echo run >> @/runs; mkdir -p target; if [ -e target/built ]; then echo warm >> @/warm; fi; touch target/built";
    let checked = Checked::new(&[build], &[build]).await;
    let task = checked.board.task("Add a").await;
    checked.board.work(&task, &[(".gitignore", "target/\n"), ("a", "a")]).await;
    check_submission(&checked.context, &task).await.unwrap();
    assert_eq!((checked.lines("runs"), checked.status(&task).await), (1, Status::InReview));
    check_submission(&checked.context, &task).await.unwrap();
    checked.board.approve(&task).await;
    checked.merge(&task).await;
    assert_eq!((checked.lines("runs"), checked.status(&task).await), (1, Status::Done), "the merge has the files that were checked");
    for warm in [0, 1] {
        let next = checked.approved(&[(&format!("b{warm}"), "b")]).await;
        checked.merge(&next).await;
        assert_eq!((checked.status(&next).await, checked.lines("warm")), (Status::Done, warm));
    }
}

#[tokio::test]
async fn red_quick_check_returns_the_work_before_a_review() {
    let checked = Checked::new(&["grep -q right a || { echo wrong in a; exit 1; }"], &[]).await;
    let task = checked.board.task("Add a").await;
    let (_, sha) = checked.board.work(&task, &[("a", "wrong")]).await;
    check_submission(&checked.context, &task).await.unwrap();
    let back = checked.board.read(&task).await;
    assert_eq!((back.card.status, back.review_rounds, back.card.checks[0].state), (Status::InProgress, 1, CheckState::Failed));
    let content = checked.board.db.comments(&task).await.unwrap().pop().unwrap().content;
    assert!(
        content.starts_with(&format!("{sha} failed these checks, so no reviewer has seen it:")) && content.contains("    wrong in a\n"),
        "{content}"
    );
    checked.board.work(&task, &[("a", "right")]).await;
    check_submission(&checked.context, &task).await.unwrap();
    let card = checked.board.read(&task).await.card;
    assert_eq!((card.status, card.checks.len(), card.checks[0].state), (Status::InReview, 1, CheckState::Passed));
}

/// The server was killed while a check ran: the next one finds it and starts no second one.
#[tokio::test]
async fn running_check_is_found_again() {
    let checked = Checked::new(&[], &["echo run >> @/runs; while [ ! -e @/go ]; do sleep 0.05; done"]).await;
    let task = checked.approved(&[("a", "a")]).await;
    let (context, id) = (checked.context.clone(), task.clone());
    let server = tokio::spawn(async move { merge(&context, &id).await });
    checked.until("the check", || checked.lines("runs") == 1).await;
    server.abort();
    let _ = server.await;
    fs::write(checked.beside("go"), "").unwrap();
    checked.merge(&task).await;
    assert_eq!((checked.status(&task).await, checked.lines("runs")), (Status::Done, 1));
}

#[tokio::test]
async fn check_ends_when_its_task_is_taken_back() {
    let checked = Checked::new(&[], &["echo run >> @/runs; sleep 600"]).await;
    let task = checked.approved(&[("a", "a")]).await;
    let before = checked.board.tip(PROJECT_BRANCH);
    let (context, id) = (checked.context.clone(), task.clone());
    let server = tokio::spawn(async move { merge(&context, &id).await });
    checked.until("the check", || checked.lines("runs") == 1).await;
    checked.board.move_to(&Caller::owner(), &task, Status::InProgress, Some("not yet")).await;
    server.await.unwrap().unwrap();
    assert_eq!((checked.status(&task).await, checked.board.tip(PROJECT_BRANCH)), (Status::InProgress, before));
    assert_eq!(checked.results(&task).await, [""; 0], "it showed nothing");
}

#[tokio::test]
async fn checks_that_cannot_run_ask_the_person_and_go_on_after_the_repair() {
    let checked = Checked::new(&[], &[]).await;
    let broken = Profile { setup: vec!["echo no such package; exit 7".to_owned()], ..Profile::default() };
    checked.set(broken, &[], &["echo run >> @/runs"]).await;
    let task = checked.approved(&[("a", "a")]).await;
    checked.merge(&task).await;
    let card = checked.board.read(&task).await.card;
    let attention = card.attention.clone().unwrap();
    assert_eq!((attention.kind, card.is_approved(), card.checks[0].state), (AttentionKind::Checks, true, CheckState::NotRun));
    assert!(attention.detail.starts_with("Its checks could not run: `echo no such package; exit 7` ended with exit code 7."), "{}", attention.detail);
    assert_eq!((checked.lines("runs"), card.runs), (0, 1), "no attempt was used");
    checked.set(Profile { setup: vec!["echo set up".to_owned()], ..Profile::default() }, &[], &["echo run >> @/runs"]).await;
    checked.board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    checked.merge(&task).await;
    assert_eq!((checked.status(&task).await, checked.lines("runs")), (Status::Done, 1));
}

#[tokio::test]
async fn setup_runs_once_until_a_lock_file_changes() {
    let checked = Checked::new(&[], &[]).await;
    checked
        .set(
            Profile { setup: vec!["echo run >> @/setups".replace("@/", &checked.beside("").display().to_string())], ..Profile::default() },
            &[],
            &["true", "test 1"],
        )
        .await;
    for (setups, file) in [(1, "a"), (1, "b"), (2, "package-lock.json")] {
        let task = checked.approved(&[(file, "x")]).await;
        checked.merge(&task).await;
        assert_eq!((checked.status(&task).await, checked.lines("setups")), (Status::Done, setups), "{file}");
    }
}

#[tokio::test]
async fn checks_run_in_the_jail_of_agents() {
    let checked =
        Checked::inside(SandboxTier::Jail, &[], &["test -f a; if cat @/store/board.db; then exit 1; fi; touch @/planted; echo $IS_SANDBOX"]).await;
    let task = checked.approved(&[("a", "a")]).await;
    checked.merge(&task).await;
    let stages = checked.board.db.task_checks(&task).await.unwrap();
    let [result] = stages[0].results.as_slice() else { panic!("{stages:?}") };
    assert_eq!(result.outcome, CheckOutcome::Passed, "{}", result.tail);
    assert!(result.tail.contains("No such file") && result.tail.ends_with("\n1\n"), "{}", result.tail);
    assert!(!checked.beside("planted").exists() && checked.beside("store/board.db").exists());
}

#[test]
fn long_outputs_are_cut_at_their_beginning() {
    let result = |tail: String| CheckResult {
        id: 1,
        command: "test".to_owned(),
        outcome: CheckOutcome::Failed,
        attempts: 1,
        duration_ms: 1000,
        tail,
        ended_at: domain::time::Timestamp::from_milliseconds(0),
    };
    let sent =
        text(&Prompts::default(), "abc", None, &[result("#".repeat(10_000)), result(format!("{}end", "%".repeat(5_000))), result("@".to_owned())]);
    assert_eq!((sent.matches('#').count(), sent.matches('%').count()), (10_000, 1_997));
    assert!(sent.contains("end") && !sent.contains('@') && sent.matches("`test` failed after 1 s").count() == 3);
}
