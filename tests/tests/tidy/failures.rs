//! The page of everything that goes wrong with a task, with the test that provokes each row. It must not hold what a row says.

use domain::runs::failure::FailureClass::*;
use domain::runs::failure::table::Obstacle::{ChecksFailed, ChecksNotRun, Conflict, NoProgress, RepositoryChanged, ReviewLimit};
use domain::runs::failure::table::failure_table;

use crate::generated::check;
use crate::source::{none, read};

const OUTCOME: &str = "runner/src/backend/outcome/tests.rs";
const PREPARE: &str = "runner/src/runs/run/prepare.rs";
const RESOURCE: &str = "runner/src/resource.rs";
const WATCH: &str = "runner/src/watch/state/tests.rs";
const CHECKS: &str = "tests/tests/e2e/checks.rs";
const CHECK_TESTS: &str = "runner/src/runs/check/tests.rs";
const FAILURES: &str = "tests/tests/e2e/failures.rs";
const LANDING: &str = "tests/tests/e2e/landing.rs";
const LIMITS: &str = "tests/tests/e2e/limits.rs";
const PARKING: &str = "tests/tests/e2e/parking.rs";
const PROFILE: &str = "tests/tests/e2e/profile.rs";
const UNAPPROVED: &str = "tests/tests/e2e/unapproved_commits.rs";

/// The file and the name of the test that provokes each row.
const PROVOKED: [(&str, &str, &str); 32] = [
    (Crashed.as_str(), OUTCOME, "ends_without_a_turn_are_read_from_stderr"),
    (Killed.as_str(), FAILURES, "killed_agents_use_up_attempts_and_retry_resets_them"),
    (Lost.as_str(), LIMITS, "spending_of_a_killed_agent_is_on_the_card"),
    (ApiError.as_str(), OUTCOME, "failed_turns_are_told_apart"),
    (TimedOut.as_str(), LIMITS, "slow_agent_is_told_to_hand_over_at_its_limit_of_time"),
    (MaxTurns.as_str(), LIMITS, "endless_agent_is_ended_at_its_limit_of_requests"),
    (Budget.as_str(), LIMITS, "budget_of_tokens_stops_the_project_until_it_is_raised"),
    (ContextFull.as_str(), LIMITS, "full_conversation_is_followed_by_a_new_session"),
    (NoOutcome.as_str(), FAILURES, "agent_without_outcome_is_reminded_once"),
    (Unresponsive.as_str(), WATCH, "silent_agent_is_terminated_once"),
    (CommitHook.as_str(), FAILURES, "card_says_that_a_hook_refused_the_commit"),
    (CommitSigning.as_str(), FAILURES, "card_says_that_a_commit_could_not_be_signed"),
    (Protocol.as_str(), OUTCOME, "program_that_exits_in_order_without_a_result_broke_its_protocol"),
    (Checkout.as_str(), PREPARE, "checkout_that_cannot_be_created_fails_its_task_alone"),
    (Setup.as_str(), PROFILE, "agents_build_in_prepared_worktrees_and_a_failed_setup_asks_the_person"),
    (Spawn.as_str(), OUTCOME, "own_failures_are_read_from_the_exit_record"),
    (RateLimited.as_str(), PARKING, "rate_limit_parks_all_agents_until_reset"),
    (SignedOut.as_str(), PARKING, "signed_out_claude_starts_no_agent"),
    (NoCredit.as_str(), OUTCOME, "failed_turns_are_told_apart"),
    (ProgramMissing.as_str(), PARKING, "missing_program_parks_until_installed"),
    (RootRefused.as_str(), PARKING, "root_without_sandbox_starts_no_agent"),
    (Sandbox.as_str(), OUTCOME, "ends_without_a_turn_are_read_from_stderr"),
    (McpNotConnected.as_str(), PARKING, "agent_without_board_is_ended_without_using_an_attempt"),
    (ServiceUnreachable.as_str(), PARKING, "outage_parks_all_agents_and_one_probes_recovery"),
    (DiskFull.as_str(), OUTCOME, "ends_without_a_turn_are_read_from_stderr"),
    (SystemLimit.as_str(), RESOURCE, "limits_of_the_system_are_told_from_other_failures"),
    (NoProgress.as_str(), FAILURES, "work_without_progress_needs_the_person_with_both_versions"),
    (ReviewLimit.as_str(), FAILURES, "submission_is_checked_and_review_rounds_are_limited"),
    (Conflict.as_str(), LANDING, "merge_conflict_returns_to_its_coder"),
    (RepositoryChanged.as_str(), UNAPPROVED, "unapproved_commits_block_merges"),
    (ChecksFailed.as_str(), CHECKS, "red_checks_return_work_and_a_flaky_one_on_a_merge_runs_again"),
    (ChecksNotRun.as_str(), CHECK_TESTS, "checks_that_cannot_run_ask_the_person_and_go_on_after_the_repair"),
];

#[test]
fn the_page_of_failures_is_fresh_and_a_test_provokes_each() {
    let missing = PROVOKED.iter().filter(|(_, file, test)| !read(file).contains(&format!("fn {test}()")));
    none("these tests do not exist", missing.map(|(_, file, test)| format!("{file}: {test}")).collect());
    let table = failure_table();
    let codes: Vec<&str> = table.iter().map(|row| row.code).collect();
    assert_eq!(codes, PROVOKED.map(|(code, _, _)| code));
    let mut page = "# What goes wrong, and what happens then\n\nFrom `domain/src/runs/failure.rs` and `domain/src/runs/failure/table.rs`: failed \
        runs, then obstacles that keep a task from finishing although no run failed. Failing tests have no row, because the reviewer runs them and \
        sends the task back.\n\n| code | the card says | the runner | you | provoked by |\n|---|---|---|---|---|\n"
        .to_owned();
    for (row, (_, file, test)) in table.iter().zip(PROVOKED) {
        page += &format!("| `{}` | {} | {} | {} | `{test}` in `{file}` |\n", row.code, row.card, row.runner, row.human);
    }
    check("docs/failures.md", &page);
}
