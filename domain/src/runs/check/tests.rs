//! Which checks are still to run, and what a result says.

use super::*;

fn result(command: &str, outcome: CheckOutcome, attempts: u32) -> CheckResult {
    let ended_at = Timestamp::from_milliseconds(0);
    CheckResult { id: 1, command: command.to_owned(), outcome, attempts, duration_ms: 12_300, tail: String::new(), ended_at }
}

fn known(state: CheckState, sha: &str, profile_version: u32) -> TaskChecks {
    TaskChecks { stage: CheckStage::Quick, state, sha: sha.to_owned(), tree: "tree".to_owned(), profile_version }
}

#[test]
fn commands_with_a_result_do_not_run_again() {
    let wanted = ["lint", "test"].map(str::to_owned);
    let results = [result("test", CheckOutcome::Failed, 2), result("other", CheckOutcome::Failed, 1)];
    assert_eq!(missing(&wanted, &results), ["lint"]);
    assert_eq!(missing(&wanted, &[]), ["lint", "test"]);
    assert_eq!(failed(&wanted, &results).iter().map(|result| result.command.as_str()).collect::<Vec<_>>(), ["test"]);
}

#[test]
fn submitted_work_waits_until_this_commit_passed_these_checks() {
    let checks = Checks { quick: CheckList { commands: vec!["lint".to_owned()], ..CheckList::default() }, ..Checks::default() };
    let sha = "head".to_owned();
    let waits = |state, at: &str, version| await_quick(&[known(state, at, version)], Some(&sha), &checks, 3);
    assert!(!waits(CheckState::Passed, "head", 3));
    assert!(waits(CheckState::Passed, "older", 3), "a new commit is checked itself");
    assert!(waits(CheckState::Passed, "head", 2), "the profile changed");
    assert!(waits(CheckState::Failed, "head", 3) && waits(CheckState::Running, "head", 3) && waits(CheckState::NotRun, "head", 3));
    assert!(await_quick(&[], Some(&sha), &checks, 3));
    assert!(!await_quick(&[], None, &checks, 3), "nothing was submitted");
    assert!(!await_quick(&[], Some(&sha), &Checks::default(), 3), "the project has no quick checks");
}

#[test]
fn result_says_how_often_and_how_long_it_ran() {
    assert_eq!(result("test", CheckOutcome::Passed, 1).sentence(), "passed after 12 s");
    assert_eq!(result("test", CheckOutcome::Passed, 2).sentence(), "passed at the second attempt after 12 s");
    assert_eq!(result("test", CheckOutcome::Failed, 2).sentence(), "failed twice after 12 s");
    assert_eq!(duration(400), "less than 1 s");
    assert_eq!(duration(125_000), "2 min 5 s");
}
