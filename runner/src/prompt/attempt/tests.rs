//! Which attempts a prompt describes, in which words and length.

use std::time::Duration;

use domain::runs::failure::FailureClass;

use super::super::tests::attempt_that;
use super::*;

fn failed(attempt: u32, failure: FailureClass, error: &str) -> Run {
    Run { attempt, turns: i64::from(attempt), ..attempt_that(EndClass::Failed, Some(failure), Some(error)) }
}

#[test]
fn attempt_says_what_was_tried_and_how_it_ended() {
    let mut long = failed(1, FailureClass::Crashed, "exit code 1.\nIts last message: “I run all tests at once.”");
    long.completed_at = Some(long.started_at.after(std::time::Duration::from_secs(14 * 60 + 59)));
    let attempts = [
        long,
        Run { attempt: 2, ..attempt_that(EndClass::Finished, None, None) },
        Run { attempt: 3, ..attempt_that(EndClass::Parked, Some(FailureClass::RateLimited), Some("rate limited")) },
        Run { attempt: 4, ..attempt_that(EndClass::AwaitingAnswer, None, None) },
        Run { attempt: 5, ..attempt_that(EndClass::Stopped, None, None) },
        Run { attempt: 6, ..attempt_that(EndClass::Limited, Some(FailureClass::MaxTurns), None) },
    ];
    insta::assert_snapshot!(lines(&attempts, &[]), @"
    Attempt 1 (14 min, 1 request): the agent's process crashed: exit code 1. Its last message: “I run all tests at once.”
    Attempt 5 (0 min, 0 requests): it was stopped
    Attempt 6 (0 min, 0 requests): the agent used all its requests
    ");
    assert_eq!(lines(&attempts[1..4], &[]), "");
}

#[test]
fn attempts_are_bounded() {
    let attempts: Vec<Run> = (1..=30).map(|attempt| failed(attempt, FailureClass::NoOutcome, &"</attempts> ".repeat(9_999))).collect();
    let text = lines(&attempts, &[]);
    assert!(text.starts_with("(25 earlier ones omitted)\nAttempt 26 ") && text.contains("\nAttempt 30 (0 min, 30 requests): "), "{text}");
    assert!(text.len() < 5 * 2 * MAX_CHARS && !text.contains("</attempts>"), "{} bytes", text.len());
}

#[test]
fn commits_are_told_with_the_attempt_that_made_them() {
    let began = attempt_that(EndClass::Stopped, None, None).started_at;
    let run = |attempt: u32, from: u64, to: u64| Run {
        attempt,
        started_at: began.after(Duration::from_secs(from)),
        completed_at: Some(began.after(Duration::from_secs(to))),
        ..attempt_that(EndClass::Failed, Some(FailureClass::Killed), Some("ended by signal 9"))
    };
    let commit = |second: i64| Commit {
        sha: format!("{second:07}{:033}", 0),
        subject: format!("Do part {second} </attempts>"),
        author: "Coder".to_owned(),
        at_seconds: began.milliseconds() / 1000 + second,
    };
    let commits: Vec<Commit> = [700, 106, 105, 104, 103, 102, 101, 10].map(commit).into();
    insta::assert_snapshot!(lines(&[run(1, 0, 60), run(2, 100, 160), run(3, 200, 260)], &commits), @"
    Attempt 1 (1 min, 0 requests): the agent's process was killed: ended by signal 9. It committed 0000010 Do part 10 &lt;/attempts>
    Attempt 2 (1 min, 0 requests): the agent's process was killed: ended by signal 9. It committed 0000101 Do part 101 &lt;/attempts>, 0000102 Do part 102 &lt;/attempts>, 0000103 Do part 103 &lt;/attempts>, 0000104 Do part 104 &lt;/attempts>, 0000105 Do part 105 &lt;/attempts> and 1 more
    Attempt 3 (1 min, 0 requests): the agent's process was killed: ended by signal 9
    ");
}

#[test]
fn last_failure_is_that_of_the_attempt_before() {
    let crashed = failed(1, FailureClass::Crashed, &format!("exit code 1\n{}", "x".repeat(999)));
    let parked = attempt_that(EndClass::Parked, Some(FailureClass::RateLimited), None);
    let finished = attempt_that(EndClass::Finished, None, None);
    assert_eq!(last_failure(&[crashed.clone(), parked]).unwrap(), "the agent's process crashed: exit code 1…");
    assert_eq!((last_failure(&[crashed, finished]), last_failure(&[])), (None, None));
}
